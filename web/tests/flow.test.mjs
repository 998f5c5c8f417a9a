// What people do on the pages, in a real browser: fields, sliders, files, addresses.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { accessFaults, openBrowser, openTab } from './browser.mjs';

const EXAMPLES = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../../examples');
const TRAINING = '#/training?model=llama-3-8b&on=h100:4x8&batch=1M';

let browser;
before(async () => {
  browser = await openBrowser();
});
after(() => browser?.close());

/** One flow in a tab of its own, which must end without complaints. */
function flow(name, hash, steps) {
  test(name, async () => {
    const tab = await openTab(browser, hash);
    await steps(tab);
    assert.deepEqual(tab.complaints, []);
    assert.deepEqual(tab.asked, []);
    await tab.context().close();
  });
}

function file(name, text) {
  return { name, mimeType: 'application/json', buffer: Buffer.from(text) };
}

async function isDone(tab) {
  await tab.locator('[role=status][data-state=done]', { hasText: 'covered' }).waitFor();
}

flow('a model is chosen by its name, which the address keeps', '#/model', async (tab) => {
  await tab.getByLabel('Model', { exact: true }).fill('mixtral-8x7b');
  await tab.keyboard.press('Enter');
  await tab.getByText('46,702,792,704').waitFor();
  assert.match(tab.url(), /model=mixtral-8x7b/);
  await tab.goBack();
  await tab.getByText('70,553,706,496').waitFor();
});

flow('a config.json travels in the address', '#/model', async (tab) => {
  await tab.getByLabel(/drop a config/).setInputFiles(resolve(EXAMPLES, 'qwen3-32b/config.json'));
  await tab.getByText('ridge model config.json').waitFor();
  await tab.getByText('32,762,123,264').waitFor();
  const address = tab.url();
  const second = await tab.context().newPage();
  await second.goto(address);
  await second.getByText('32,762,123,264').waitFor();
});

for (const [name, text] of [['no JSON', '{ "hidden_size": '], ['no model', '{"a": 1}'], ['bytes', '\u0000\u0001\ufffd']]) {
  flow(`a bad config is answered in words: ${name}`, '#/model', async (tab) => {
    await tab.getByLabel(/drop a config/).setInputFiles(file('config.json', text));
    await tab.getByRole('alert').filter({ hasText: 'config.json' }).waitFor();
    await tab.getByLabel('Model', { exact: true }).fill('llama-3-8b');
    await tab.keyboard.press('Enter');
    await tab.getByText('8,030,261,248').waitFor();
  });
}

flow('a number of a model opens its derivation', '#/model?model=llama-3-8b', async (tab) => {
  await tab.getByTitle('How flops_mlp comes about').click();
  await tab.getByRole('dialog').getByText('2 x 4,096 x 14,336 x 32 layers').first().waitFor();
  assert.match(tab.url(), /explain=flops_mlp/);
  await tab.goBack();
  await tab.getByRole('dialog').waitFor({ state: 'detached' });
  await tab.goForward();
  await tab.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await tab.getByRole('dialog').waitFor({ state: 'detached' });
});

flow('a model is explained by its name', '#/explain', async (tab) => {
  await tab.getByLabel('of a model, by its name').fill('qwen3-32b');
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { name: 'parameters of qwen3-32b' }).waitFor();
  await tab.getByLabel('Quantity').selectOption('kv');
  await tab.getByText('8 x (128 + 128) x 2 x 64 layers').waitFor();
});

flow('a chart is read as a table, by the keyboard', '#/hardware?chips=h100&size=64', async (tab) => {
  const summary = tab.getByText('The chart as a table');
  await summary.focus();
  await tab.keyboard.press('Enter');
  await tab.getByRole('region', { name: /Roofline of h100.*as a table/ }).getByRole('row').nth(5).waitFor();
  assert.deepEqual(await accessFaults(tab), []);
});

flow('an unknown model is answered with the nearest', '#/model?model=llama-3-7b', async (tab) => {
  await tab.getByRole('alert').filter({ hasText: 'did you mean' }).waitFor();
});

flow('chips are compared by choosing them', '#/hardware?chips=h100', async (tab) => {
  await tab.getByRole('checkbox', { name: 'b200', exact: true }).check();
  await tab.getByRole('columnheader', { name: /B200/ }).waitFor();
  assert.match(tab.url(), /chips=h100,b200/);
});

flow('the slider of the roofline moves the point', '#/hardware?chips=h100&size=64', async (tab) => {
  const slider = tab.getByRole('slider');
  await slider.focus();
  await slider.press('ArrowRight');
  await tab.getByText('With m = 128').waitFor();
  assert.match(tab.url(), /size=128/);
});

flow('an einsum is typed and its strategies are priced', '#/sharding', async (tab) => {
  await tab.getByLabel('Expression').fill('A[I,J@x] * B[J@x,K] -> C[I,K]');
  await tab.keyboard.press('Enter');
  await tab.getByText('AllReduce_x C').first().waitFor();
  await tab.getByRole('img', { name: /A\[I, J@x\]: cut in 1 by 4/ }).first().waitFor();
});

flow('a wrong einsum says where', '#/sharding', async (tab) => {
  await tab.getByLabel('Expression').fill('A[I@x,J@x] * B[J,K]');
  await tab.keyboard.press('Enter');
  await tab.getByRole('alert').waitFor();
});

flow('a slider answers at once with layouts like the last, then with all', TRAINING, async (tab) => {
  await isDone(tab);
  const slider = tab.getByRole('slider', { name: /Batch/ });
  await slider.focus();
  await slider.press('ArrowRight');
  await tab.getByText('2M tokens').waitFor();
  await isDone(tab);
  assert.match(tab.url(), /batch=2M/);
  await tab.goBack();
  await tab.getByText('1M tokens').waitFor();
});

flow('a layout is chosen, and its number opens its derivation', TRAINING, async (tab) => {
  await isDone(tab);
  await tab.getByRole('radio').nth(1).check();
  await tab.getByRole('heading', { name: /^Layout 2/ }).waitFor();
  await tab.getByTitle('How step_time comes about').first().click();
  await tab.getByRole('dialog').getByText('sum of its parts').waitFor();
  assert.match(tab.url(), /explain=step_time/);
  await tab.keyboard.press('Escape');
  await tab.getByRole('dialog').waitFor({ state: 'detached' });
});

flow('a plan is downloaded, dropped again and explained', TRAINING, async (tab) => {
  await isDone(tab);
  const waiting = tab.waitForEvent('download');
  await tab.getByRole('button', { name: 'Download the plan' }).click();
  const path = await (await waiting).path();
  const plan = JSON.parse(readFileSync(path, 'utf8'));
  assert.equal(plan.format, 'ridge-plan');
  await tab.getByRole('link', { name: 'Explain' }).click();
  await tab.getByLabel(/drop a plan/).setInputFiles(file('plan.json', JSON.stringify(plan)));
  await tab.getByRole('heading', { name: 'step_time of llama-3-8b on h100:4x8' }).waitFor();
});

flow('what nothing fits is told, with what would', '#/training?model=llama-3-405b&on=h100:1x8&batch=1M', async (tab) => {
  await tab.getByRole('heading', { name: 'Nothing fits' }).waitFor();
});

flow('a bad slice is answered in words', '#/training?on=h100:0x8', async (tab) => {
  await tab.getByRole('alert').waitFor();
});

const SERVING = '#/serving?model=llama-3-8b&on=h100:1x4';

flow('a slider of the serving page answers', SERVING, async (tab) => {
  await isDone(tab);
  const slider = tab.getByRole('slider', { name: /Prompt/ });
  await slider.focus();
  await slider.press('ArrowRight');
  await tab.getByText('2048 tokens').waitFor();
  await isDone(tab);
  assert.match(tab.url(), /prompt=2048/);
});

flow('a deployment of the front is chosen', SERVING, async (tab) => {
  await isDone(tab);
  await tab.getByRole('region', { name: 'The front: choose one' }).getByRole('radio').nth(2).check();
  await tab.getByRole('heading', { name: /^Chosen deployment/ }).waitFor();
  assert.match(tab.url(), /layout=front3/);
});

flow('goals and a rate are set by sliders, and the rate takes the place of the batch', `${SERVING}&batch=16`, async (tab) => {
  await isDone(tab);
  await tab.getByRole('slider', { name: /Requests/ }).focus();
  await tab.keyboard.press('ArrowRight');
  await tab.getByRole('slider', { name: /each token/ }).focus();
  await tab.keyboard.press('End');
  await tab.getByText('within 200ms').waitFor();
  await isDone(tab);
  assert.match(tab.url(), /rate=0.5/);
  assert.match(tab.url(), /tpot=200ms/);
  assert.doesNotMatch(tab.url(), /batch=/);
});

flow('goals that nothing keeps are told', `${SERVING}&ttft=1ms&tpot=0.1ms`, async (tab) => {
  await tab.getByRole('heading', { name: 'Nothing keeps the goals' }).waitFor();
});

flow('a file of requests is played against a deployment', SERVING, async (tab) => {
  await isDone(tab);
  await tab.getByLabel(/Drop a file of requests/).setInputFiles(resolve(EXAMPLES, 'requests.csv'));
  await tab.getByText(/^1\d\d completed/).waitFor();
});

flow('a bad file of requests is answered in words', SERVING, async (tab) => {
  await isDone(tab);
  await tab.getByLabel(/Drop a file of requests/).setInputFiles(file('requests.csv', 'what,is\nthis,file'));
  await tab.getByRole('alert').filter({ hasText: 'requests.csv' }).waitFor();
});

flow('a number of a deployment opens its derivation', SERVING, async (tab) => {
  await isDone(tab);
  await tab.getByTitle('How ttft comes about').first().click();
  await tab.getByRole('dialog').getByText('fact of the engine').waitFor();
});

flow('a serving plan is explained', '#/explain', async (tab) => {
  await tab.getByLabel(/drop a plan/).setInputFiles(resolve(EXAMPLES, 'serve.json'));
  await tab.getByRole('heading', { name: /^ttft of deepseek-v3/ }).waitFor();
});

flow('a module is dropped and priced', '#/profile?on=v5p:2x2x2', async (tab) => {
  await tab.getByLabel(/Drop a trace/).setInputFiles(resolve(EXAMPLES, 'mlp.hlo'));
  await tab.getByRole('heading', { name: 'jit_mlp' }).waitFor();
  await tab.getByRole('heading', { name: 'Where the time goes' }).waitFor();
});

const TRACE = JSON.stringify({ traceEvents: [
  { ph: 'M', pid: 0, tid: 0, name: 'process_name', args: { name: 'chip 0' } },
  { ph: 'X', pid: 0, tid: 0, name: 'matmul', cat: 'compute', ts: 0, dur: 900 },
  { ph: 'X', pid: 0, tid: 0, name: 'all_reduce', cat: 'network', ts: 900, dur: 100 },
] });

flow('a trace is dropped and read', '#/profile', async (tab) => {
  await tab.getByLabel(/Drop a trace/).setInputFiles(file('own.trace.json', TRACE));
  await tab.getByRole('heading', { name: 'Where a step goes' }).waitFor();
});

flow('the examples of the profile page are read', '#/profile', async (tab) => {
  await tab.getByRole('button', { name: /a step of PyTorch/ }).click();
  await tab.getByRole('heading', { name: 'Where a step goes' }).waitFor();
  await tab.getByRole('button', { name: /an HLO module/ }).click();
  await tab.getByRole('heading', { name: 'jit_mlp' }).waitFor();
});

flow('a trace stands beside its plan, and a plan that is none is told', '#/profile', async (tab) => {
  await tab.getByLabel(/Drop a trace/).setInputFiles(resolve(EXAMPLES, 'trace.json'));
  await tab.getByLabel(/and its plan/).setInputFiles(file('plan.json', '{"format": "something"}'));
  await tab.getByRole('alert').filter({ hasText: 'plan.json' }).waitFor();
});

flow('a bad module is answered in words', '#/profile', async (tab) => {
  await tab.getByLabel(/Drop a trace/).setInputFiles(file('own.hlo', 'HloModule broken {'));
  await tab.getByRole('alert').filter({ hasText: 'own.hlo' }).waitFor();
});

flow('a bad plan is answered in words', '#/explain', async (tab) => {
  await tab.getByLabel(/drop a plan/).setInputFiles(file('plan.json', '{"format": "ridge-plan", "version": 99}'));
  await tab.getByRole('alert').filter({ hasText: 'plan.json' }).waitFor();
});

flow('a bad trace is answered in words', '#/profile', async (tab) => {
  await tab.getByLabel(/Drop a trace/).setInputFiles(file('own.trace.json', '{"traceEvents": [{"ph":'));
  await tab.getByRole('alert').filter({ hasText: 'own.trace.json' }).waitFor();
});

flow('the page is used by the keyboard alone', '#/model', async (tab) => {
  await tab.getByText('Parameters by part').waitFor();
  await tab.keyboard.press('Tab');
  await tab.keyboard.press('Enter');
  assert.equal(await tab.evaluate(() => document.activeElement?.id), 'main');
});

flow('dark and light are chosen, and remembered', '#/model', async (tab) => {
  await tab.getByRole('button', { name: 'Dark' }).click();
  await tab.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await tab.reload();
  await tab.getByRole('button', { name: 'Light' }).waitFor();
});

flow('an address of no page says so', '#/nowhere', async (tab) => {
  await tab.getByRole('heading', { name: /no page/ }).waitFor();
});
