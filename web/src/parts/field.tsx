// Fields of a form: a label, an input, and what is wrong with it.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';

interface FieldProps {
  label: string;
  value: string;
  change(value: string): void;
  hint?: string;
  /** suggestions */
  names?: readonly string[];
  isWide?: boolean;
}

/** Text that is handed on with Enter or when the field is left. */
export function TextField(props: FieldProps) {
  const id = useId();
  const [draft, setDraft] = useState(props.value);
  useEffect(() => setDraft(props.value), [props.value]);
  const commit = (text: string) => {
    if (text !== props.value) props.change(text.trim());
  };
  return (
    <div class={`field${props.isWide ? ' wide' : ''}`}>
      <label for={id}>{props.label}</label>
      <input
        id={id}
        type="text"
        value={draft}
        list={props.names ? `${id}-names` : undefined}
        placeholder={props.hint}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        onInput={(event) => {
          const text = event.currentTarget.value;
          setDraft(text);
          if (props.names?.includes(text)) commit(text);
        }}
        onChange={(event) => commit(event.currentTarget.value)}
      />
      {props.names && (
        <datalist id={`${id}-names`}>
          {props.names.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </div>
  );
}

export function ChoiceField(props: { label: string; value: string; change(value: string): void; choices: readonly (readonly [string, string])[] }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      <select id={id} value={props.value} onChange={(event) => props.change(event.currentTarget.value)}>
        {props.choices.map(([value, text]) => (
          <option key={value} value={value} selected={value === props.value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

/** One of a list of steps, by a slider. */
export function StepSlider(props: {
  label: string;
  steps: readonly string[];
  value: string;
  text: ComponentChildren;
  /** @param isStep  the first move of a slide: it begins an entry of the history */
  change(value: string, isStep: boolean): void;
}) {
  const id = useId();
  const isSliding = useRef(false);
  const at = Math.max(0, props.steps.indexOf(props.value));
  const pick = (text: string) => props.steps[Number(text)] ?? props.value;
  return (
    <div class="field slider">
      <label for={id}>
        {props.label} <output for={id}>{props.text}</output>
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={props.steps.length - 1}
        step={1}
        value={at}
        aria-valuetext={props.value}
        onInput={(event) => {
          props.change(pick(event.currentTarget.value), !isSliding.current);
          isSliding.current = true;
        }}
        onChange={(event) => {
          isSliding.current = false;
          props.change(pick(event.currentTarget.value), false);
        }}
      />
    </div>
  );
}

export function FileField(props: { label: string; accept?: string; take(file: File): void }) {
  const id = useId();
  const [isOver, setOver] = useState(false);
  const first = (files: FileList | null | undefined) => {
    const file = files?.[0];
    if (file) props.take(file);
  };
  return (
    <div
      class={`drop${isOver ? ' over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        first(event.dataTransfer?.files);
      }}
    >
      <label for={id}>{props.label}</label>
      <input
        id={id}
        type="file"
        accept={props.accept}
        onChange={(event) => {
          first(event.currentTarget.files);
          event.currentTarget.value = '';
        }}
      />
    </div>
  );
}
