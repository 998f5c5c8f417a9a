// How long the page takes to answer a slider's move, in a real browser: one JSON line a
// case. From the key that moves the slider until the answer is drawn: node bench.mjs
import { openBrowser, openTab } from './tests/browser.mjs';

const REPEATS = 5;

/** name, address, slider */
const CASES = [
  ['training_batch', '#/training?model=llama-3-70b&on=h100:16x8&batch=1M', /Batch/],
  ['training_chips', '#/training?model=llama-3-70b&on=h100:2x8&batch=4M', /Chips/],
  ['training_network', '#/training?model=llama-3-70b&on=h100:16x8&batch=4M&net=0.125', /network/],
  ['training_chips_torus', '#/training?model=llama-3-70b&on=v5p:4x4x4&batch=4M', /Chips/],
  ['training_batch_moe', '#/training?model=deepseek-v3&on=h100:256x8&batch=1M', /Batch/],
  ['serving_prompt', '#/serving?model=llama-3-70b&on=h100:1x8&prompt=64', /Prompt/],
  ['roofline', '#/hardware?chips=h100,v5p&size=1', /^m/],
];

/** In the page: press a key on the slider, and wait until the answer to it is drawn. */
function moveAndWait({ isStatus }) {
  return new Promise((settle) => {
    const slider = document.activeElement;
    const start = performance.now();
    const isAnswered = () => {
      if (!isStatus) return document.querySelector('caption')?.textContent !== before;
      const status = document.querySelector('[role=status]');
      return status?.dataset.state !== 'stale' && status?.textContent !== before;
    };
    const before = isStatus ? document.querySelector('[role=status]')?.textContent : null;
    const look = () => {
      if (isAnswered()) requestAnimationFrame(() => settle({ ms: performance.now() - start, state: document.querySelector('[role=status]')?.dataset.state ?? 'done' }));
      else requestAnimationFrame(look);
    };
    slider.stepUp();
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(look);
  });
}

const browser = await openBrowser();
try {
  for (const [name, hash, label] of CASES) {
    const tab = await openTab(browser, hash);
    const isStatus = !hash.startsWith('#/hardware');
    const slider = tab.getByRole('slider', { name: label });
    const times = [];
    for (let i = 0; i < REPEATS; i++) {
      if (isStatus) await tab.locator('[role=status][data-state=done]', { hasText: 'covered' }).waitFor({ timeout: 120000 });
      else await slider.waitFor();
      await tab.waitForTimeout(200);
      await slider.focus();
      const { ms } = await tab.evaluate(moveAndWait, { isStatus });
      times.push(ms);
    }
    times.sort((a, b) => a - b);
    console.log(JSON.stringify({ bench: 'web_slider', case: name, median_ms: Math.round(times[REPEATS >> 1]), least_ms: Math.round(times[0]), most_ms: Math.round(times[REPEATS - 1]) }));
    await tab.context().close();
  }
} finally {
  await browser.close();
}
