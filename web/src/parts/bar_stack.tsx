// One bar of parts that make a whole, and its legend as a table.
import { COLOURS } from './chart';

export interface Part {
  name: string;
  value: number;
  text: string;
}

export function BarStack(props: { label: string; parts: Part[]; isLegendHidden?: boolean; whole?: number }) {
  const parts = props.parts.filter((part) => part.value > 0);
  const total = props.whole ?? parts.reduce((sum, part) => sum + part.value, 0);
  return (
    <div class="bar-stack">
      <div class="bar" role="img" aria-label={`${props.label}: ${parts.map((part) => `${part.name} ${part.text}`).join(', ')}`}>
        {parts.map((part, i) => (
          <span key={part.name} title={`${part.name}: ${part.text}`} style={{ width: `${(100 * part.value) / total}%`, background: COLOURS[i % COLOURS.length] }} />
        ))}
      </div>
      {!props.isLegendHidden && (
        <ul class="legend">
          {parts.map((part, i) => (
            <li key={part.name}>
              <span class="dot" style={{ background: COLOURS[i % COLOURS.length] }} aria-hidden="true" />
              {part.name} <b>{part.text}</b>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
