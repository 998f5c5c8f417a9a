// One layout: its numbers, where the time and the memory go, its timeline, its plan.
import { useMemo } from 'preact/hooks';
import type { ChipsAnswer, TrainAnswer, TrainLayout } from '../engine/answers';
import type { LineFile } from '../engine/wire';
import { BarStack } from '../parts/bar_stack';
import { Download } from '../parts/download';
import { DerivationDialog, Explained } from '../parts/explained';
import type { Formats } from '../parts/format';
import { useFormats } from '../parts/format';
import type { Fact } from '../parts/notice';
import { Facts } from '../parts/notice';
import { TimelineChart } from '../parts/timeline_chart';
import { useAnswer, useFact } from '../state/answer';
import { useModel } from '../state/model_choice';
import { allKnobs, meshText } from '../state/training_knobs';
import type { Params } from '../state/training_question';
import { PLAN_FILE, subjectWords, TIMELINE_FILE } from '../state/training_question';

function partName(key: string): string {
  return key.replace(/_(s|bytes)$/, '').replace(/_/g, ' ');
}

/** @param quantity  what explains all of them; otherwise each its own */
function partsOf(parts: Record<string, number>, text: (value: number) => string, quantity?: string) {
  return Object.entries(parts).map(([key, value]) => ({ name: partName(key), value, text: text(value), quantity: quantity ?? key.replace(/_s$/, '') }));
}

/** The same layout on the other network, and how it compares. */
function whatIfFact(answer: TrainAnswer, layout: TrainLayout, f: Formats): Fact[] {
  const other = answer.what_if?.best_layout;
  if (!answer.what_if || !other) return [];
  const best = answer.layouts[0] ?? layout;
  const isSame = meshText(other) === meshText(best);
  return [{ name: `With ${answer.what_if.change}`, value: f.seconds(other.step_time_s), note: isSame ? 'the same mesh is best' : meshText(other) }];
}

function factsOf(answer: TrainAnswer, layout: TrainLayout, f: Formats): Fact[] {
  const run = layout.run;
  return [
    { name: 'Step', value: <Explained quantity="step_time">{f.seconds(layout.step_time_s)}</Explained>, note: `${f.seconds(layout.range_low_s)} to ${f.seconds(layout.range_high_s)}; limit ${f.seconds(layout.bound_step_time_s)}` },
    { name: 'MFU', value: <Explained quantity="mfu">{f.percent(layout.mfu)}</Explained>, note: `HFU ${f.percent(layout.hfu)}` },
    { name: 'Memory, fullest stage', value: <Explained quantity="memory">{f.bytes(layout.peak_memory_bytes)}</Explained> },
    { name: 'Tokens per second', value: <Explained quantity="step_time">{f.rate(layout.tokens_per_s_per_chip)}</Explained>, note: 'a chip' },
    ...whatIfFact(answer, layout, f),
    ...(run?.days ? [{ name: 'Days', value: <Explained quantity="days">{f.rate(run.days)}</Explained>, note: `goodput ${f.percent(run.goodput)}` }] : []),
    ...(run?.usd ? [{ name: 'Dollars', value: <Explained quantity="usd">{f.usd(run.usd)}</Explained> }] : []),
  ];
}

/** The plan file of the layout, and the trace of its step. */
function usePlan(params: Params, layout: TrainLayout, isAsked: boolean) {
  const model = useModel(params['model']);
  const words = model.word ? [...subjectWords(params, model.word), ...allKnobs(layout), '--top', '1', '--plan', PLAN_FILE, '--timeline', TIMELINE_FILE, '--json'] : [];
  const line = isAsked && model.word ? { words, files: model.files, wants: [PLAN_FILE, TIMELINE_FILE] } : null;
  const answer = useAnswer<TrainAnswer>('thorough', 'plan', line);
  const file = (path: string): LineFile | undefined => answer.files.find((one) => one.path === path);
  return { plan: file(PLAN_FILE), timeline: file(TIMELINE_FILE), modelFiles: model.files };
}

function Memory(props: { answer: TrainAnswer; layout: TrainLayout; f: Formats }) {
  const name = props.answer.slice.replace(/^\d+\*/, '').split(':')[0] ?? '';
  const all = useFact<ChipsAnswer>(['chips', '--json']);
  const chip = all.value?.chips.find((one) => one.name === name || one.network?.system === name);
  const free = chip ? Math.max(0, chip.visible_bytes - props.layout.peak_memory_bytes) : 0;
  const parts = [...partsOf(props.layout.memory, props.f.bytes, 'memory'), { name: 'free', value: free, text: props.f.bytes(free), isFree: true }];
  return (
    <section>
      <h2>Where the memory goes{chip ? `, of ${props.f.bytes(chip.visible_bytes)}` : ''}</h2>
      <BarStack label="Memory of the fullest stage" parts={parts} />
    </section>
  );
}

export function TrainingLayout(props: { answer: TrainAnswer; layout: TrainLayout; at: number; params: Params; isDone: boolean }) {
  const f = useFormats();
  const { answer, layout, params } = props;
  const { plan, timeline, modelFiles } = usePlan(params, layout, props.isDone);
  const trace = useMemo(() => timeline && new TextDecoder().decode(timeline.bytes), [timeline]);
  const quantity = params['explain'];
  const explainLine = plan && quantity ? { words: ['explain', PLAN_FILE, quantity, ...(params['price'] ? ['--price', params['price']] : []), '--json'], files: [plan, ...modelFiles] } : null;
  return (
    <>
      <section aria-label="The chosen layout">
        <h2>
          {props.at === 0 ? 'Best layout' : `Layout ${props.at + 1}`}: {meshText(layout)}
        </h2>
        <p class="quiet">
          {layout.placement}; ZeRO {layout.zero_stage}, {layout.microbatches} microbatches of {layout.microbatch_seqs}, remat {layout.remat}
          {layout.mesh.pp > 1 ? `, ${layout.schedule}` : ''}; held back by {layout.bottleneck}
        </p>
        <Facts facts={factsOf(answer, layout, f)} />
        <p class="examples">
          <Download file={plan} name={`${answer.model.replace(/[^A-Za-z0-9.-]/g, '-')}-plan.json`} label="Download the plan" />
          <Download file={timeline} name="timeline.json" label="Download the timeline" />
        </p>
      </section>
      <section>
        <h2>Where the time goes</h2>
        <BarStack label="Time of a step" parts={partsOf(layout.breakdown, f.seconds)} />
        <p class="quiet">Hidden behind compute: {f.seconds(layout.hidden_communication_s)} of communication.</p>
      </section>
      <Memory answer={answer} layout={layout} f={f} />
      {trace && (
        <section>
          <h2>The step as a timeline</h2>
          <TimelineChart label="Timeline of a step" text={trace} />
        </section>
      )}
      {quantity && explainLine && <DerivationDialog quantity={quantity} line={explainLine} />}
    </>
  );
}
