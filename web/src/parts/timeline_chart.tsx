// A trace of Chrome's format as lanes over time.
import * as Plot from '@observablehq/plot';
import { useMemo } from 'preact/hooks';
import { Chart, COLOURS } from './chart';
import { useFormats } from './format';

interface TraceEvent {
  ph: string;
  pid: number;
  tid: number;
  name: string;
  cat?: string;
  ts?: number;
  dur?: number;
  args?: Record<string, unknown>;
}

interface Span {
  lane: string;
  name: string;
  kind: string;
  start: number;
  end: number;
}

const SPANS_MOST = 3000;
const LANES_MOST = 24;
/** Spans of the table beside the chart. */
const ROWS_MOST = 300;

function nameOf(events: TraceEvent[], kind: string, pid: number, tid?: number): string {
  const found = events.find((event) => event.ph === 'M' && event.name === kind && event.pid === pid && (tid === undefined || event.tid === tid));
  return String(found?.args?.['name'] ?? `${tid ?? pid}`);
}

/** Spans by lane; a span that holds others is drawn behind them. */
export function spansOf(text: string): { spans: Span[]; lanes: string[]; isCut: boolean } {
  const parsed = JSON.parse(text) as { traceEvents: TraceEvent[] } | TraceEvent[];
  const events = Array.isArray(parsed) ? parsed : parsed.traceEvents;
  const names = new Map<string, string>();
  const laneOf = (event: TraceEvent) => {
    const key = `${event.pid} ${event.tid}`;
    const known = names.get(key);
    if (known) return known;
    const lane = `${nameOf(events, 'process_name', event.pid)}: ${nameOf(events, 'thread_name', event.pid, event.tid)}`;
    names.set(key, lane);
    return lane;
  };
  const all = events.filter((event) => event.ph === 'X').map((event) => ({ lane: laneOf(event), name: event.name, kind: event.cat ?? event.name, start: (event.ts ?? 0) * 1e-6, end: ((event.ts ?? 0) + (event.dur ?? 0)) * 1e-6 }));
  const lanes = [...new Set(all.map((span) => span.lane))].slice(0, LANES_MOST);
  /* the first of all lanes, not all of the first lane */
  const shown = all.filter((span) => lanes.includes(span.lane)).sort((a, b) => a.start - b.start);
  return { spans: shown.slice(0, SPANS_MOST), lanes, isCut: shown.length > SPANS_MOST || lanes.length === LANES_MOST };
}

export function TimelineChart(props: { label: string; text: string }) {
  const f = useFormats();
  const { spans, lanes, isCut } = useMemo(() => spansOf(props.text), [props.text]);
  const tip = (span: Span) => `${span.lane}\n${span.name} (${span.kind})\n${f.seconds(span.end - span.start)} from ${f.seconds(span.start)}`;
  return (
    <>
      <Chart
        label={`${props.label}: ${lanes.length} lanes, ${spans.length} spans`}
        height={74 + 26 * lanes.length}
        state={props.text}
        twin={{
          heads: ['lane', 'span', 'kind', 'from', 'for'],
          rows: () => spans.slice(0, ROWS_MOST).map((span) => [span.lane, span.name, span.kind, f.seconds(span.start), f.seconds(span.end - span.start)]),
        }}
        options={(width) => ({
          marginLeft: Math.min(180, width * 0.35),
          marginBottom: 44,
          x: { label: 'time', labelOffset: 38, tickFormat: (v: number) => f.seconds(v), ticks: width < 500 ? 3 : 8 },
          y: { label: null, domain: lanes, tickFormat: (lane: string) => (lane.length > 28 ? `${lane.slice(0, 27)}…` : lane) },
          color: { legend: true, range: COLOURS },
          marks: [
            Plot.barX(spans, { y: 'lane', x1: 'start', x2: 'end', fill: 'kind', inset: 0.25, rx: 1 }),
            Plot.tip(spans, Plot.pointer({ y: 'lane', x: (span: Span) => (span.start + span.end) / 2, title: tip })),
          ],
        })}
      />
      {isCut && <p class="quiet">The first of it; the file holds the rest: open it with Perfetto.</p>}
    </>
  );
}
