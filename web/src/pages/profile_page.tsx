// Profile: a trace dropped in, where its time goes; or an HLO module, what it does.
import type { HloAnswer, ProfileAnswer } from '../engine/answers';
import { BarStack } from '../parts/bar_stack';
import { ChoiceField, FileField, TextField } from '../parts/field';
import { useFormats } from '../parts/format';
import { Answered, Facts, SameLine } from '../parts/notice';
import { RowsTable } from '../parts/rows_table';
import { Table } from '../parts/table';
import { useAnswer } from '../state/answer';
import { packedName, packFile, useFile } from '../state/packed_file';
import type { Route } from '../state/route';
import { setParams } from '../state/route';
import EXAMPLE_TRACE from '../../../examples/trace.json?raw';
import EXAMPLE_MODULE from '../../../examples/mlp.hlo?raw';
import { ModuleAnswered } from './module_answered';

const OPS_MOST = 100;

/** Modules by their names; everything else is taken for a trace. */
function isModule(name: string): boolean {
  return /\.(hlo|mlir|stablehlo)(\.txt)?$|\.hlo\.pb$|after_optimizations|before_optimizations/i.test(name) || /\.txt$/i.test(name);
}

/** What others hold, such as the sum of the compute parts, is no part of a step. */
const SUMS = /^(compute_s|exposed_communication_s|hidden_communication_s)$/;

function stepParts(breakdown: Record<string, number>, text: (value: number) => string) {
  const parts = Object.entries(breakdown).filter(([key]) => !SUMS.test(key));
  return parts.map(([key, value]) => ({ name: key.replace(/_s$/, '').replace(/_/g, ' '), value, text: text(value) }));
}

function Profiled(props: { found: ProfileAnswer }) {
  const f = useFormats();
  const { found } = props;
  const b = found.breakdown;
  return (
    <>
      <Facts
        facts={[
          { name: 'Step', value: f.seconds(found.step_time_s), note: `${f.exact(found.steps.length)} steps, ${f.exact(found.devices.length)} devices` },
          { name: 'Compute', value: f.seconds(b['compute_s']), note: `matmul ${f.seconds(b['matmul_s'])}` },
          { name: 'Communication, exposed', value: f.seconds(b['exposed_communication_s']), note: `hidden ${f.seconds(b['hidden_communication_s'])}` },
          { name: 'Idle', value: f.seconds(b['idle_s']) },
          { name: 'Trace', value: f.exact(found.events), note: `events of ${found.format}${found.chip ? `, ${found.chip}` : ''}` },
        ]}
      />
      <h2>Where a step goes</h2>
      <BarStack label="Time of a step" parts={stepParts(b, f.seconds)} />
      {found.advice.length > 0 && (
        <section>
          <h2>What to look at</h2>
          <ul>
            {found.advice.map((one) => (
              <li key={one.key}>
                <b>{one.title}</b>: {one.evidence}
                {one.worth_s ? ` (worth up to ${f.seconds(one.worth_s)} a step)` : ''}
              </li>
            ))}
          </ul>
        </section>
      )}
      <Table
        caption="Operations"
        sortParam="by"
        rows={found.ops.slice(0, OPS_MOST).map((op, i) => ({ ...op, i }))}
        rowKey={(op) => String(op.i)}
        columns={[
          { key: 'name', head: 'operation', isText: true, cell: (op) => <code class="long">{op.name}</code>, sort: (op) => op.name },
          { key: 'class', head: 'class', isText: true, cell: (op) => op.class, sort: (op) => op.class },
          { key: 'count', head: 'count', cell: (op) => f.exact(op.count), sort: (op) => op.count },
          { key: 'time', head: 'time', cell: (op) => f.seconds(op.time_s), sort: (op) => op.time_s },
          { key: 'least', head: 'least', cell: (op) => f.seconds(op.least_s), sort: (op) => op.least_s },
          { key: 'most', head: 'most', cell: (op) => f.seconds(op.most_s), sort: (op) => op.most_s },
        ]}
      />
      <RowsTable caption="Collectives" rows={found.collectives} />
    </>
  );
}

export function ProfilePage(props: { route: Route }) {
  const { params } = props.route;
  const { file, error } = useFile(params['file']);
  const verb = params['as'] ?? (file && isModule(file.path) ? 'hlo' : 'profile');
  const on = params['on'] ? ['--on', params['on']] : [];
  const plan = useFile(params['plan']);
  const against = plan.file && verb === 'profile' ? ['--plan', plan.file.path] : [];
  const line = file ? { words: [verb, file.path, ...on, ...against, '--json'], files: [file, ...(plan.file && against.length ? [plan.file] : [])] } : null;
  const show = (name: string, text: string, where: string) => void packFile(new File([text], name)).then((packed) => setParams({ file: packed, as: undefined, plan: undefined, on: where }));
  const trace = useAnswer<ProfileAnswer>('thorough', 'profile', verb === 'profile' ? line : null);
  const module = useAnswer<HloAnswer>('thorough', 'hlo', verb === 'hlo' ? line : null);
  return (
    <>
      <h1>Profile</h1>
      <p class="lead">A trace or an HLO module, read on this machine: nothing is uploaded.</p>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <FileField label={params['file'] ? `${packedName(params['file'])}; drop another` : 'Drop a trace (PyTorch, JAX, Perfetto; gzip too) or an HLO module'} take={(taken) => void packFile(taken).then((packed) => setParams({ file: packed, as: undefined }))} />
        <ChoiceField label="Read as" value={verb} choices={[['profile', 'a trace'], ['hlo', 'an HLO module']]} change={(as) => setParams({ as })} />
 {verb === 'profile' && (
          <FileField label={params['plan'] ? `Plan: ${packedName(params['plan'])}; drop another` : 'and its plan, to compare with what was predicted'} accept=".json" take={(taken) => void packFile(taken).then((packed) => setParams({ plan: packed }))} />
        )}
        <TextField label="Where it ran" value={params['on'] ?? ''} hint="h100:1x8" change={(value) => setParams({ on: value })} />
      </form>
      <p class="examples">
        Examples:
        <button type="button" onClick={() => show('example.trace.json', EXAMPLE_TRACE, '')}>a step of PyTorch on H100s</button>
        <button type="button" onClick={() => show('mlp.hlo', EXAMPLE_MODULE, 'h100:1x8')}>an HLO module of eight chips, priced on H100s</button>
      </p>
      {plan.error && <p class="complaint" role="alert">{plan.error}</p>}
      {error && <p class="complaint" role="alert">{error}</p>}
      {line && <SameLine words={line.words} />}
      {line && verb === 'profile' && <Answered answer={trace}>{(found) => <Profiled found={found} />}</Answered>}
      {line && verb === 'hlo' && <Answered answer={module}>{(found) => <ModuleAnswered found={found} />}</Answered>}
    </>
  );
}
