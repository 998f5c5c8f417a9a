// What would change the answer: asked for, since it searches many times.
import type { ServeAnswer } from '../engine/answers';
import { ChangeBars } from '../parts/change_bars';
import { useFormats } from '../parts/format';
import { Answered } from '../parts/notice';
import { Table } from '../parts/table';
import { useAnswer } from '../state/answer';
import { useModel } from '../state/model_choice';
import { setParams } from '../state/route';
import type { Params } from '../state/serving_question';
import { knobWords, subjectWords } from '../state/serving_question';

/** Where the batch stops helping, of the best deployment. */
export function ServingLimits(props: { answer: ServeAnswer }) {
  const f = useFormats();
  const { limits } = props.answer;
  if (!limits) return null;
  return (
    <p class="quiet">
      Compute bound from a batch of {f.exact(limits.critical_batch)}; the cache outweighs the weights from {f.exact(limits.crossover_batch)}; at most {f.exact(limits.largest_batch)} sequences fit
      {limits.held_back_by && limits.held_back_by !== 'fits' ? `; a larger batch is held back: ${limits.held_back_by}` : ''}. Longest context of one: {f.exact(limits.longest_context_tokens)} tokens.
    </p>
  );
}

export function ServingReasons(props: { params: Params }) {
  const f = useFormats();
  const { params } = props;
  const model = useModel(params['model']);
  const isAsked = params['reasons'] === '1';
  const words = model.word ? [...subjectWords(params, model.word), ...knobWords(params), '--reasons', '--json'] : [];
  const answer = useAnswer<ServeAnswer>('thorough', 'reasons', isAsked && model.word ? { words, files: model.files } : null);
  if (!isAsked) {
    return (
      <p>
        <button type="button" onClick={() => setParams({ reasons: '1' })}>What would help most?</button>
      </p>
    );
  }
  return (
    <section>
      <h2>What would change the answer</h2>
      <Answered answer={answer}>
        {(found) => (
          <div class="columns">
            <Table
              caption="Allowing something more"
              rows={found.relaxations ?? []}
              rowKey={(row) => row.change}
              columns={[
                { key: 'what', head: 'change', isText: true, cell: (row) => `${row.what}: ${row.change}` },
                { key: 'gain', head: 'gain', cell: (row) => f.percent(row.gain), sort: (row) => row.gain },
                { key: 'ttft', head: 'first token', cell: (row) => f.seconds(row.ttft_s), sort: (row) => row.ttft_s },
                { key: 'tpot', head: 'each token', cell: (row) => f.seconds(row.tpot_s), sort: (row) => row.tpot_s },
              ]}
            />
            <ChangeBars
              caption="Throughput, if one number were a tenth larger"
              isMoreBetter
              changes={(found.sensitivity ?? []).map((one) => ({ change: one.change, step_change: one.throughput_change }))}
            />
          </div>
        )}
      </Answered>
    </section>
  );
}
