// Every slider answers, and says how long that took: printed, since this machine may be
// busy; `node bench.mjs` measures.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openBrowser, openTab } from './browser.mjs';
import { slideTimes } from './slide.mjs';

const TRAINING = '#/training?model=llama-3-8b&on=h100:2x8&batch=1M&seq=2048';
const SERVING = '#/serving?model=llama-3-8b&on=h100:1x4&prompt=512&output=128';
const GOALS = `${SERVING}&rate=2&ttft=1s&tpot=50ms`;
const MOVES = 2;

/** address, sliders of it */
const PAGES = [
  [TRAINING, [/Chips/, /Batch/, /Sequence/, /network/]],
  [SERVING, [/Prompt/, /Answer/]],
  [`${SERVING}&batch=16`, [/Batch/]],
  [GOALS, [/Requests/, /first token/, /each token/]],
  ['#/hardware?chips=h100,v5p&size=1', [/^m/]],
];

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

for (const [hash, labels] of PAGES) {
  test(`the sliders of ${hash} answer`, async (context) => {
    const tab = await openTab(browser, hash);
    for (const label of labels) {
      const times = await slideTimes(tab, label, MOVES);
      context.diagnostic(`${label} answered in ${times.map((ms) => `${Math.round(ms)} ms`).join(', ')}`);
      assert.equal(times.length, MOVES);
    }
    assert.deepEqual(tab.complaints, []);
    await tab.context().close();
  });
}
