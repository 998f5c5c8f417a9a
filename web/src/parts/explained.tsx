// A number that opens its derivation; which one is open stands in the address.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ExplainAnswer } from '../engine/answers';
import type { Line } from '../engine/wire';
import { useAnswer } from '../state/answer';
import { setParams } from '../state/route';
import { DerivationTable } from './derivation_table';
import { Answered, SameLine } from './notice';

/** @param props.quantity  as `ridge explain` calls it */
export function Explained(props: { quantity: string; children: ComponentChildren }) {
  return (
    <button type="button" class="explained" title={`How ${props.quantity} comes about`} onClick={() => setParams({ explain: props.quantity })}>
      {props.children}
    </button>
  );
}

/** The open derivation, over the page. @param line  `ridge explain PLAN QUANTITY --json` */
export function DerivationDialog(props: { quantity: string; line: Line | null }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const answer = useAnswer<ExplainAnswer>('quick', 'explain', props.line);
  useEffect(() => {
    if (dialog.current && !dialog.current.open) dialog.current.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="derivation-title" onClose={() => setParams({ explain: undefined })}>
      <form method="dialog">
        <h2 id="derivation-title">{answer.value?.title ?? props.quantity}</h2>
        <button type="submit">Close</button>
      </form>
      <Answered answer={answer}>{(value) => <DerivationTable answer={value} />}</Answered>
      {props.line && <SameLine words={props.line.words} />}
    </dialog>
  );
}
