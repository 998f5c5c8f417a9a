// Training: the best layouts of a model on a slice, and what holds them back.
import type { ModelsAnswer, TrainAnswer } from '../engine/answers';
import { useFormats } from '../parts/format';
import { Kept } from '../parts/kept';
import { SameLine } from '../parts/notice';
import { useFact } from '../state/answer';
import type { Route } from '../state/route';
import type { TrainingQuestion } from '../state/training_question';
import { useTraining } from '../state/training_question';
import { TrainingFields } from './training_fields';
import { TrainingLayout } from './training_layout';
import { TrainingLayouts } from './training_layouts';
import { TrainingReasons } from './training_reasons';

function Progress(props: { question: TrainingQuestion }) {
  const f = useFormats();
  const { answer, isNarrowed, isNoneLike, isStale } = props.question;
  const search = answer.value?.search;
  const text = isNarrowed
    ? `Layouts like the last best one, in ${f.seconds(answer.ms * 1e-3)}; searching all…`
    : isNoneLike
      ? 'No layout like the last best one fits; searching all layouts…'
    : isStale
      ? 'Searching all layouts…'
      : search
        ? `${f.exact(search.covered)} layouts covered, ${f.exact(search.priced)} priced, in ${f.seconds(answer.ms * 1e-3)}`
        : '';
  return <p class="quiet" role="status" data-state={isNarrowed || isNoneLike ? 'narrowed' : isStale ? 'stale' : 'done'}>{text}</p>;
}

function Nothing(props: { answer: TrainAnswer }) {
  const f = useFormats();
  return (
    <section>
      <h2>Nothing fits</h2>
      <p>What would:</p>
      <ul>
        {props.answer.relaxations.map((one) => (
          <li key={one.change}>
            <code>{one.change}</code>: {one.what}; a step of {f.seconds(one.step_time_s)} with {one.layout}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Answer(props: { question: TrainingQuestion; route: Route }) {
  const { answer } = props.question;
  const found = answer.value;
  if (answer.error) return <p class="complaint" role="alert">{answer.error}</p>;
  if (!found) return null;
  const at = Math.min(Number(props.route.params['layout'] ?? 1), found.layouts.length) - 1;
  const layout = found.layouts[at];
  if (!layout) return <Nothing answer={found} />;
  return (
    <div class={props.question.isStale ? 'busy' : ''} aria-busy={props.question.isStale}>
      <TrainingLayout answer={found} layout={layout} at={at} params={props.route.params} isDone={!props.question.isNarrowed && !props.question.isStale} />
      <Kept by={[found, at]}>{() => <TrainingLayouts answer={found} at={at} />}</Kept>
      <TrainingReasons params={props.route.params} />
    </div>
  );
}

export function TrainingPage(props: { route: Route }) {
  const listed = useFact<ModelsAnswer>(['model', '--json']);
  const question = useTraining(props.route.params);
  return (
    <>
      <h1>Training</h1>
      <p class="lead">The best layouts of a model on a slice: step time, MFU, memory, and what holds them back. Every number opens its derivation.</p>
      <TrainingFields params={props.route.params} models={listed.value?.models.map((model) => model.name) ?? []} chips={question.answer.value?.chips} />
      {question.modelError && <p class="complaint" role="alert">{question.modelError}</p>}
      {question.line && <SameLine words={question.line.words} />}
      <Progress question={question} />
      <Answer question={question} route={props.route} />
    </>
  );
}
