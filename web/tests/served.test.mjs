// The page as `ridge ui` serves it: the same page, over HTTP of this machine.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { openBrowser, PAGE } from './browser.mjs';

const RIDGE = process.env.RIDGE;

test('ridge ui serves the page, and Ctrl-C ends it', { skip: !RIDGE && 'RIDGE names no program' }, async () => {
  const server = spawn(RIDGE, ['ui', 'model', '--no-open', '--port', '0', '--page', PAGE, '--json']);
  const ended = once(server, 'exit');
  const browser = await openBrowser();
  try {
    const [text] = await once(server.stdout, 'data');
    const { url } = JSON.parse(String(text));
    const tab = await browser.newPage();
    const complaints = [];
    tab.on('pageerror', (fault) => complaints.push(String(fault)));
    tab.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await tab.goto(url);
    await tab.getByText('70,553,706,496').waitFor();
    assert.deepEqual(complaints, []);
  } finally {
    await browser.close();
    server.kill('SIGINT');
  }
  assert.equal((await ended)[0], 0);
});
