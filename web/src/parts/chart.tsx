// A chart by Observable Plot, drawn anew when what it shows or its width changes.
import * as Plot from '@observablehq/plot';
import { useEffect, useRef, useState } from 'preact/hooks';

/** Colours of series: told apart by those who see no red or green too (Okabe and Ito). */
export const COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c7ae6', '#7f8c8d', '#b8a600', '#5d4037'];

export function Chart(props: { label: string; height?: number; options(width: number): Plot.PlotOptions; state: unknown }) {
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
    frame.current.replaceChildren(plot);
    for (const svg of frame.current.querySelectorAll('svg')) svg.setAttribute('aria-hidden', 'true');
  }, [width, props.state, props.height]);
  return (
    <figure class="chart" role="img" aria-label={props.label}>
      <div ref={frame} />
    </figure>
  );
}
