// One bar of parts that make a whole, and its legend as a table.
import { COLOURS } from './chart';
import { Explained } from './explained';

function colourOf(part: Part, i: number): string {
  return part.isFree ? 'var(--free)' : (COLOURS[i % COLOURS.length] ?? '');
}

export interface Part {
  name: string;
  value: number;
  text: string;
  /** what `ridge explain` calls it, where it can be asked */
  quantity?: string;
  /** nothing lies here: drawn as the ground */
  isFree?: boolean;
}

export function BarStack(props: { label: string; parts: Part[]; isLegendHidden?: boolean; whole?: number }) {
  const parts = props.parts.filter((part) => part.value > 0);
  const total = props.whole ?? parts.reduce((sum, part) => sum + part.value, 0);
  return (
    <div class="bar-stack">
      <div class="bar" role="img" aria-label={`${props.label}: ${parts.map((part) => `${part.name} ${part.text}`).join(', ')}`}>
        {parts.map((part, i) => (
          <span key={part.name} title={`${part.name}: ${part.text}`} style={{ width: `${(100 * part.value) / total}%`, background: colourOf(part, i) }} />
        ))}
      </div>
      {!props.isLegendHidden && (
        <ul class="legend">
          {parts.map((part, i) => (
            <li key={part.name}>
              <span class="dot" style={{ background: colourOf(part, i) }} aria-hidden="true" />
              {part.name} {part.quantity ? <Explained quantity={part.quantity}>{part.text}</Explained> : <b>{part.text}</b>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
