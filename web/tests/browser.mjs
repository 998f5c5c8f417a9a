// A real browser on the built page, for the tests: opens it, collects what goes wrong.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import axe from 'axe-core';

export const PAGE = resolve(process.env.RIDGE_WEB_PAGE ?? '../build/web/index.html');
const BROWSERS = [process.env.RIDGE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export async function openBrowser() {
  const executablePath = BROWSERS.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error('no Chromium: scripts/install-deps --for web');
  return chromium.launch({ executablePath, args: ['--disable-dev-shm-usage'] });
}

/** A tab on the page, offline, whose complaints and requests are collected. */
export async function openTab(browser, hash, options = {}) {
  const context = await browser.newContext({ offline: true, viewport: { width: 1280, height: 900 }, ...options });
  const tab = await context.newPage();
  tab.complaints = [];
  tab.asked = [];
  tab.on('pageerror', (fault) => tab.complaints.push(String(fault)));
  tab.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) tab.complaints.push(message.text());
  });
  tab.on('request', (request) => {
    if (/^https?:/.test(request.url())) tab.asked.push(request.url());
  });
  await tab.goto(`${pathToFileURL(PAGE).href}${hash}`);
  return tab;
}

/** What axe finds against WCAG 2.2 A and AA, a line each. */
export async function accessFaults(tab) {
  await tab.evaluate(axe.source);
  const found = await tab.evaluate(() =>
    globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  return found.violations.map((fault) => `${fault.id}: ${fault.help}: ${fault.nodes.slice(0, 3).map((node) => node.target.join(' ')).join(', ')}`);
}
