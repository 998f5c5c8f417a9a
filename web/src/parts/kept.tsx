// What is drawn anew only when something that it shows changes: while a slider moves, an
// answer of a hundred rows stands still until the next one is there.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';

/** @param by  everything that the children are made of */
export function Kept(props: { by: readonly unknown[]; children(): ComponentChildren }) {
  return useMemo(() => <>{props.children()}</>, props.by);
}
