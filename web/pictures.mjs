// The README's pictures of the page, from the real program: node pictures.mjs FOLDER
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openBrowser, openTab } from './tests/browser.mjs';

const FOLDER = resolve(process.argv[2] ?? '../docs/pictures');
const WIDTH = 1100;

/** name, address, what must be there, height, colours */
const PICTURES = [
  ['training', '#/training?model=llama-3-70b&on=h100:16x8&batch=4M&seq=4096&tokens=15T', 'The step as a timeline', 1180, 'light'],
  ['serving', '#/serving?model=llama-3-70b&on=h100:1x8&prompt=1024&output=256', 'The front: choose one', 1130, 'dark'],
  ['sharding', '#/sharding', 'Strategies, best first', 1060, 'light'],
];

const browser = await openBrowser();
try {
  for (const [name, hash, shown, height, colorScheme] of PICTURES) {
    const tab = await openTab(browser, hash, { viewport: { width: WIDTH, height }, colorScheme });
    await tab.getByText(shown).first().waitFor({ timeout: 120000 });
    await tab.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    const path = resolve(FOLDER, `${name}.png`);
    await tab.screenshot({ path });
    console.log(`${path}: ${statSync(path).size} bytes`);
    await tab.context().close();
  }
} finally {
  await browser.close();
}
