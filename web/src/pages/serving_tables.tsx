// Deployments as tables to sort and choose from, and why others were refused.
import type { ServeAnswer, ServeLayout } from '../engine/answers';
import { useFormats } from '../parts/format';
import { Table } from '../parts/table';
import { setParams } from '../state/route';
import { layoutText } from '../state/serving_question';

export function ServingLayouts(props: { caption: string; layouts: ServeLayout[]; chosen: ServeLayout; param: string }) {
  const f = useFormats();
  return (
    <Table
      caption={props.caption}
      sortParam={`by-${props.param}`}
      rows={props.layouts.map((layout, i) => ({ ...layout, i, isChosen: layout === props.chosen }))}
      rowKey={(row) => String(row.i)}
      isChosen={(row) => row.isChosen}
      columns={[
        {
          key: 'layout', head: 'deployment', isText: true, sort: (row) => row.i,
          cell: (row) => (
            <label class="check">
              <input type="radio" name="deployment" checked={row.isChosen} onChange={() => setParams({ layout: `${props.param}${row.i + 1}` })} /> {layoutText(row)}
            </label>
          ),
        },
        { key: 'batch', head: 'batch', cell: (row) => f.exact(row.batch), sort: (row) => row.batch },
        { key: 'ttft', head: 'first token', cell: (row) => f.seconds(row.ttft_s), sort: (row) => row.ttft_s },
        { key: 'tpot', head: 'each token', cell: (row) => f.seconds(row.tpot_s), sort: (row) => row.tpot_s },
        { key: 'user', head: 'tokens/s a user', cell: (row) => f.rate(row.tokens_per_s_per_user), sort: (row) => row.tokens_per_s_per_user },
        { key: 'chip', head: 'tokens/s a chip', cell: (row) => f.rate(row.tokens_per_s_per_chip), sort: (row) => row.tokens_per_s_per_chip },
        { key: 'rate', head: 'requests/s', cell: (row) => f.rate(row.requests_per_s), sort: (row) => row.requests_per_s },
        { key: 'usd', head: '$ a million', cell: (row) => f.usd(row.usd_per_million_tokens), sort: (row) => row.usd_per_million_tokens },
        { key: 'by', head: 'held back by', isText: true, cell: (row) => row.bottleneck, sort: (row) => row.bottleneck },
      ]}
    />
  );
}

export function ServingRefused(props: { answer: ServeAnswer }) {
  const f = useFormats();
  const refused = props.answer.refused ?? [];
  if (refused.length === 0) return null;
  return (
    <Table
      caption="Layouts refused"
      rows={refused.map((row, i) => ({ ...row, i }))}
      rowKey={(row) => String(row.i)}
      columns={[
        { key: 'why', head: 'why', isText: true, cell: (row) => row.why },
        { key: 'like', head: 'such as', isText: true, cell: (row) => `tp ${row.tp} · pp ${row.pp} · ep ${row.ep}` },
        { key: 'layouts', head: 'layouts', cell: (row) => f.exact(row.layouts), sort: (row) => row.layouts },
      ]}
    />
  );
}
