import type { Group, Read, Timed } from './installation.ts';

/** The same runs on both. */
export interface Row {
  /** `graph-2`: what, and how many workers. */
  readonly row: string;
  readonly file: readonly Timed[];
  readonly postgres: readonly Timed[];
}

interface Look {
  readonly rows: number;
  readonly megabytes: number;
}

/** What retention removed of Temporal's database. */
export interface Removal {
  readonly name: string;
  /** Seconds after which it removes. */
  readonly kept: number;
  readonly rounds: readonly {
    /** Tasks. */
    readonly done: number;
    readonly before: Look;
    readonly after: Look;
    readonly removed: Look;
    /** From the end of the run until its rows were gone. */
    readonly seconds: number;
  }[];
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
const of = (runs: readonly Timed[], value: (run: Timed) => number): number => median(runs.map(value));
const GROUPS: readonly Group[] = ['temporal', 'postgres', 'workers', 'apis', 'agents'];
const READS: readonly Read[] = ['page', 'status', 'list'];
const KINDS = ['file', 'postgres'] as const;

const table = (head: readonly string[], lines: readonly (readonly (string | number)[])[]): string =>
  [head, head.map((_cell, at) => (at === 0 ? '---' : '---:')), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
    .concat('\n');

/** How fast, and with what processor time and memory. */
export function ratesTable(rows: readonly Row[]): string {
  const rate = (runs: readonly Timed[]): number => of(runs, ({ done, seconds }) => done / seconds);
  const milliseconds = (runs: readonly Timed[], group: Group): string =>
    of(runs, ({ usage, done }) => (1_000 * usage[group].seconds) / done).toFixed(1);
  const megabytes = (runs: readonly Timed[], group: Group): number => of(runs, ({ usage }) => usage[group].megabytes);
  const head = [
    'run, workers',
    'on',
    'done',
    'per second',
    'to the file',
    ...GROUPS.map((group) => `${group}: ms, MB`),
  ];
  return table(
    head,
    rows.flatMap(({ row, ...kinds }) =>
      KINDS.map((kind) => {
        const runs = kinds[kind];
        const ratio = kind === 'file' ? '' : (rate(runs) / rate(kinds.file)).toFixed(2);
        return [
          row,
          kind,
          of(runs, ({ done }) => done),
          rate(runs).toFixed(1),
          ratio,
          ...GROUPS.map((group) => `${milliseconds(runs, group)}, ${megabytes(runs, group)}`),
        ];
      }),
    ),
  );
}

/** What two APIs answered meanwhile. */
export function readsTable(rows: readonly Row[]): string {
  const cell = (runs: readonly Timed[], read: Read): string => {
    const at = (value: (run: Timed) => number): number => of(runs, value);
    const perSecond = at(({ reads, seconds }) => reads[read]!.requests / seconds).toFixed(1);
    const failed = runs.reduce((sum, { reads }) => sum + reads[read]!.failed, 0);
    return `${perSecond}; ${at(({ reads }) => reads[read]!.p50)}, ${at(({ reads }) => reads[read]!.p95)}; ${failed}`;
  };
  const head = ['run, workers', 'on', ...READS.map((read) => `${read}: per s; p50, p95 ms; failed`)];
  return table(
    head,
    rows.flatMap(({ row, ...kinds }) =>
      KINDS.map((kind) => [row, kind, ...READS.map((read) => cell(kinds[kind], read))]),
    ),
  );
}

/** What a thousand tasks or machines leave on disk. */
export function costTable(rows: readonly Row[]): string {
  const head = [
    'run, workers',
    'on',
    'Temporal: MB per 1,000',
    'store: MB per 1,000',
    'commits each: Temporal',
    'store',
  ];
  const commits = (runs: readonly Timed[], database: 'temporal' | 'store'): string =>
    runs.every((run) => run.commits === undefined)
      ? ''
      : of(runs, (run) => (run.commits?.[database] ?? 0) / run.done).toFixed(1);
  return table(
    head,
    rows.flatMap(({ row, ...kinds }) =>
      KINDS.map((kind) => {
        const runs = kinds[kind];
        const grown = (database: 'temporal' | 'store'): string =>
          of(runs, (run) => (1_000 * run.grown[database]) / run.done).toFixed(2);
        return [row, kind, grown('temporal'), grown('store'), commits(runs, 'temporal'), commits(runs, 'store')];
      }),
    ),
  );
}

/** How retention removes what ended. */
export function removalTable(removals: readonly Removal[]): string {
  const look = ({ rows, megabytes }: Look): string => `${rows}, ${megabytes.toFixed(1)}`;
  const head = ['on', 'run of', 'before: rows, MB', 'at its end', 'when removed', 's after its end'];
  return table(
    head,
    removals.flatMap(({ name, kept, rounds }) =>
      rounds.map(({ done, before, after, removed, seconds }) => [
        `${name}, kept for ${kept} s`,
        `${done} tasks`,
        look(before),
        look(after),
        look(removed),
        seconds.toFixed(0),
      ]),
    ),
  );
}
