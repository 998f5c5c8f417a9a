// Explain: a plan dropped in, and how each of its numbers comes about.
import { useMemo } from 'preact/hooks';
import type { ExplainAnswer, ModelsAnswer } from '../engine/answers';
import type { LineFile } from '../engine/wire';
import { ChangeBars } from '../parts/change_bars';
import { DerivationTable } from '../parts/derivation_table';
import { ChoiceField, FileField, TextField } from '../parts/field';
import { Answered, SameLine } from '../parts/notice';
import { useAnswer, useFact } from '../state/answer';
import { packedName, packFile, useFile } from '../state/packed_file';
import type { Route } from '../state/route';
import { setParams } from '../state/route';
import { EXAMPLE_PLAN } from '../state/example_plan';

const OF_TRAINING = ['step_time', 'bound_step_time', 'mfu', 'memory', 'matmul', 'attention', 'vector', 'recompute', 'slowdown', 'tp', 'cp', 'ep', 'imbalance', 'fsdp', 'dp', 'pp', 'bubble', 'optimizer', 'offload', 'goodput', 'days', 'usd'];
const OF_SERVING = ['ttft', 'tpot', 'e2e', 'throughput', 'usd', 'blocks', 'memory', 'batch', 'dense', 'experts', 'head', 'prefill_attention', 'decode_attention', 'vector', 'tp', 'ep', 'kv', 'pp', 'draft', 'launch', 'host'];

const OF_MODEL = ['parameters', 'active', 'attention', 'mlp', 'router', 'experts', 'embedding', 'unembedding', 'norm', 'mtp', 'vision', 'flops', 'flops_train', 'flops_attention_projections', 'flops_attention_scores', 'flops_mlp', 'flops_router', 'flops_experts', 'flops_unembedding', 'conventions', 'weights', 'training', 'activations', 'kv'];

/** What a plan file may be asked; one that is none is answered by the program. */
function quantitiesOf(plan: LineFile | undefined): string[] {
  const text = plan ? new TextDecoder().decode(plan.bytes) : '';
  return /"kind":\s*"serve"/.test(text) ? OF_SERVING : OF_TRAINING;
}

export function ExplainPage(props: { route: Route }) {
  const { params } = props.route;
  const { file, error } = useFile(params['plan']);
  const listed = useFact<ModelsAnswer>(['model', '--json']);
  const example = useMemo(() => ({ path: 'plan.json', bytes: new TextEncoder().encode(EXAMPLE_PLAN) }), []);
  const plan = params['plan'] ? file : example;
  const name = params['model'];
  const quantities = name ? OF_MODEL : quantitiesOf(plan);
  const asked = params['of'] ?? '';
  const quantity = quantities.includes(asked) ? asked : (quantities[0] ?? 'step_time');
  const ofPlan = plan ? { words: ['explain', plan.path, quantity, '--json'], files: [plan] } : null;
  const line = name ? { words: ['explain', name, quantity, '--json'] } : ofPlan;
  const answer = useAnswer<ExplainAnswer>('quick', 'explain', line);
  return (
    <>
      <h1>Explain</h1>
      <p class="lead">How a number of a plan or of a model comes about: what it is made of, with its numbers, down to facts of the chip and the network, and to the sizes of weights.</p>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <ChoiceField label="Quantity" value={quantity} choices={quantities.map((name) => [name, name.replace(/_/g, ' ')] as const)} change={(value) => setParams({ of: value })} />
        <TextField label="of a model, by its name" value={name ?? ''} hint="llama-3-70b" names={listed.value?.models.map((m) => m.name) ?? []} change={(model) => setParams({ model, of: undefined })} />
        <FileField label={params['plan'] ? `Plan: ${packedName(params['plan'])}; drop another` : 'or drop a plan; until then an example is shown'} accept=".json" take={(taken) => void packFile(taken).then((packed) => setParams({ plan: packed, model: undefined, of: undefined }))} />
      </form>
      {error && <p class="complaint" role="alert">{error}</p>}
      {line && <SameLine words={line.words} />}
      <Answered answer={answer}>
        {(found) => (
          <>
            <h2>{found.title}</h2>
            <DerivationTable answer={found} />
            {found.sensitivity && found.sensitivity.length > 0 && <ChangeBars caption="The step, if one number were a tenth larger" changes={found.sensitivity} />}
          </>
        )}
      </Answered>
    </>
  );
}
