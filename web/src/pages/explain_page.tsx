// Explain: a plan dropped in, and how each of its numbers comes about.
import { useMemo } from 'preact/hooks';
import type { ExplainAnswer } from '../engine/answers';
import { ChangeBars } from '../parts/change_bars';
import { DerivationTable } from '../parts/derivation_table';
import { ChoiceField, FileField } from '../parts/field';
import { Answered, SameLine } from '../parts/notice';
import { useAnswer } from '../state/answer';
import { packedName, packFile, useFile } from '../state/packed_file';
import type { Route } from '../state/route';
import { setParams } from '../state/route';
import { EXAMPLE_PLAN } from '../state/example_plan';

const QUANTITIES = ['step_time', 'bound_step_time', 'mfu', 'memory', 'matmul', 'attention', 'vector', 'recompute', 'slowdown', 'tp', 'cp', 'ep', 'imbalance', 'fsdp', 'dp', 'pp', 'bubble', 'optimizer', 'offload', 'goodput', 'days', 'usd'];

export function ExplainPage(props: { route: Route }) {
  const { params } = props.route;
  const { file, error } = useFile(params['plan']);
  const example = useMemo(() => ({ path: 'plan.json', bytes: new TextEncoder().encode(EXAMPLE_PLAN) }), []);
  const plan = params['plan'] ? file : example;
  const quantity = params['of'] ?? 'step_time';
  const line = plan ? { words: ['explain', plan.path, quantity, '--json'], files: [plan] } : null;
  const answer = useAnswer<ExplainAnswer>('quick', 'explain', line);
  return (
    <>
      <h1>Explain</h1>
      <p class="lead">How a number of a plan comes about: what it is made of, with its numbers, down to facts of the chip and the network.</p>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <ChoiceField label="Quantity" value={quantity} choices={QUANTITIES.map((name) => [name, name.replace(/_/g, ' ')] as const)} change={(value) => setParams({ of: value })} />
        <FileField label={params['plan'] ? `Plan: ${packedName(params['plan'])}; drop another` : 'An example is shown; drop a plan of your own'} accept=".json" take={(taken) => void packFile(taken).then((packed) => setParams({ plan: packed }))} />
      </form>
      {error && <p class="complaint" role="alert">{error}</p>}
      {line && <SameLine words={line.words} />}
      <Answered answer={answer}>
        {(found) => (
          <>
            <h2>{found.title}</h2>
            <DerivationTable answer={found} />
            {found.sensitivity && <ChangeBars caption="The step, if one number were a tenth larger" changes={found.sensitivity} />}
          </>
        )}
      </Answered>
    </>
  );
}
