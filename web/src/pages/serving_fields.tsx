// The question of the serving page: fields, goals, and sliders over what is asked most.
import { ChoiceField, FileField, StepSlider, TextField } from '../parts/field';
import { USUAL_MODEL } from '../state/model_choice';
import { packedName, packFile } from '../state/packed_file';
import { setParams } from '../state/route';
import type { Params } from '../state/serving_question';
import { valueOf } from '../state/serving_question';

const TOKENS = ['64', '128', '256', '512', '1024', '2048', '4096', '8192', '16384', '32768', '65536', '131072'];
const ANY = 'any';
const BATCHES = [ANY, '1', '2', '4', '8', '16', '32', '64', '96', '128', '192', '256', '384', '512', '768', '1024', '2048'];
const AIMS = [['', 'throughput'], ['cost', 'cost'], ['latency', 'latency'], ['chips', 'chips (with a rate)']] as const;
const FORMATS = [['', 'bf16'], ['fp8', 'fp8'], ['int8', 'int8'], ['int4', 'int4'], ['any', 'any']] as const;

function withValue(steps: string[], value: string): string[] {
  return steps.includes(value) ? steps : [value, ...steps];
}

function Sliders(props: { params: Params }) {
  const { params } = props;
  const batch = params['batch'] ?? ANY;
  const tokens = (name: 'prompt' | 'output') => valueOf(params, name);
  return (
    <fieldset class="fields">
      <legend class="unseen">Sliders</legend>
      <StepSlider label="Prompt" steps={withValue(TOKENS, tokens('prompt'))} value={tokens('prompt')} text={`${tokens('prompt')} tokens`} change={(prompt, isStep) => setParams({ prompt }, isStep)} />
      <StepSlider label="Answer" steps={withValue(TOKENS, tokens('output'))} value={tokens('output')} text={`${tokens('output')} tokens`} change={(output, isStep) => setParams({ output }, isStep)} />
      <StepSlider label="Batch" steps={withValue(BATCHES, batch)} value={batch} text={batch === ANY ? 'the best' : batch} change={(value, isStep) => setParams({ batch: value === ANY ? undefined : value }, isStep)} />
    </fieldset>
  );
}

export function ServingFields(props: { params: Params; models: string[] }) {
  const { params } = props;
  const value = (name: string) => params[name] ?? '';
  const change = (name: string) => (text: string) => setParams({ [name]: text, layout: undefined });
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <div class="fields">
        <TextField label="Model" isWide value={packedName(params['model'] ?? USUAL_MODEL)} names={props.models} change={change('model')} />
        <TextField label="Slice" value={valueOf(params, 'on')} change={change('on')} />
        <TextField label="First token within" value={value('ttft')} hint="500ms" change={change('ttft')} />
        <TextField label="Each token within" value={value('tpot')} hint="30ms" change={change('tpot')} />
        <TextField label="Requests per second" value={value('rate')} hint="as many as can be" change={change('rate')} />
        <ChoiceField label="Best by" value={value('for')} choices={AIMS} change={change('for')} />
      </div>
      <Sliders params={params} />
      <details>
        <summary>More: formats, engine, percentile, knobs, a config.json of your own</summary>
        <div class="fields">
          <ChoiceField label="Weights" value={value('weights')} choices={FORMATS} change={change('weights')} />
          <ChoiceField label="KV cache" value={value('cache')} choices={FORMATS} change={change('cache')} />
          <TextField label="Goals hold at" value={value('percentile')} hint="p99" change={change('percentile')} />
          <TextField label="Engine" value={value('engine')} hint="vllm-v1" change={change('engine')} />
          <TextField label="Prompt tokens in the prefix cache" value={value('cached')} hint="0" change={change('cached')} />
          <TextField label="Price of a chip-hour" value={value('price')} hint="2.5, or spot" change={change('price')} />
          <TextField label="Knobs that are fixed" isWide value={value('knobs')} hint="tp=8 mode=disaggregated" change={change('knobs')} />
          <FileField label="or drop a config.json" accept=".json" take={(file) => void packFile(file).then((packed) => setParams({ model: packed, layout: undefined }))} />
        </div>
      </details>
    </form>
  );
}
