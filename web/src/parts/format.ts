// Numbers in the program's own words; null is written as a dash.
import { useMemo } from 'preact/hooks';
import type { Engine, FormatKind } from '../engine/engine';
import { useEngine } from '../state/answer';

type Value = number | null | undefined;
export type Formats = Record<FormatKind, (value: Value) => string> & {
  /** with a unit: 989 TFLOP/s */
  unit(value: Value, unit: string): string;
  /** without a unit: four digits, from a thousand up without a fraction */
  rate(value: Value): string;
};

const KINDS: FormatKind[] = ['seconds', 'bytes', 'si', 'count', 'exact', 'percent', 'usd', 'double'];

function formatsOf(engine: Engine): Formats {
  const one = (kind: FormatKind) => (value: Value) =>
    value === null || value === undefined ? '–' : engine.format(kind, value);
  const all = Object.fromEntries(KINDS.map((kind) => [kind, one(kind)])) as Record<FormatKind, (value: Value) => string>;
  const unit = (value: Value, text: string) => {
    const si = all.si(value);
    return si === '–' ? si : `${si}${/[a-zA-Zµ]$/.test(si) ? '' : ' '}${text}`;
  };
  const rate = (value: Value) => (typeof value === 'number' && Math.abs(value) >= 1000 ? all.count(value) : all.double(value));
  return { ...all, unit, rate };
}

export function useFormats(): Formats {
  const engine = useEngine();
  return useMemo(() => formatsOf(engine), [engine]);
}
