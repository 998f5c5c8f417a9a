// The README's pictures, of the page and of a terminal, from the real program:
// RIDGE=build/release/ridge node pictures.mjs FOLDER
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { openBrowser, openTab } from './tests/browser.mjs';
import { printed, terminalPage } from './terminal_picture.mjs';

const FOLDER = resolve(process.argv[2] ?? '../docs/pictures');
const WIDTH = 1100;

/** name, address, what must be there, height, colours */
const PICTURES = [
  ['training', '#/training?model=llama-3-70b&on=h100:16x8&batch=4M&seq=4096&tokens=15T', 'The step as a timeline', 1180, 'light'],
  ['serving', '#/serving?model=llama-3-70b&on=h100:1x8&prompt=1024&output=256', 'The front: choose one', 1580, 'dark'],
  ['sharding', '#/sharding', 'Strategies, best first', 1060, 'light'],
];

const RIDGE = resolve(process.env.RIDGE ?? '../build/release/ridge');
const COLUMNS = 84;

/** name, words of the line, what its shown part begins with */
const TERMINALS = [['terminal', ['roofline', '8192x8192x28672', '--on', 'h100', '--sweep', 'm=1..8192'], 'Sweep']];

async function takeTerminal(browser, [name, words, from]) {
  const text = printed(RIDGE, words, COLUMNS);
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.includes(from));
  const tab = await browser.newPage({ viewport: { width: 1000, height: 800 }, deviceScaleFactor: 1.5 });
  await tab.setContent(terminalPage(`ridge ${words.join(' ')}`, lines.slice(Math.max(start, 0)).join('\n')));
  const path = resolve(FOLDER, `${name}.png`);
  await tab.locator('main').screenshot({ path });
  console.log(`${path}: ${statSync(path).size} bytes`);
  await tab.close();
}

const browser = await openBrowser();
try {
  for (const [name, hash, shown, height, colorScheme] of PICTURES) {
    const tab = await openTab(browser, hash, { viewport: { width: WIDTH, height }, colorScheme });
    await tab.getByText(shown).first().waitFor({ timeout: 120000 });
    await tab.locator('[aria-busy=true]').first().waitFor({ state: 'detached' });
    /* charts are drawn once their width is known */
    await tab.waitForFunction(() => [...document.querySelectorAll('figure.chart')].every((one) => one.querySelector('svg')));
    const path = resolve(FOLDER, `${name}.png`);
    await tab.screenshot({ path });
    console.log(`${path}: ${statSync(path).size} bytes`);
    await tab.context().close();
  }
  for (const terminal of TERMINALS) await takeTerminal(browser, terminal);
} finally {
  await browser.close();
}
