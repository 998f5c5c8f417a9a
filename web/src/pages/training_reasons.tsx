// What would change the answer: asked for, since it searches many times.
import type { TrainAnswer } from '../engine/answers';
import { ChangeBars } from '../parts/change_bars';
import { useFormats } from '../parts/format';
import { Answered } from '../parts/notice';
import { Table } from '../parts/table';
import { useAnswer } from '../state/answer';
import { useModel } from '../state/model_choice';
import { setParams } from '../state/route';
import type { Params } from '../state/training_question';
import { knobWords, subjectWords } from '../state/training_question';

export function TrainingReasons(props: { params: Params }) {
  const f = useFormats();
  const { params } = props;
  const model = useModel(params['model']);
  const isAsked = params['reasons'] === '1';
  const words = model.word ? [...subjectWords(params, model.word), ...knobWords(params), '--reasons', '--json'] : [];
  const answer = useAnswer<TrainAnswer>('thorough', 'reasons', isAsked && model.word ? { words, files: model.files } : null);
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
              rows={found.relaxations}
              rowKey={(row) => row.change}
              columns={[
                { key: 'what', head: 'change', isText: true, cell: (row) => row.what },
                { key: 'step', head: 'step', cell: (row) => f.seconds(row.step_time_s), sort: (row) => row.step_time_s },
                { key: 'token', head: 'time of a token', cell: (row) => f.percent(row.token_time_change), sort: (row) => row.token_time_change },
              ]}
            />
            <ChangeBars caption="The step, if one number were a tenth larger" changes={found.sensitivity} />
          </div>
        )}
      </Answered>
    </section>
  );
}
