// Rows of an answer as they are: a column a key, numbers by the unit that the key ends in.
import type { Formats } from './format';
import { useFormats } from './format';
import { Table } from './table';

type Row = Record<string, unknown>;

function textOf(key: string, value: unknown, f: Formats): string {
  if (typeof value !== 'number') return value === null || value === undefined ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (key.endsWith('_per_s')) return f.si(value);
  if (key.endsWith('_s')) return f.seconds(value);
  if (key.endsWith('bytes')) return f.bytes(value);
  if (key.endsWith('flops')) return f.si(value);
  return Number.isInteger(value) ? f.exact(value) : f.rate(value);
}

function sortable(value: unknown): number | string | null {
  return typeof value === 'number' || typeof value === 'string' ? value : null;
}

export function RowsTable(props: { caption: string; rows: Row[] }) {
  const f = useFormats();
  const keys = Object.keys(props.rows[0] ?? {});
  if (keys.length === 0) return null;
  return (
    <Table
      caption={props.caption}
      rows={props.rows.map((row, i): Row & { i: number } => ({ ...row, i }))}
      rowKey={(row) => String(row.i)}
      columns={keys.map((key) => ({
        key,
        head: key.replace(/_(s|bytes)$/, '').replace(/_/g, ' '),
        isText: typeof props.rows[0]?.[key] !== 'number',
        cell: (row: Row) => textOf(key, row[key], f),
        sort: (row: Row) => sortable(row[key]),
      }))}
    />
  );
}
