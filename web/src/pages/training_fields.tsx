// The question of the training page: fields, and sliders over what is asked most.
import type { ChipsAnswer } from '../engine/answers';
import { FileField, StepSlider, TextField } from '../parts/field';
import { stepsWith } from '../parts/steps';
import { useFact } from '../state/answer';
import { packedName, packFile } from '../state/packed_file';
import { setParams } from '../state/route';
import type { Params } from '../state/training_question';
import { valueOf } from '../state/training_question';
import { USUAL_MODEL } from '../state/model_choice';

const BATCHES = ['250k', '500k', '1M', '2M', '4M', '8M', '16M', '32M', '64M', '128M'];
const SEQS = ['1024', '2048', '4096', '8192', '16384', '32768', '65536', '131072', '262144', '524288', '1048576'];
const NETWORKS = ['0.125', '0.25', '0.5', '1', '2', '4', '8'];

function chipName(on: string, all: ChipsAnswer | undefined): string | undefined {
  const name = on.replace(/^\d+\*/, '').split(':')[0]?.toLowerCase();
  return all?.chips.find((chip) => chip.name === name || chip.network?.system === name)?.name;
}

function ChipsSlider(props: { on: string; chips: number | undefined }) {
  const all = useFact<ChipsAnswer>(['chips', '--json']);
  const name = chipName(props.on, all.value);
  const detail = useFact<ChipsAnswer>(name ? ['chips', name, '--json'] : null);
  const slices = detail.value?.chips[0]?.slices ?? [];
  if (slices.length === 0) return null;
  const at = slices.find((slice) => slice.slice === props.on) ?? slices.find((slice) => slice.chips === props.chips);
  const steps = slices.map((slice) => slice.slice);
  return <StepSlider label="Chips" steps={at ? steps : stepsWith(steps, props.on)} value={at?.slice ?? props.on} text={String(at?.chips ?? props.chips ?? '')} change={(on, isStep) => setParams({ on }, isStep)} />;
}

function Sliders(props: { params: Params; chips: number | undefined }) {
  const value = (name: 'on' | 'batch' | 'seq' | 'net') => valueOf(props.params, name);
  const change = (name: string) => (text: string, isStep: boolean) => setParams({ [name]: text }, isStep);
  return (
    <fieldset class="fields sliders">
      <legend class="unseen">Sliders</legend>
      <ChipsSlider on={value('on')} chips={props.chips} />
      <StepSlider label="Batch" steps={stepsWith(BATCHES, value('batch'))} value={value('batch')} text={`${value('batch')} tokens`} change={change('batch')} />
      <StepSlider label="Sequence" steps={stepsWith(SEQS, value('seq'))} value={value('seq')} text={`${value('seq')} tokens`} change={change('seq')} />
      <StepSlider label="What if the network were" steps={stepsWith(NETWORKS, value('net'))} value={value('net')} text={`${value('net')}× as fast`} change={change('net')} />
    </fieldset>
  );
}

export function TrainingFields(props: { params: Params; models: string[]; chips: number | undefined }) {
  const { params } = props;
  const change = (name: string) => (text: string) => setParams({ [name]: text, layout: undefined });
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <div class="fields">
        <TextField label="Model" isWide value={packedName(params['model'] ?? USUAL_MODEL)} names={props.models} change={change('model')} />
        <TextField label="Slice" value={valueOf(params, 'on')} hint="h100:16x8" change={change('on')} />
        <TextField label="Tokens of a batch" value={valueOf(params, 'batch')} change={change('batch')} />
        <TextField label="Tokens of a sequence" value={valueOf(params, 'seq')} change={change('seq')} />
        <TextField label="Tokens of the run" value={params['tokens'] ?? ''} hint="15T: for days and dollars" change={change('tokens')} />
      </div>
      <Sliders params={params} chips={props.chips} />
      <details>
        <summary>More: precision, software, knobs, a config.json of your own</summary>
        <div class="fields">
          <TextField label="Precision" value={params['precision'] ?? ''} hint="bf16" change={change('precision')} />
          <TextField label="Training software" value={params['stack'] ?? ''} hint="well-tuned" change={change('stack')} />
          <TextField label="Memory to stay free" value={params['headroom'] ?? ''} hint="10%" change={change('headroom')} />
          <TextField label="Price of a chip-hour" value={params['price'] ?? ''} hint="2.5, or spot" change={change('price')} />
          <TextField label="Knobs that are fixed" isWide value={params['knobs'] ?? ''} hint="tp=8 zero=3 remat=full" change={change('knobs')} />
          <FileField label="or drop a config.json" accept=".json" take={(file) => void packFile(file).then((packed) => setParams({ model: packed, layout: undefined }))} />
        </div>
      </details>
    </form>
  );
}
