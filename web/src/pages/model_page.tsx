// A model: what it is made of and what it takes.
import type { ModelAnswer, ModelsAnswer } from '../engine/answers';
import type { Formats } from '../parts/format';
import { useFormats } from '../parts/format';
import { BarStack } from '../parts/bar_stack';
import { DerivationDialog, Explained } from '../parts/explained';
import { FileField, TextField } from '../parts/field';
import { Answered, Facts, SameLine } from '../parts/notice';
import { Table } from '../parts/table';
import { useAnswer, useFact } from '../state/answer';
import { useModel } from '../state/model_choice';
import { packedName, packFile } from '../state/packed_file';
import type { Route } from '../state/route';
import { setParams } from '../state/route';

const PARTS = ['attention', 'mlp', 'router', 'experts', 'embedding', 'unembedding', 'norm', 'mtp', 'vision'];

function words(name: string): string {
  return name.replace(/_/g, ' ');
}

function told(quantity: string, text: string) {
  return <Explained quantity={quantity}>{text}</Explained>;
}

function factsOf(model: ModelAnswer, f: Formats) {
  const p = model.parameters;
  return [
    { name: 'Parameters', value: told('parameters', f.count(p['total'])), note: f.exact(p['total']) },
    ...(p['active'] !== p['total'] ? [{ name: 'Active per token', value: told('active', f.count(p['active'])) }] : []),
    { name: 'Weights, as in the checkpoint', value: told('weights', f.bytes(model.weight_bytes)) },
    { name: 'FLOPs per token, forward', value: told('flops', f.unit(model.flops_per_token.forward, 'FLOPs')) },
    { name: 'FLOPs per token, training', value: told('flops_train', f.unit(model.flops_per_token.train, 'FLOPs')) },
    { name: 'KV cache per token', value: told('kv', f.bytes(model.kv_bytes_per_token)), note: 'bf16' },
    { name: 'Layers', value: String(model.layers), note: `width ${f.exact(model.d_model)}, vocabulary ${f.exact(model.vocab)}` },
  ];
}

/** @param prefix  of the quantities that explain the parts */
function Parts(props: { title: string; parts: Record<string, number>; text(value: number): string; names?: string[]; prefix?: string }) {
  const entries = (props.names ?? Object.keys(props.parts)).map((name) => ({ name: words(name), value: props.parts[name] ?? 0, text: props.text(props.parts[name] ?? 0), quantity: `${props.prefix ?? ''}${name}` }));
  return (
    <section>
      <h2>{props.title}</h2>
      <BarStack label={props.title} parts={entries} />
    </section>
  );
}

function ByFormat(props: { caption: string; bytes: Record<string, number>; f: Formats; quantity: string }) {
  return (
    <Table
      caption={props.caption}
      rows={Object.entries(props.bytes)}
      rowKey={([name]) => name}
      columns={[
        { key: 'name', head: 'format', isText: true, cell: ([name]) => name, sort: ([name]) => name },
        { key: 'bytes', head: 'bytes', cell: ([, bytes]) => told(props.quantity, props.f.bytes(bytes)), sort: ([, bytes]) => bytes },
      ]}
    />
  );
}

function ModelAnswered(props: { model: ModelAnswer }) {
  const f = useFormats();
  const { model } = props;
  return (
    <>
      <Facts facts={factsOf(model, f)} />
      <Parts title="Parameters by part" parts={model.parameters} names={PARTS} text={f.count} />
      <Parts title={`FLOPs of a token by part, forward, at ${f.exact(model.seq_tokens)} tokens`} parts={model.flops_per_token.forward_parts} text={(v) => f.unit(v, 'FLOPs')} prefix="flops_" />
      <section>
        <h2>Layers</h2>
        <ul>
          {model.layer_kinds.map((kind) => (
            <li key={kind.mixer + kind.ffn}>
              {kind.count} × {kind.mixer}; {kind.ffn}
              {kind.is_encoder ? ' (encoder)' : ''}
            </li>
          ))}
        </ul>
        <p>Heads divide by a tensor-parallel degree of {model.legal_tp.join(', ')}.</p>
      </section>
      <div class="columns">
        <ByFormat caption="Weights by format" bytes={model.weight_bytes_by_dtype} f={f} quantity="weights" />
        <ByFormat caption="Training state by precision policy" bytes={model.training_state_bytes} f={f} quantity="training" />
        <Table
          caption="FLOPs of a token in training, as each convention counts them"
          rows={Object.entries(model.conventions)}
          rowKey={([name]) => name}
          columns={[
            { key: 'name', head: 'convention', isText: true, cell: ([name]) => name, sort: ([name]) => name },
            { key: 'flops', head: 'FLOPs', cell: ([, flops]) => told('conventions', f.unit(flops, 'FLOPs')), sort: ([, flops]) => flops },
          ]}
        />
        <Table
          caption="Activations kept for the backward pass, per token"
          rows={Object.entries(model.remat)}
          rowKey={([name]) => name}
          columns={[
            { key: 'name', head: 'remat', isText: true, cell: ([name]) => name, sort: ([name]) => name },
            { key: 'bytes', head: 'kept', cell: ([, v]) => told('activations', f.bytes(v.activation_bytes_per_token)), sort: ([, v]) => v.activation_bytes_per_token },
            { key: 'flops', head: 'computed again', cell: ([, v]) => f.unit(v.recomputed_flops_per_token, 'FLOPs'), sort: ([, v]) => v.recomputed_flops_per_token },
          ]}
        />
      </div>
      {model.notes.length > 0 && (
        <section>
          <h2>Notes</h2>
          <ul>{model.notes.map((note) => <li key={note}>{note}</li>)}</ul>
        </section>
      )}
    </>
  );
}

export function ModelPage(props: { route: Route }) {
  const { params } = props.route;
  const listed = useFact<ModelsAnswer>(['model', '--json']);
  const model = useModel(params['model']);
  const seq = params['seq'] ?? '';
  const line = model.word ? { words: ['model', model.word, ...(seq ? ['--seq', seq] : []), '--json'], files: model.files } : null;
  const answer = useAnswer<ModelAnswer>('quick', 'model', line);
  const quantity = params['explain'];
  const explain = model.word && quantity ? { words: ['explain', model.word, quantity, ...(seq ? ['--seq', seq] : []), '--json'], files: model.files } : null;
  return (
    <>
      <h1>Model</h1>
      <p class="lead">What a transformer is made of, and what it takes: parameters, FLOPs, memory, KV cache. Every number opens its derivation.</p>
      <form class="fields" onSubmit={(event) => event.preventDefault()}>
        <TextField label="Model" isWide value={packedName(params['model'] ?? 'llama-3-70b')} names={listed.value?.models.map((m) => m.name) ?? []} change={(value) => setParams({ model: value })} />
        <TextField label="Tokens of a sequence" value={seq} hint="4096" change={(value) => setParams({ seq: value })} />
        <FileField label="or drop a config.json" accept=".json" take={(file) => void packFile(file).then((packed) => setParams({ model: packed }))} />
      </form>
      {model.error && <p class="complaint" role="alert">{model.error}</p>}
      {line && <SameLine words={line.words} />}
      <Answered answer={answer}>{(value) => <ModelAnswered model={value} />}</Answered>
      {quantity && explain && <DerivationDialog quantity={quantity} line={explain} />}
    </>
  );
}
