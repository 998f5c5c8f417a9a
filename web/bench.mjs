// How long the page takes to answer a slider's move, in a real browser: one JSON line a
// case. From the key that moves the slider until the answer is drawn: node bench.mjs
import { openBrowser, openTab } from './tests/browser.mjs';
import { slideTimes } from './tests/slide.mjs';

const REPEATS = 5;

const TRAIN = '#/training?model=llama-3-70b&batch=4M&on=';
const SERVE = '#/serving?model=llama-3-70b&on=h100:1x8';

/** name, address, slider */
const CASES = [
  ['training_batch', '#/training?model=llama-3-70b&on=h100:16x8&batch=1M', /Batch/],
  ['training_chips', `${TRAIN}h100:2x8`, /Chips/],
  ['training_sequence', `${TRAIN}h100:16x8&seq=1024`, /Sequence/],
  ['training_network', `${TRAIN}h100:16x8&net=0.125`, /network/],
  ['training_chips_torus', `${TRAIN}v5p:4x4x4`, /Chips/],
  ['training_batch_moe', '#/training?model=deepseek-v3&on=h100:256x8&batch=1M', /Batch/],
  ['serving_prompt', `${SERVE}&prompt=64`, /Prompt/],
  ['serving_batch', `${SERVE}&batch=8`, /Batch/],
  ['serving_rate', `${SERVE}&rate=0.5`, /Requests/],
  ['serving_ttft', `${SERVE}&ttft=300ms&tpot=50ms`, /first token/],
  ['serving_tpot', `${SERVE}&tpot=20ms`, /each token/],
  ['serving_prompt_moe', '#/serving?model=deepseek-v3&on=h100:4x8&prompt=64', /Prompt/],
  ['roofline', '#/hardware?chips=h100,v5p&size=1', /^m/],
];

const browser = await openBrowser();
try {
  for (const [name, hash, label] of CASES) {
    const tab = await openTab(browser, hash);
    const times = (await slideTimes(tab, label, REPEATS)).map(Math.round);
    console.log(JSON.stringify({ bench: 'web_slider', case: name, median_ms: times[REPEATS >> 1], least_ms: times[0], most_ms: times[REPEATS - 1] }));
    await tab.context().close();
  }
} finally {
  await browser.close();
}
