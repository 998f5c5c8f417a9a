// A file of requests dropped in, played against the chosen deployment.
import type { ServeAnswer, ServeLayout, Spread, StreamAnswer } from '../engine/answers';
import { Download } from '../parts/download';
import { FileField } from '../parts/field';
import { useFormats } from '../parts/format';
import { Answered, Facts, SameLine } from '../parts/notice';
import { Table } from '../parts/table';
import { useAnswer } from '../state/answer';
import { useModel } from '../state/model_choice';
import { packedName, packFile, useFile } from '../state/packed_file';
import { setParams } from '../state/route';
import type { Params } from '../state/serving_question';
import { allKnobs, knobWords, PLAN_FILE, subjectWords } from '../state/serving_question';

function Played(props: { found: StreamAnswer }) {
  const f = useFormats();
  const { found } = props;
  const rows: [string, Spread][] = [['first token', found.ttft_s], ['each token', found.tpot_s], ['whole answer', found.e2e_s]];
  const column = (key: keyof Spread, head: string) => ({ key, head, cell: ([, spread]: [string, Spread]) => f.seconds(spread?.[key]) });
  return (
    <>
      <Facts
        facts={[
          { name: 'Requests', value: f.exact(found.requests), note: `${f.exact(found.completed)} completed` },
          { name: 'Goodput', value: f.double(found.goodput_requests_per_s), note: 'requests a second within the goals' },
          { name: 'Output', value: f.double(found.output_tokens_per_s), note: 'tokens a second' },
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
    </>
  );
}

export function ServingStream(props: { answer: ServeAnswer; layout: ServeLayout; params: Params; isDone: boolean }) {
  const { params } = props;
  const model = useModel(params['model']);
  const isBest = props.layout === props.answer.layouts[0];
  const words = model.word ? [...subjectWords(params, model.word), ...(isBest ? knobWords(params) : allKnobs(props.layout)), '--top', '1', '--plan', PLAN_FILE, '--json'] : [];
  const planned = useAnswer<ServeAnswer>('thorough', 'serve-plan', props.isDone && model.word ? { words, files: model.files, wants: [PLAN_FILE] } : null);
  const plan = planned.files.find((one) => one.path === PLAN_FILE);
  const { file, error } = useFile(params['requests']);
  const line = plan && file ? { words: ['simulate', PLAN_FILE, '--requests', file.path, '--json'], files: [plan, file, ...model.files] } : null;
  const played = useAnswer<StreamAnswer>('thorough', 'stream', line);
  return (
    <section>
      <h2>A stream of requests</h2>
      <div class="fields">
        <FileField label={params['requests'] ? `Requests: ${packedName(params['requests'])}; drop others` : 'Drop a file of requests (JSON lines or CSV) to play it against this deployment'} take={(taken) => void packFile(taken).then((packed) => setParams({ requests: packed }))} />
        <Download file={plan} name="serve.json" label="Download the plan" />
      </div>
      {error && <p class="complaint" role="alert">{error}</p>}
      {line && <SameLine words={line.words} />}
      {line && <Answered answer={played}>{(found) => <Played found={found} />}</Answered>}
    </section>
  );
}
