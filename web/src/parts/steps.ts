// Steps of a slider, and among them a value that was typed into a field.

const SCALES: Readonly<Record<string, number>> = { us: 1e-6, ms: 1e-3, s: 1, k: 1e3, K: 1e3, m: 1e6, M: 1e6, b: 1e9, B: 1e9, G: 1e9, t: 1e12, T: 1e12 };

/** The size of "500ms" or "4M", to order steps by; words are the least. */
function sizeOf(step: string): number {
  const [, digits, unit] = /^([\d.]+)\s*([a-zA-Z]*)/.exec(step) ?? [];
  return digits === undefined ? -1 : Number(digits) * (SCALES[unit ?? ''] ?? 1);
}

/** @return the steps, with the value at its place where it is none of them */
export function stepsWith(steps: readonly string[], value: string): readonly string[] {
  if (steps.includes(value)) return steps;
  const at = steps.findIndex((step) => sizeOf(step) > sizeOf(value));
  return at < 0 ? [...steps, value] : [...steps.slice(0, at), value, ...steps.slice(at)];
}
