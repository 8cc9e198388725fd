// Tables: scrolled by themselves where the screen is narrow, drawn in part where they are long.
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Command, Loaded, Older } from './parts.tsx';
import { type Loading, messageOf } from './store.ts';
import { count } from './words.ts';

/** Above so many rows only those near the visible ones are in the document. */
const MANY = 200;
const ROW_PX = 36;

export type Key = string | number;

/** What rows are sorted by; nothing comes last. */
type Rank = string | number | null | undefined;

/**
 * A column: its heading, its content, its class, and what its rows are sorted by. Without that they are sorted by the
 * content where it is text.
 */
export type Column<T> = readonly [
  name: string,
  cell: (row: T) => ComponentChildren,
  look?: string | undefined,
  by?: (row: T) => Rank,
];

interface Rows<T> {
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  readonly keyOf: (row: T) => Key;
  /** Puts a check mark before each row that may be chosen. */
  readonly selection?: Selection<T> | undefined;
}

interface TableProps<T> extends Rows<T> {
  readonly label: string;
  readonly empty?: string | VNode | undefined;
  /** The command that makes the first row, where there is none yet. */
  readonly next?: string | undefined;
  /** Whether these are some of many rows, in an order of the API: sorted by themselves they would mislead. */
  readonly isPart?: boolean;
}

export function Table<T>({ label, rows: given, empty = 'None.', next, isPart = false, ...rest }: TableProps<T>) {
  const [order, setOrder] = useState<Order>();
  if (given.length === 0)
    return (
      <>
        {typeof empty === 'string' ? <p class="quiet">{empty}</p> : empty}
        {next !== undefined && <Command text={next} />}
      </>
    );
  const rows = order === undefined || isPart ? given : sorted(given, rest.columns, order);
  const sorting = isPart ? undefined : { order, onOrder: setOrder };
  if (rows.length > MANY) return <LongTable label={label} rows={rows} sorting={sorting} {...rest} />;
  return (
    <div class="scroll" tabindex={0} role="region" aria-label={label}>
      <table>
        <Head {...rest} rows={rows} sorting={sorting} />
        <tbody>
          {rows.map((row) => (
            <Row key={rest.keyOf(row)} row={row} {...rest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ListedProps<T> extends Omit<TableProps<T>, 'rows' | 'isPart'> {
  readonly from: Loading<readonly T[] | { readonly items: readonly T[]; readonly next?: string | null }>;
  /** Where the page of the list begins, in the address. */
  readonly before?: string;
}

/** A table of what is loaded, with buttons to page through a list that the API cuts. */
export const Listed = <T,>({ from, before = '', ...rest }: ListedProps<T>) => (
  <Loaded from={from}>
    {(data) => {
      const { items, next = null } = 'items' in data ? data : { items: data };
      return (
        <>
          <Table {...rest} rows={items} isPart={before !== '' || next !== null} />
          <Older before={before} next={next} />
        </>
      );
    }}
  </Loaded>
);

/** By the column of this name. */
interface Order {
  readonly name: string;
  readonly isDown: boolean;
}

interface Sorting {
  readonly order: Order | undefined;
  readonly onOrder: (order: Order | undefined) => void;
}

/** As people count: node-9 comes before node-10. */
const collator = new Intl.Collator(undefined, { numeric: true });

function rankOf<T>([, cell, , by]: Column<T>, row: T): Rank {
  if (by !== undefined) return by(row);
  const content = cell(row);
  return typeof content === 'string' || typeof content === 'number' ? content : undefined;
}

const isNone = (rank: Rank): boolean => rank === null || rank === undefined || rank === '';

function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], { name, isDown }: Order): readonly T[] {
  const column = columns.find(([one]) => one === name);
  if (column === undefined) return rows;
  const ranked = rows.map((row) => ({ row, rank: rankOf(column, row) }));
  const compare = (a: Rank, b: Rank): number => {
    if (isNone(a) || isNone(b)) return Number(isNone(a)) - Number(isNone(b));
    const way = typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
    return isDown ? -way : way;
  };
  return ranked.sort((a, b) => compare(a.rank, b.rank)).map(({ row }) => row);
}

interface LongTableProps<T> extends Rows<T> {
  readonly label: string;
  readonly sorting: Sorting | undefined;
}

function LongTable<T>({ label, rows, sorting, ...rest }: LongTableProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtual(rows.length, box);
  const shown = virtual.getVirtualItems();
  const before = shown[0]?.start ?? 0;
  const after = virtual.getTotalSize() - (shown.at(-1)?.end ?? 0);
  const width = rest.columns.length + (rest.selection === undefined ? 0 : 1);
  const space = (height: number) =>
    height > 0 && (
      <tr aria-hidden="true" class="space">
        <td colspan={width} style={{ height: `${height}px` }}></td>
      </tr>
    );
  const drawn = ({ index }: VirtualItem) => {
    const row = rows[index];
    return (
      row !== undefined && (
        <Row key={rest.keyOf(row)} row={row} index={index} measure={virtual.measureElement} {...rest} />
      )
    );
  };
  return (
    <div class="scroll long" tabindex={0} role="region" aria-label={label} ref={box}>
      <table aria-rowcount={rows.length + 1}>
        <Head {...rest} rows={rows} sorting={sorting} />
        <tbody>
          {space(before)}
          {shown.map(drawn)}
          {space(after)}
        </tbody>
      </table>
    </div>
  );
}

/** Which of so many rows are to be drawn. */
function useVirtual(
  count: number,
  box: RefObject<HTMLDivElement | null>,
): Virtualizer<HTMLDivElement, HTMLTableRowElement> {
  const [, redraw] = useState(0);
  const virtual = useMemo(
    () =>
      new Virtualizer<HTMLDivElement, HTMLTableRowElement>({
        count,
        getScrollElement: () => box.current,
        estimateSize: () => ROW_PX,
        overscan: 12,
        initialRect: { width: 0, height: 700 },
        observeElementRect,
        observeElementOffset,
        scrollToFn: elementScroll,
        onChange: () => redraw((n) => n + 1),
      }),
    [],
  );
  virtual.setOptions({ ...virtual.options, count });
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}

const Head = <T,>({ columns, rows, selection, sorting }: Rows<T> & { readonly sorting: Sorting | undefined }) => (
  <thead>
    <tr>
      {selection && (
        <td class="mark">
          <MarkAll rows={rows} selection={selection} />
        </td>
      )}
      {columns.map((column) => {
        const [name, , look] = column;
        if (name === '') return <td key={`${name}${look}`}></td>;
        const isSortable = sorting !== undefined && rows.some((row) => !isNone(rankOf(column, row)));
        return isSortable ? (
          <SortedHead key={name} name={name} look={look} {...sorting} />
        ) : (
          <th scope="col" key={name} class={look}>
            {name}
          </th>
        );
      })}
    </tr>
  </thead>
);

/** A heading that sorts: up, down, and as it was. */
function SortedHead({
  name,
  look,
  order,
  onOrder,
}: Sorting & { readonly name: string; readonly look?: string | undefined }) {
  const own = order?.name === name ? order : undefined;
  const next = own === undefined ? { name, isDown: false } : own.isDown ? undefined : { name, isDown: true };
  return (
    <th scope="col" class={look} aria-sort={own === undefined ? undefined : own.isDown ? 'descending' : 'ascending'}>
      <button type="button" class="sort" onClick={() => onOrder(next)}>
        {name}
        <span aria-hidden="true">{own === undefined ? '' : own.isDown ? ' ▼' : ' ▲'}</span>
      </button>
    </th>
  );
}

interface RowProps<T> extends Omit<Rows<T>, 'rows'> {
  readonly row: T;
  /** Of a row of a table that is drawn in part. */
  readonly index?: number;
  readonly measure?: (element: HTMLTableRowElement | null) => void;
}

function Row<T>({ row, columns, selection, index, measure }: RowProps<T>) {
  return (
    <tr ref={measure ?? null} data-index={index} aria-rowindex={index === undefined ? undefined : index + 2}>
      {selection && (
        <td class="mark">
          <Mark row={row} selection={selection} />
        </td>
      )}
      {columns.map(([name, cell, look]) => (
        <td key={`${name}${look}`} class={look} data-name={name}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

function Mark<T>({
  row,
  selection: { nameOf, keyOf, isChoosable, chosen, toggle },
}: {
  readonly row: T;
  readonly selection: Selection<T>;
}) {
  if (!isChoosable(row)) return null;
  const key = keyOf(row);
  return (
    <input
      type="checkbox"
      aria-label={`Select ${nameOf(row)}`}
      checked={chosen.has(key)}
      onChange={() => toggle([key], !chosen.has(key))}
    />
  );
}

function MarkAll<T>({
  rows,
  selection: { keyOf, isChoosable, chosen, toggle },
}: {
  readonly rows: readonly T[];
  readonly selection: Selection<T>;
}) {
  const keys = rows.filter(isChoosable).map(keyOf);
  const box = useRef<HTMLInputElement>(null);
  const some = keys.some((key) => chosen.has(key));
  const all = some && keys.every((key) => chosen.has(key));
  useEffect(() => {
    if (box.current) box.current.indeterminate = some && !all;
  }, [some, all]);
  if (keys.length === 0) return null;
  return (
    <input ref={box} type="checkbox" aria-label="Select all shown" checked={all} onChange={() => toggle(keys, !all)} />
  );
}

/** Rows of a table that are chosen. */
export interface Selection<T> extends Choosing<T> {
  readonly chosen: ReadonlySet<Key>;
  /** Those that are chosen and shown. */
  readonly rows: readonly T[];
  /** Their names. */
  readonly names: readonly string[];
  toggle(keys: readonly Key[], is: boolean): void;
  clear(): void;
  /** Does the same for each of them. @throws Error when some were refused */
  each(act: (row: T) => Promise<unknown>): Promise<void>;
}

interface Choosing<T> {
  readonly keyOf: (row: T) => Key;
  readonly nameOf: (row: T) => string;
  /** Leaves rows out. */
  readonly isChoosable: (row: T) => boolean;
}

export function useSelection<T>(
  rows: readonly T[],
  { keyOf, nameOf, isChoosable = () => true }: Omit<Choosing<T>, 'isChoosable'> & Partial<Choosing<T>>,
): Selection<T> {
  const [chosen, setChosen] = useState<ReadonlySet<Key>>(new Set());
  const toggle = (keys: readonly Key[], is: boolean): void => {
    const next = new Set(chosen);
    for (const key of keys) is ? next.add(key) : next.delete(key);
    setChosen(next);
  };
  const clear = () => setChosen(new Set());
  const own = rows.filter((row) => chosen.has(keyOf(row)) && isChoosable(row));
  return {
    ...{ keyOf, nameOf, isChoosable, chosen, toggle, clear },
    rows: own,
    names: own.map(nameOf),
    each: async (act) => {
      await forEach(own, nameOf, act);
      clear();
    },
  };
}

interface ChosenProps<T> {
  readonly selection: Selection<T>;
  /** One of them. */
  readonly what: string;
  readonly children: ComponentChildren;
}

/** Actions for the chosen rows; shown while any is chosen. */
export const Chosen = <T,>({ selection, what, children }: ChosenProps<T>) =>
  selection.rows.length > 0 && (
    <div class="chosen" role="group" aria-label="Selection">
      <span>{count(selection.rows.length, what)} selected</span>
      {children}
      <button type="button" onClick={selection.clear}>
        Clear selection
      </button>
    </div>
  );

/**
 * Does the same for many, a few at a time, and reports the result, with reasons of refusals.
 * @throws Error when some were refused
 */
export async function forEach<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  act: (item: T) => Promise<unknown>,
): Promise<void> {
  const refused: string[] = [];
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      try {
        await act(one);
      } catch (error) {
        refused.push(`${nameOf(one)}: ${messageOf(error)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  if (refused.length > 0)
    throw new Error(
      `${items.length - refused.length} of ${items.length} done. Refused: ${refused.slice(0, 5).join('; ')}${refused.length > 5 ? ` and ${refused.length - 5} more` : ''}`,
    );
}
