// A table whose columns sort; the head says by which, for readers of screens too.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { setParams, useParam } from '../state/route';

export interface Column<T> {
  key: string;
  head: string;
  /** of the head, on hover */
  title?: string;
  cell(row: T): ComponentChildren;
  /** what it sorts by; without it the column does not sort */
  sort?(row: T): number | string | null | undefined;
  isText?: boolean;
}

interface Order {
  key: string;
  isDown: boolean;
}

function compare(a: number | string | null | undefined, b: number | string | null | undefined): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return a < b ? -1 : 1;
}

function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], order: Order | null): readonly T[] {
  const by = columns.find((column) => column.key === order?.key)?.sort;
  if (!order || !by) return rows;
  const up = [...rows].sort((a, b) => compare(by(a), by(b)));
  return order.isDown ? up.reverse() : up;
}

/** The order, in the address where it has a parameter there: "time" or "time-". */
function useOrder(param: string | undefined): [Order | null, (key: string) => void] {
  const text = useParam(param);
  const [own, setOwn] = useState<Order | null>(null);
  const told = text ? { key: text.replace(/-$/, ''), isDown: text.endsWith('-') } : null;
  const order = param ? told : own;
  const turn = (key: string) => {
    const next = order?.key === key ? { key, isDown: !order.isDown } : { key, isDown: false };
    if (param) setParams({ [param]: next.key + (next.isDown ? '-' : '') });
    else setOwn(next);
  };
  return [order, turn];
}

export function Table<T>(props: {
  caption: string;
  columns: Column<T>[];
  rows: readonly T[];
  rowKey(row: T): string;
  /** rows to be marked */
  isChosen?(row: T): boolean;
  choose?(row: T): void;
  isCaptionHidden?: boolean;
  /** parameter of the address that holds the order */
  sortParam?: string;
}) {
  const [order, turn] = useOrder(props.sortParam);
  const direction = (key: string) => (order?.key !== key ? 'none' : order.isDown ? 'descending' : 'ascending');
  return (
    <div class="table-frame" tabIndex={0} role="region" aria-label={props.caption}>
      <table>
        <caption class={props.isCaptionHidden ? 'unseen' : ''}>{props.caption}</caption>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th key={column.key} scope="col" class={column.isText ? 'text' : ''} aria-sort={column.sort ? direction(column.key) : undefined} title={column.title}>
                {column.sort ? (
                  <button type="button" class="sort" onClick={() => turn(column.key)}>
                    {column.head}
                    <span aria-hidden="true">{order?.key === column.key ? (order.isDown ? ' ▾' : ' ▴') : ''}</span>
                  </button>
                ) : (
                  column.head
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted(props.rows, props.columns, order).map((row) => (
            <tr key={props.rowKey(row)} class={props.isChosen?.(row) ? 'chosen' : ''} onClick={props.choose && (() => props.choose?.(row))}>
              {props.columns.map((column, i) => {
                const Cell = i === 0 ? 'th' : 'td';
                return (
                  <Cell key={column.key} scope={i === 0 ? 'row' : undefined} class={column.isText ? 'text' : ''}>
                    {column.cell(row)}
                  </Cell>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
