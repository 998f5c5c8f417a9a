// Each page in a real browser, from a disk and offline.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessFaults, openBrowser, openTab } from './browser.mjs';

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

const PAGES = [
  ['#/model', 'Model', 'Parameters by part'],
  ['#/hardware?chips=h100,v5p', 'Hardware', 'critical m'],
  ['#/sharding', 'Sharding', 'AllGather_y C'],
  ['#/training?on=h100:4x8&model=llama-3-8b&batch=1M', 'Training', 'The step as a timeline'],
  ['#/serving?model=llama-3-8b&on=h100:1x8', 'Serving', 'The front: choose one'],
  ['#/profile', 'Profile', 'nothing is uploaded'],
  ['#/explain', 'Explain', 'sum of its parts'],
];

const PHONE = { width: 360, height: 740 };

for (const [hash, title, shown] of PAGES) {
  test(`${hash} shows its answer, is accessible in light, dark and on a phone`, async () => {
    const tab = await openTab(browser, hash, { colorScheme: 'light' });
    await tab.getByRole('heading', { level: 1, name: title }).waitFor();
    await tab.getByText(shown).first().waitFor();
    assert.deepEqual(await accessFaults(tab), [], 'light');
    await tab.getByRole('button', { name: 'Dark' }).click();
    await tab.getByRole('button', { name: 'Light' }).waitFor();
    assert.deepEqual(await accessFaults(tab), [], 'dark');
    await tab.setViewportSize(PHONE);
    const overflow = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} pixels too wide`);
    assert.deepEqual(await accessFaults(tab), [], 'phone');
    assert.deepEqual(tab.complaints, []);
    assert.deepEqual(tab.asked, []);
    await tab.context().close();
  });
}

test('what is opened in the dark is dark', async () => {
  const tab = await openTab(browser, '#/model', { colorScheme: 'dark' });
  await tab.getByRole('button', { name: 'Light' }).waitFor();
  await tab.context().close();
});
