// The interactive roofline: an operation, one of its sizes by a slider, on several chips.
import type { RooflineAnswer, RooflinePoint } from '../engine/answers';
import { StepSlider, TextField } from '../parts/field';
import { useFormats } from '../parts/format';
import { SameLine } from '../parts/notice';
import { RooflineChart } from '../parts/roofline_chart';
import { Table } from '../parts/table';
import { useAnswers } from '../state/answer';
import type { Route } from '../state/route';
import { setParams } from '../state/route';

const USUAL_OP = '8192x8192x28672';
const USUAL_SWEEP = 'm=1..65536';
const USUAL_SIZE = '256';

interface Point {
  curve: RooflineAnswer;
  point: RooflinePoint;
}

function pointsAt(curves: RooflineAnswer[], dim: string, at: number): Point[] {
  return curves.flatMap((curve) => {
    const point = curve.sweep?.find((one) => one[dim] === at);
    return point ? [{ curve, point }] : [];
  });
}

export function HardwareRoofline(props: { route: Route; chips: string[] }) {
  const f = useFormats();
  const { params } = props.route;
  const op = params['op'] ?? USUAL_OP;
  const sweep = params['sweep'] ?? USUAL_SWEEP;
  const words = (chip: string) => ['roofline', ...op.split(/\s+/), '--on', chip, '--sweep', sweep, '--json'];
  const answers = useAnswers<RooflineAnswer>('quick', 'roofline', props.chips.map((chip) => ({ words: words(chip) })));
  const curves = answers.flatMap((answer) => (answer?.value ? [answer.value] : []));
  const error = answers.find((answer) => answer?.error)?.error;
  const dim = sweep.split('=', 1)[0] ?? 'm';
  const steps = (curves[0]?.sweep ?? []).map((point) => String(point[dim]));
  const size = params['size'] ?? (steps.includes(USUAL_SIZE) ? USUAL_SIZE : (steps[0] ?? ''));
  return (
    <section>
      <h2>Roofline of an operation</h2>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <TextField label="Operation: MxKxN, an einsum, attention:decode …" isWide value={op} change={(value) => setParams({ op: value, size: undefined })} />
        <TextField label="Sizes to sweep" value={sweep} change={(value) => setParams({ sweep: value, size: undefined })} />
        {steps.length > 0 && (
          <StepSlider label={dim} steps={steps} value={size} text={f.exact(Number(size))} change={(value, isStep) => setParams({ size: value }, isStep)} />
        )}
      </form>
      {props.chips[0] && <SameLine words={words(props.chips[0])} />}
      {error && <p class="complaint" role="alert">{error}</p>}
      {curves.length > 0 && (
        <>
          <RooflineChart curves={curves} dim={dim} at={Number(size)} />
          <Table
            caption={`With ${dim} = ${f.exact(Number(size))}`}
            rows={pointsAt(curves, dim, Number(size))}
            rowKey={({ curve }) => curve.chip}
            columns={[
              { key: 'chip', head: 'chip', isText: true, cell: ({ curve }) => curve.chip },
              { key: 'time', head: 'expected', cell: ({ point }) => f.seconds(point.time_s), sort: ({ point }) => point.time_s },
              { key: 'bound', head: 'limit', cell: ({ point }) => f.seconds(point.bound_time_s), sort: ({ point }) => point.bound_time_s },
              { key: 'by', head: 'bound by', isText: true, cell: ({ point }) => point.bound_by },
              { key: 'rate', head: 'rate', cell: ({ point }) => f.unit(point.flops_per_s, 'FLOP/s'), sort: ({ point }) => point.flops_per_s },
              { key: 'intensity', head: 'FLOPs per byte', cell: ({ point }) => f.rate(point.intensity_flops_per_byte) },
              { key: 'ridge', head: 'ridge', cell: ({ curve }) => f.rate(curve.ridge_flops_per_byte) },
              { key: 'critical', head: `critical ${dim}`, cell: ({ curve }) => f.rate(curve.critical?.size) },
            ]}
          />
        </>
      )}
    </section>
  );
}
