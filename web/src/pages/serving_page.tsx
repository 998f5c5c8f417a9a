// Serving: the best deployments of a model on a slice, between latency and cost.
import { useMemo } from 'preact/hooks';
import type { ModelsAnswer, ServeAnswer, ServeLayout } from '../engine/answers';
import { Download } from '../parts/download';
import { DerivationDialog } from '../parts/explained';
import { useFormats } from '../parts/format';
import { FrontChart } from '../parts/front_chart';
import { Kept } from '../parts/kept';
import { SameLine } from '../parts/notice';
import { useFact } from '../state/answer';
import type { Route } from '../state/route';
import type { ServingQuestion } from '../state/serving_question';
import { PLAN_FILE, planOf, useServing } from '../state/serving_question';
import { ServingFields } from './serving_fields';
import { ServingLayout } from './serving_layout';
import { ServingLimits, ServingReasons } from './serving_reasons';
import { ServingStream } from './serving_stream';
import { ServingLayouts, ServingRefused } from './serving_tables';

function Progress(props: { question: ServingQuestion }) {
  const f = useFormats();
  const { answer, isNarrowed, isNoneLike, isStale } = props.question;
  const search = answer.value?.search;
  const text = isNarrowed
    ? `Deployments like the last best one, in ${f.seconds(answer.ms * 1e-3)}; searching all…`
    : isNoneLike
      ? 'No deployment like the last best one will do; searching all deployments…'
    : isStale
      ? 'Searching all deployments…'
      : search
        ? `${f.exact(search.covered)} deployments covered, in ${f.seconds(answer.ms * 1e-3)}`
        : '';
  return <p class="quiet" role="status" data-state={isNarrowed || isNoneLike ? 'narrowed' : isStale ? 'stale' : 'done'}>{text}</p>;
}

/** "best2", "front5", or nothing: the best. */
function chosenOf(answer: ServeAnswer, param: string | undefined): { layout: ServeLayout | undefined; title: string } {
  const [, list, number] = /^(best|front)(\d+)$/.exec(param ?? '') ?? [];
  const layouts = list === 'front' ? answer.pareto : answer.layouts;
  const layout = layouts?.[Number(number ?? 1) - 1] ?? answer.layouts[0];
  const title = layout === answer.layouts[0] ? 'Best deployment' : 'Chosen deployment';
  return { layout, title };
}

function NoneKeeps(props: { answer: ServeAnswer }) {
  const { nearest } = props.answer;
  return (
    <>
      <h2>Nothing keeps the goals</h2>
      {nearest ? <ServingLayout layout={nearest} title="Nearest to them" /> : <p>No deployment of this model fits here.</p>}
      <ServingRefused answer={props.answer} />
    </>
  );
}

function Answer(props: { question: ServingQuestion; route: Route }) {
  const { answer } = props.question;
  if (answer.error) return <p class="complaint" role="alert">{answer.error}</p>;
  return answer.value ? <Found {...props} found={answer.value} /> : null;
}

/** The chart and the tables: between the deployments. While a slider moves they are those
 *  of the last search over all. */
function Deployments(props: { found: ServeAnswer; layout: ServeLayout | undefined }) {
  const { found, layout } = props;
  const chosen = layout ?? found.layouts[0];
  const front = found.pareto ?? [];
  if (!chosen) return null;
  return (
    <div class={layout ? '' : 'busy'}>
      {front.length > 0 && (
        <section>
          <h2>Between speed for a user and throughput of a chip</h2>
          <FrontChart front={front} others={found.layouts} chosen={chosen} />
        </section>
      )}
      <ServingLayouts caption="Deployments, best first: choose one" layouts={found.layouts} chosen={chosen} param="best" />
      {front.length > 0 && <ServingLayouts caption="The front: choose one" layouts={front} chosen={chosen} param="front" />}
      <ServingRefused answer={found} />
    </div>
  );
}

function Found(props: { question: ServingQuestion; route: Route; found: ServeAnswer }) {
  const { question, route, found } = props;
  const { answer, isNarrowed } = question;
  const { layout, title } = chosenOf(found, route.params['layout']);
  const plan = useMemo(() => layout && planOf(answer.files, layout), [answer.files, layout]);
  if (!layout) return <NoneKeeps answer={found} />;
  const all = question.full.value ?? found;
  const quantity = route.params['explain'];
  const price = route.params['price'];
  const explain = plan && quantity ? { words: ['explain', PLAN_FILE, quantity, ...(price ? ['--price', price] : []), '--json'], files: [plan, ...(question.line?.files ?? [])] } : null;
  return (
    <div class={question.isStale ? 'busy' : ''} aria-busy={question.isStale}>
      <Kept by={[layout, title]}>{() => <ServingLayout layout={layout} title={title} />}</Kept>
      <ServingLimits answer={found} />
      <p class="examples">
        <Download file={plan} name={`${found.model.replace(/[^A-Za-z0-9.-]/g, '-')}-serve.json`} label="Download the plan" />
      </p>
      <Kept by={[all, isNarrowed ? undefined : layout]}>{() => <Deployments found={all} layout={isNarrowed ? undefined : layout} />}</Kept>
      <ServingReasons params={route.params} />
      <ServingStream plan={plan} params={route.params} />
      {quantity && explain && <DerivationDialog quantity={quantity} line={explain} />}
    </div>
  );
}

export function ServingPage(props: { route: Route }) {
  const listed = useFact<ModelsAnswer>(['model', '--json']);
  const question = useServing(props.route.params);
  return (
    <>
      <h1>Serving</h1>
      <p class="lead">The best deployments of a model on a slice: time to the first token, time of each, throughput, cost; what keeps the goals, and what does not.</p>
      <ServingFields params={props.route.params} models={listed.value?.models.map((model) => model.name) ?? []} />
      {question.modelError && <p class="complaint" role="alert">{question.modelError}</p>}
      {question.line && <SameLine words={question.line.words} />}
      <Progress question={question} />
      <Answer question={question} route={props.route} />
    </>
  );
}
