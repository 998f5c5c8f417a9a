// A chart by Observable Plot, drawn anew when what it shows or its width changes.
import * as Plot from '@observablehq/plot';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Colours of series: told apart by those who see no red or green too (Okabe and Ito's,
 *  and of Tol's two). */
export const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c7ae6', '#7f8c8d', '#b8a600', '#5d4037', '#882255', '#117733'];

/** What a chart shows, in words: for those who do not see it, or want the numbers. */
export interface Twin {
  heads: readonly string[];
  rows(): string[][];
}

/** The table of a chart; made once it is opened. */
function TwinTable(props: { label: string; twin: Twin }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="twin" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The chart as a table</summary>
      {isOpen && (
        <div class="table-frame" tabIndex={0} role="region" aria-label={`${props.label}, as a table`}>
          <table>
            <caption class="unseen">{props.label}</caption>
            <thead>
              <tr>{props.twin.heads.map((head, i) => <th key={head} scope="col" class={i === 0 ? 'text' : ''}>{head}</th>)}</tr>
            </thead>
            <tbody>
              {props.twin.rows().map((row, i) => (
                <tr key={i}>
                  {row.map((cell, k) => (k === 0 ? <th key={k} scope="row" class="text">{cell}</th> : <td key={k}>{cell}</td>))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}

interface ChartProps {
  label: string;
  height?: number;
  options(width: number): Plot.PlotOptions;
  state: unknown;
  twin: Twin;
  /** called with what is pointed at when it is clicked */
  choose?(value: unknown): void;
}

export function Chart(props: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!frame.current) return;
    const watch = new ResizeObserver((entries) => setWidth(Math.floor(entries[0]?.contentRect.width ?? 0)));
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (!frame.current || width < 50) return;
    const plot = Plot.plot({ width, height: props.height ?? 320, style: { background: 'none', fontSize: '12px', overflow: 'visible' }, ...props.options(width) });
    plot.addEventListener('click', () => {
      if (plot.value) props.choose?.(plot.value);
    });
    frame.current.replaceChildren(plot);
    for (const svg of frame.current.querySelectorAll('svg')) svg.setAttribute('aria-hidden', 'true');
  }, [width, props.state, props.height]);
  return (
    <>
      <figure class={`chart${props.choose ? ' choosable' : ''}`} role="img" aria-label={`${props.label}; as a table below`}>
        <div ref={frame} />
      </figure>
      <TwinTable label={props.label} twin={props.twin} />
    </>
  );
}
