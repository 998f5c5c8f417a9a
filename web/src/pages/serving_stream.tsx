// A file of requests dropped in, played against the chosen deployment.
import type { Spread, StreamAnswer } from '../engine/answers';
import type { LineFile } from '../engine/wire';
import { BarStack } from '../parts/bar_stack';
import { FileField, TextField } from '../parts/field';
import { useFormats } from '../parts/format';
import { Answered, Facts, SameLine } from '../parts/notice';
import { Table } from '../parts/table';
import { useAnswer } from '../state/answer';
import { useModel } from '../state/model_choice';
import { packedName, packFile, useFile } from '../state/packed_file';
import { setParams } from '../state/route';
import type { Params } from '../state/serving_question';
import { goalWords, PLAN_FILE } from '../state/serving_question';

function splitParts(split: Record<string, number>, text: (value: number) => string) {
  const parts = Object.entries(split).filter(([key]) => key !== 'total_s');
  return parts.map(([key, value]) => ({ name: key.replace(/_s$/, ''), value, text: text(value) }));
}

function Played(props: { found: StreamAnswer }) {
  const f = useFormats();
  const { found } = props;
  const rows: [string, Spread][] = [['first token', found.ttft_s], ['each token', found.tpot_s], ['whole answer', found.e2e_s]];
  const column = (key: keyof Spread, head: string) => ({ key, head, cell: ([, spread]: [string, Spread]) => f.seconds(spread?.[key]) });
  return (
    <>
      <Facts
        facts={[
          { name: 'Requests', value: f.exact(found.requests), note: `${f.exact(found.completed)} completed${found.refused ? `, ${f.exact(found.refused)} refused` : ''}` },
          { name: 'Goodput', value: f.rate(found.goodput_requests_per_s), note: 'requests a second within the goals' },
          { name: 'Output', value: f.rate(found.output_tokens_per_s), note: 'tokens a second' },
          { name: 'Cache at its fullest', value: f.percent(found.kv?.peak_fraction), note: `${f.exact(found.kv?.preemptions)} preemptions` },
          { name: 'Played', value: f.seconds(found.simulated_s) },
        ]}
      />
      <Table
        caption="Latencies of the requests"
        rows={rows}
        rowKey={([name]) => name}
        columns={[{ key: 'name', head: 'latency', isText: true, cell: ([name]) => name }, column('mean', 'mean'), column('p50', 'p50'), column('p90', 'p90'), column('p99', 'p99')]}
      />
      {found.split && (
        <>
          <h3>What the time to the first token is made of, on average</h3>
          <BarStack label="Time to the first token" parts={splitParts(found.split.ttft, f.seconds)} />
        </>
      )}
    </>
  );
}

export function ServingStream(props: { plan: LineFile | undefined; params: Params }) {
  const { params, plan } = props;
  const model = useModel(params['model']);
  const { file, error } = useFile(params['requests']);
  const drawn = params['draw'] ? ['--rate', params['draw']] : [];
  const source = file ? ['--requests', file.path, ...drawn] : drawn;
  const line = plan && source.length ? { words: ['simulate', PLAN_FILE, ...source, ...goalWords(params), '--json'], files: [plan, ...(file ? [file] : []), ...model.files] } : null;
  const played = useAnswer<StreamAnswer>('thorough', 'stream', line);
  return (
    <section>
      <h2>A stream of requests</h2>
      <div class="fields">
        <FileField label={params['requests'] ? `Requests: ${packedName(params['requests'])}; drop others` : 'Drop a file of requests (Azure, BurstGPT, Mooncake, CSV) to play it against this deployment'} take={(taken) => void packFile(taken).then((packed) => setParams({ requests: packed }))} />
        <TextField label={file ? 'at a rate of its own, a second' : 'or draw requests, a second'} value={params['draw'] ?? ''} hint={file ? 'as in the file' : '2'} change={(draw) => setParams({ draw })} />
      </div>
      {error && <p class="complaint" role="alert">{error}</p>}
      {line && <SameLine words={line.words} />}
      {line && <Answered answer={played}>{(found) => <Played found={found} />}</Answered>}
    </section>
  );
}
