// How long a slider's answer takes: in the page, from the move until the answer is drawn.

/** In the page: move the focused slider a step, and wait until the answer to it is drawn. */
function moveAndWait({ isStatus }) {
  return new Promise((settle, fail) => {
    setTimeout(() => fail(new Error('no answer within ten seconds')), 10000);
    const slider = document.activeElement;
    const start = performance.now();
    const isAnswered = () => {
      if (!isStatus) return document.querySelector('caption')?.textContent !== before;
      const status = document.querySelector('[role=status]');
      return status?.dataset.state !== 'stale' && status?.textContent !== before;
    };
    const before = isStatus ? document.querySelector('[role=status]')?.textContent : null;
    const look = () => {
      if (isAnswered()) requestAnimationFrame(() => settle(performance.now() - start));
      else requestAnimationFrame(look);
    };
    slider.stepUp();
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    requestAnimationFrame(look);
  });
}

/**
 * Move a slider several times, each once everything was searched.
 * @return milliseconds of each move, the least first
 */
export async function slideTimes(tab, label, moves) {
  const isStatus = !tab.url().includes('#/hardware');
  const slider = tab.getByRole('slider', { name: label });
  const times = [];
  for (let i = 0; i < moves; i++) {
    if (isStatus) await tab.locator('[role=status][data-state=done]', { hasText: 'covered' }).waitFor({ timeout: 120000 });
    await slider.waitFor();
    await tab.waitForTimeout(200);
    await slider.focus();
    times.push(await tab.evaluate(moveAndWait, { isStatus }));
  }
  return times.sort((a, b) => a - b);
}
