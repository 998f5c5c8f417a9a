// Rooflines of one operation on several chips: the physical limit as a line, what is
// expected as dots, over the operation's intensity.
import * as Plot from '@observablehq/plot';
import type { RooflineAnswer, RooflinePoint } from '../engine/answers';
import { setParams } from '../state/route';
import { Chart, COLOURS } from './chart';
import { useFormats } from './format';

interface Row extends RooflinePoint {
  chip: string;
}

export function RooflineChart(props: { curves: RooflineAnswer[]; dim: string; at: number }) {
  const f = useFormats();
  const rows: Row[] = props.curves.flatMap((curve) => (curve.sweep ?? []).map((point) => ({ ...point, chip: curve.chip })));
  const chosen = rows.filter((row) => row[props.dim] === props.at);
  const tip = (row: Row) =>
    `${row.chip}, ${props.dim} = ${f.exact(Number(row[props.dim]))}\nexpected ${f.unit(row.flops_per_s, 'FLOP/s')} in ${f.seconds(row.time_s)}\nlimit ${f.unit(row.bound_flops_per_s, 'FLOP/s')}, bound by ${row.bound_by}`;
  return (
    <Chart
      label={`Roofline of ${props.curves.map((curve) => curve.chip).join(', ')}: FLOP/s over FLOPs per byte`}
      height={380}
      choose={(row) => setParams({ size: String((row as Row)[props.dim]) })}
      twin={{
        heads: ['chip', props.dim, 'FLOPs per byte', 'expected', 'time', 'limit', 'bound by'],
        rows: () => rows.map((row) => [row.chip, f.exact(Number(row[props.dim])), f.rate(row.intensity_flops_per_byte), f.unit(row.flops_per_s, 'FLOP/s'), f.seconds(row.time_s), f.unit(row.bound_flops_per_s, 'FLOP/s'), row.bound_by]),
      }}
      state={JSON.stringify([props.curves.map((curve) => [curve.chip, curve.op, curve.sweep?.length]), props.at])}
      options={() => ({
        marginLeft: 70,
        marginBottom: 46,
        x: { type: 'log', label: 'FLOPs per byte', labelOffset: 40, grid: true },
        y: { type: 'log', label: 'FLOP/s', grid: true, tickFormat: (v: number) => f.si(v) },
        color: { legend: true, range: COLOURS },
        marks: [
          Plot.line(rows, { x: 'intensity_flops_per_byte', y: 'bound_flops_per_s', stroke: 'chip', strokeWidth: 2 }),
          Plot.dot(rows, { x: 'intensity_flops_per_byte', y: 'flops_per_s', stroke: 'chip', r: 3, title: tip, tip: true }),
          Plot.dot(chosen, { x: 'intensity_flops_per_byte', y: 'flops_per_s', fill: 'chip', r: 7 }),
        ],
      })}
    />
  );
}
