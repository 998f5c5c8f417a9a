// An HLO module: what it computes, moves and waits for.
import type { HloAnswer } from '../engine/answers';
import { BarStack } from '../parts/bar_stack';
import { useFormats } from '../parts/format';
import { Facts } from '../parts/notice';
import { RowsTable } from '../parts/rows_table';
import { Table } from '../parts/table';

const OPS_MOST = 100;

export function ModuleAnswered(props: { found: HloAnswer }) {
  const f = useFormats();
  const { found } = props;
  const isPriced = found.time_s !== null && found.time_s !== undefined;
  const parts = Object.entries(found.categories ?? {}).map(([name, one]) => {
    const value = isPriced ? (one.time_s ?? 0) : one.bytes;
    return { name, value, text: isPriced ? f.seconds(value) : f.bytes(value) };
  });
  return (
    <>
      <h2>{found.module}</h2>
      <Facts
        facts={[
          { name: 'FLOPs', value: f.unit(found.flops, 'FLOPs'), note: `${f.exact(found.instructions)} instructions, ${f.exact(found.devices)} devices` },
          { name: 'Bytes', value: f.bytes(found.bytes), note: `${f.rate(found.intensity_flops_per_byte)} FLOPs per byte` },
          { name: 'Time', value: f.seconds(found.time_s), note: isPriced ? `limit ${f.seconds(found.bound_time_s)}, bound by ${found.bound_by}` : 'say where it runs to have it priced' },
          { name: 'Communication, exposed', value: f.seconds(found.exposed_s), note: `hidden ${f.seconds(found.hidden_s)}` },
          { name: 'Memory at its peak', value: f.bytes(found.peak_memory_bytes) },
        ]}
      />
      <h2>{isPriced ? 'Where the time goes' : 'Where the bytes go'}</h2>
      <BarStack label={isPriced ? 'Time of the module' : 'Bytes of the module'} parts={parts} />
      <Table
        caption="Operations"
        sortParam="by"
        rows={found.ops.slice(0, OPS_MOST).map((op, i) => ({ ...op, i }))}
        rowKey={(op) => String(op.i)}
        columns={[
          { key: 'name', head: 'operation', isText: true, cell: (op) => <code class="long">{op.name}</code>, sort: (op) => op.name },
          { key: 'category', head: 'category', isText: true, cell: (op) => op.category, sort: (op) => op.category },
          { key: 'times', head: 'times', cell: (op) => f.exact(op.times), sort: (op) => op.times },
          { key: 'flops', head: 'FLOPs', cell: (op) => f.si(op.flops), sort: (op) => op.flops },
          { key: 'bytes', head: 'bytes', cell: (op) => f.bytes(op.bytes), sort: (op) => op.bytes },
          { key: 'time', head: 'time', cell: (op) => f.seconds(op.time_s), sort: (op) => op.time_s },
          { key: 'bound', head: 'limit', cell: (op) => f.seconds(op.bound_s), sort: (op) => op.bound_s },
          { key: 'by', head: 'bound by', isText: true, cell: (op) => op.bound_by ?? '–', sort: (op) => op.bound_by },
          { key: 'source', head: 'source', isText: true, cell: (op) => op.source, sort: (op) => op.source },
        ]}
      />
      <RowsTable caption="Collectives" rows={found.collectives} />
    </>
  );
}
