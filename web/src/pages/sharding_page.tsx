// Sharding: an einsum, its arrays cut on a mesh, the collectives that it needs.
import { useMemo } from 'preact/hooks';
import type { ShardAnswer, ShardArray, ShardStrategy } from '../engine/answers';
import type { Place } from '../parts/array_drawing';
import { ArrayDrawing } from '../parts/array_drawing';
import { ChoiceField, TextField } from '../parts/field';
import type { Formats } from '../parts/format';
import { useFormats } from '../parts/format';
import { Answered, Facts, SameLine } from '../parts/notice';
import { Table } from '../parts/table';
import { useAnswer } from '../state/answer';
import type { Route } from '../state/route';
import { setParams } from '../state/route';

const USUAL = {
  expr: 'A[I@x,J] * B[J,K@y] -> C[I@x,K]',
  mesh: 'x=4,y=2',
  dims: 'I=8192,J=8192,K=28672',
  on: 'v5p:4x2x1',
};

/** The four cases of a sharded product, and a layer of a transformer. */
const EXAMPLES: [string, string][] = [
  ['no contracted dim is cut', 'A[I@x,J] * B[J,K@y] -> C[I@x,K@y]'],
  ['one operand’s contracted dim is cut', 'A[I,J@x] * B[J,K] -> C[I,K]'],
  ['both contracted dims are cut', 'A[I,J@x] * B[J@x,K] -> C[I,K]'],
  ['an axis cuts both outputs', 'A[I@x,J] * B[J,K@x] -> C[I@x,K]'],
  ['FSDP and TP', 'A[I@x,J] * B[J@x,K@y] -> C[I@x,K@y]'],
];

function placesOf(mesh: Readonly<Record<string, number>>): Place[] {
  return Object.entries(mesh).reduce<Place[]>(
    (places, [axis, size]) => places.flatMap((place) => Array.from({ length: Math.min(size, 16) }, (_, at) => ({ ...place, [axis]: at }))),
    [{}],
  );
}

function placeText(place: Place): string {
  return Object.entries(place).map(([axis, at]) => `${axis}=${at}`).join(',');
}

function Drawings(props: { title: string; arrays: ShardArray[]; answer: ShardAnswer; place: Place }) {
  const largest = Math.max(...Object.values(props.answer.dims));
  return (
    <section>
      <h2>{props.title}</h2>
      <div class="arrays">
        {props.arrays.map((array) => (
          <ArrayDrawing key={array.name} array={array} mesh={props.answer.mesh} place={props.place} largest={largest} />
        ))}
      </div>
    </section>
  );
}

function Steps(props: { strategy: ShardStrategy; f: Formats }) {
  const { f } = props;
  return (
    <Table
      caption="What the chosen strategy does, in order"
      rows={props.strategy.collectives.map((step, i) => ({ ...step, i }))}
      rowKey={(step) => String(step.i)}
      columns={[
        { key: 'text', head: 'step', isText: true, cell: (step) => <code>{step.text}</code> },
        { key: 'when', head: 'when', isText: true, cell: (step) => (step.is_before_product ? 'before the product' : 'after it') },
        { key: 'bytes', head: 'array', cell: (step) => f.bytes(step.bytes) },
        { key: 'sent', head: 'sent by a chip', cell: (step) => f.bytes(step.sent_bytes) },
        { key: 'time', head: 'time', cell: (step) => f.seconds(step.time_s) },
        { key: 'bound', head: 'limit', cell: (step) => f.seconds(step.bound_time_s) },
      ]}
    />
  );
}

function namesOf(strategy: ShardStrategy): string {
  return strategy.collectives.map((step) => step.text).join('; ') || 'nothing moves';
}

function ShardAnswered(props: { answer: ShardAnswer; params: Readonly<Record<string, string>> }) {
  const f = useFormats();
  const { answer, params } = props;
  const places = useMemo(() => placesOf(answer.mesh), [answer.mesh]);
  const place = places.find((one) => placeText(one) === params['chip']) ?? places[0] ?? {};
  const at = Math.min(Number(params['strategy'] ?? 1), answer.strategies.length) - 1;
  const strategy = answer.strategies[at];
  if (!strategy) return <p class="quiet">There is no way to get what is wanted.</p>;
  const best = answer.strategies[0];
  return (
    <>
      <Facts
        facts={[
          { name: 'Chosen strategy', value: f.seconds(strategy.time_s), note: `limit ${f.seconds(strategy.bound_time_s)}, bound by ${strategy.bound_by ?? '–'}` },
          { name: 'Network', value: f.seconds(strategy.network_s), note: answer.placement ? Object.entries(answer.placement).map(([axis, on]) => `${axis} on ${on}`).join('; ') : 'no slice: bytes alone' },
          { name: 'Product', value: f.seconds(strategy.compute_s) },
          { name: 'Sent by a chip', value: f.bytes(strategy.sent_bytes_per_chip), note: `holds ${f.bytes(strategy.held_bytes_per_chip)}` },
          { name: 'Best of', value: f.exact(answer.strategies.length), note: best ? namesOf(best) : undefined },
        ]}
      />
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <ChoiceField label="Chip whose parts are filled" value={placeText(place)} choices={places.map((one) => [placeText(one), placeText(one)] as const)} change={(value) => setParams({ chip: value })} />
      </form>
      <Drawings title="As given" arrays={answer.arrays} answer={answer} place={place} />
      <Drawings title="As multiplied, with the output as wanted" arrays={strategy.arrays} answer={answer} place={place} />
      <Steps strategy={strategy} f={f} />
      <Table
        caption="Strategies, best first: choose one"
        rows={answer.strategies.map((one, i) => ({ ...one, i }))}
        rowKey={(one) => String(one.i)}
        isChosen={(one) => one.i === at}
        sortParam="by"
        columns={[
          {
            key: 'choose', head: 'strategy', isText: true, sort: (one) => one.i,
            cell: (one) => (
              <label class="check">
                <input type="radio" name="strategy" checked={one.i === at} onChange={() => setParams({ strategy: String(one.i + 1) })} /> {namesOf(one)}
              </label>
            ),
          },
          { key: 'time', head: 'time', cell: (one) => f.seconds(one.time_s), sort: (one) => one.time_s },
          { key: 'bound', head: 'limit', cell: (one) => f.seconds(one.bound_time_s), sort: (one) => one.bound_time_s },
          { key: 'by', head: 'bound by', isText: true, cell: (one) => one.bound_by ?? '–', sort: (one) => one.bound_by },
          { key: 'sent', head: 'sent', cell: (one) => f.bytes(one.sent_bytes_per_chip), sort: (one) => one.sent_bytes_per_chip },
          { key: 'held', head: 'held', cell: (one) => f.bytes(one.held_bytes_per_chip), sort: (one) => one.held_bytes_per_chip },
        ]}
      />
    </>
  );
}

export function ShardingPage(props: { route: Route }) {
  const { params } = props.route;
  const value = (name: keyof typeof USUAL) => params[name] ?? USUAL[name];
  const on = value('on');
  const words = ['shard', value('expr'), '--mesh', value('mesh'), '--dims', value('dims'), ...(on && on !== 'none' ? ['--on', on] : []), '--json'];
  const answer = useAnswer<ShardAnswer>('quick', 'shard', { words });
  const change = (name: string) => (text: string) => setParams({ [name]: text, strategy: undefined, chip: undefined });
  return (
    <>
      <h1>Sharding</h1>
      <p class="lead">
        Arrays cut on a mesh: <code>I@x</code> cuts dim I over axis x, <code>{'{U@y}'}</code> are partial sums over y. Every strategy that gives what is wanted is priced.
      </p>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <TextField label="Expression" isWide value={value('expr')} change={change('expr')} />
        <TextField label="Mesh" value={value('mesh')} change={change('mesh')} />
        <TextField label="Sizes" value={value('dims')} change={change('dims')} />
        <TextField label="Slice, or none" value={on} change={change('on')} />
      </form>
      <p class="examples">
        Examples:{' '}
        {EXAMPLES.map(([name, expr]) => (
          <button key={name} type="button" onClick={() => change('expr')(expr)}>{name}</button>
        ))}
      </p>
      <SameLine words={words} />
      <Answered answer={answer}>{(found) => <ShardAnswered answer={found} params={params} />}</Answered>
    </>
  );
}
