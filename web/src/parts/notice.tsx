// What stands around an answer: complaints, that it is on its way, the same line for a shell.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer } from '../state/answer';

/** The answer, or why there is none. While the next one is found the last one stays. */
export function Answered<T>(props: { answer: Answer<T>; children(value: T): ComponentChildren }) {
  const { answer } = props;
  if (answer.error) {
    return (
      <p class="complaint" role="alert">
        {answer.error}
      </p>
    );
  }
  return (
    <div aria-busy={answer.isBusy} class={answer.isBusy ? 'busy' : ''}>
      {answer.value === undefined ? <p class="quiet">{answer.isBusy ? 'Working…' : ''}</p> : props.children(answer.value)}
    </div>
  );
}

/** A word as a shell takes it. */
function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./*-]+$/.test(word) && !word.includes('*') ? word : `'${word.replace(/'/g, `'\\''`)}'`;
}

/** The line that asks the program the same. */
export function SameLine(props: { words: readonly string[] }) {
  const [isCopied, setCopied] = useState(false);
  const words = props.words.filter((word) => word !== '--json');
  const text = ['ridge', ...words].map(quoted).join(' ');
  const copy = () => {
    void navigator.clipboard?.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    });
  };
  return (
    <p class="same-line">
      <code>{text}</code>
      <button type="button" onClick={copy}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </p>
  );
}

export interface Fact {
  name: string;
  value: ComponentChildren;
  note?: string | undefined;
}

/** The few numbers that a page is opened for. */
export function Facts(props: { facts: Fact[] }) {
  return (
    <dl class="facts">
      {props.facts.map((fact) => (
        <div key={fact.name}>
          <dt>{fact.name}</dt>
          <dd>
            {fact.value}
            {fact.note && <small>{fact.note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
