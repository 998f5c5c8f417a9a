// Explain: a plan dropped in, and how each of its numbers comes about.
import { useMemo } from 'preact/hooks';
import type { ExplainAnswer } from '../engine/answers';
import type { LineFile } from '../engine/wire';
import { ChangeBars } from '../parts/change_bars';
import { DerivationTable } from '../parts/derivation_table';
import { ChoiceField, FileField } from '../parts/field';
import { Answered, SameLine } from '../parts/notice';
import { useAnswer } from '../state/answer';
import { packedName, packFile, useFile } from '../state/packed_file';
import type { Route } from '../state/route';
import { setParams } from '../state/route';
import { EXAMPLE_PLAN } from '../state/example_plan';

const OF_TRAINING = ['step_time', 'bound_step_time', 'mfu', 'memory', 'matmul', 'attention', 'vector', 'recompute', 'slowdown', 'tp', 'cp', 'ep', 'imbalance', 'fsdp', 'dp', 'pp', 'bubble', 'optimizer', 'offload', 'goodput', 'days', 'usd'];
const OF_SERVING = ['ttft', 'tpot', 'e2e', 'throughput', 'usd', 'blocks', 'memory', 'batch', 'dense', 'experts', 'head', 'prefill_attention', 'decode_attention', 'vector', 'tp', 'ep', 'kv', 'pp', 'draft', 'launch', 'host'];

/** What a plan file may be asked; one that is none is answered by the program. */
function quantitiesOf(plan: LineFile | undefined): string[] {
  const text = plan ? new TextDecoder().decode(plan.bytes) : '';
  return /"kind":\s*"serve"/.test(text) ? OF_SERVING : OF_TRAINING;
}

export function ExplainPage(props: { route: Route }) {
  const { params } = props.route;
  const { file, error } = useFile(params['plan']);
  const example = useMemo(() => ({ path: 'plan.json', bytes: new TextEncoder().encode(EXAMPLE_PLAN) }), []);
  const plan = params['plan'] ? file : example;
  const quantities = quantitiesOf(plan);
  const asked = params['of'] ?? '';
  const quantity = quantities.includes(asked) ? asked : (quantities[0] ?? 'step_time');
  const line = plan ? { words: ['explain', plan.path, quantity, '--json'], files: [plan] } : null;
  const answer = useAnswer<ExplainAnswer>('quick', 'explain', line);
  return (
    <>
      <h1>Explain</h1>
      <p class="lead">How a number of a plan comes about: what it is made of, with its numbers, down to facts of the chip and the network.</p>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <ChoiceField label="Quantity" value={quantity} choices={quantities.map((name) => [name, name.replace(/_/g, ' ')] as const)} change={(value) => setParams({ of: value })} />
        <FileField label={params['plan'] ? `Plan: ${packedName(params['plan'])}; drop another` : 'An example is shown; drop a plan of your own'} accept=".json" take={(taken) => void packFile(taken).then((packed) => setParams({ plan: packed }))} />
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
