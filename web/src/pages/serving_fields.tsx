// The question of the serving page: fields, goals, and sliders over what is asked most.
import { ChoiceField, FileField, StepSlider, TextField } from '../parts/field';
import { stepsWith } from '../parts/steps';
import { USUAL_MODEL } from '../state/model_choice';
import { packedName, packFile } from '../state/packed_file';
import { setParams } from '../state/route';
import type { Params } from '../state/serving_question';
import { USUAL, valueOf } from '../state/serving_question';

const TOKENS = ['64', '128', '256', '512', '1024', '2048', '4096', '8192', '16384', '32768', '65536', '131072'];
const ANY = 'any';
const BATCHES = [ANY, '1', '2', '4', '8', '16', '32', '64', '96', '128', '192', '256', '384', '512', '768', '1024', '2048'];
const RATES = [ANY, '0.5', '1', '2', '4', '8', '16', '32', '64', '128', '256', '512'];
const FIRSTS = [ANY, '50ms', '100ms', '200ms', '300ms', '500ms', '1s', '2s', '5s', '10s'];
const EACHES = [ANY, '5ms', '10ms', '15ms', '20ms', '30ms', '40ms', '50ms', '75ms', '100ms', '200ms'];
const AIMS = [['', 'throughput'], ['cost', 'cost'], ['latency', 'latency'], ['chips', 'chips (with a rate)']] as const;
const FORMATS = [['', 'bf16'], ['fp8', 'fp8'], ['int8', 'int8'], ['int4', 'int4'], ['any', 'any']] as const;

interface Slide {
  name: string;
  label: string;
  steps: readonly string[];
  /** what a value is said as */
  text(value: string): string;
  /** where the address has none; left out of it where it is ANY */
  usual: string;
  /** a choice that it takes the place of: the rate makes the batch */
  instead?: string;
}

const SLIDES: Slide[] = [
  { name: 'prompt', label: 'Prompt', steps: TOKENS, usual: USUAL.prompt, text: (value) => `${value} tokens` },
  { name: 'output', label: 'Answer', steps: TOKENS, usual: USUAL.output, text: (value) => `${value} tokens` },
  { name: 'batch', label: 'Batch', steps: BATCHES, usual: ANY, instead: 'rate', text: (value) => (value === ANY ? 'the best' : value) },
  { name: 'rate', label: 'Requests a second', steps: RATES, usual: ANY, instead: 'batch', text: (value) => (value === ANY ? 'as many as can be' : value) },
  { name: 'ttft', label: 'Goal: first token', steps: FIRSTS, usual: ANY, text: (value) => (value === ANY ? 'none' : `within ${value}`) },
  { name: 'tpot', label: 'Goal: each token', steps: EACHES, usual: ANY, text: (value) => (value === ANY ? 'none' : `within ${value}`) },
];

function Sliders(props: { params: Params }) {
  return (
    <fieldset class="fields sliders three">
      <legend class="unseen">Sliders</legend>
      {SLIDES.map((slide) => {
        const value = props.params[slide.name] ?? slide.usual;
        const change = (next: string, isStep: boolean) => setParams({ [slide.name]: next === ANY ? undefined : next, ...(slide.instead ? { [slide.instead]: undefined } : {}) }, isStep);
        return <StepSlider key={slide.name} label={slide.label} steps={stepsWith(slide.steps, value)} value={value} text={slide.text(value)} change={change} />;
      })}
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
        <ChoiceField label="Best by" value={value('for')} choices={AIMS} change={change('for')} />
      </div>
      <Sliders params={params} />
      <details>
        <summary>More: goals to the digit, percentile, formats, engine, knobs, a config.json of your own</summary>
        <div class="fields">
          <ChoiceField label="Weights" value={value('weights')} choices={FORMATS} change={change('weights')} />
          <ChoiceField label="KV cache" value={value('cache')} choices={FORMATS} change={change('cache')} />
          <TextField label="First token within" value={value('ttft')} hint="350ms" change={change('ttft')} />
          <TextField label="Each token within" value={value('tpot')} hint="25ms" change={change('tpot')} />
          <TextField label="Whole answer within" value={value('e2e')} hint="20s" change={change('e2e')} />
          <TextField label="Requests a second, exactly" value={value('rate')} hint="as many as can be" change={change('rate')} />
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
