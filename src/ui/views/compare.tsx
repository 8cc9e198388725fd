import { GRAPH_RUN_KIND } from '../../core/words.ts';
import { type Answer, at, get } from '../kit/api.ts';
import { Choice, Filters, type Option, Search } from '../kit/ask.tsx';
import { type Names, useClusterNames, useNodeNames } from '../kit/names.ts';
import { type Crumb, Loaded, Problem, RunState, State, Title } from '../kit/parts.tsx';
import { filterBy } from '../kit/router.ts';
import { useAll, useData } from '../kit/store.ts';
import { Table } from '../kit/table.tsx';
import { Ago, Lasting } from '../kit/times.tsx';
import { count, lasting, msOf, reasonOf } from '../kit/words.ts';
import { nameOfRun } from './runs.tsx';

const LIST: Crumb = ['/runs', 'Runs'];
const SHOWN: readonly Option[] = [
  ['differing', 'differences'],
  ['outcome', 'different outcome'],
  ['one', 'in one run only'],
  ['slower', 'at least 50 % slower'],
  ['all', 'all'],
];

/** Two runs side by side: plan, result and duration. */
export function CompareView({ query }: { readonly query: URLSearchParams }) {
  const [a, b] = [query.get('a') ?? '', query.get('b') ?? ''];
  const [first, second] = [useResults(a), useResults(b)];
  const clusters = useClusterNames();
  const names = useNodeNames(second.run.data?.cluster ?? null);
  const problem = first.run.problem ?? second.run.problem ?? first.problem ?? second.problem;
  return (
    <>
      <Title
        of="Compare two runs"
        trail={[LIST]}
        actions={
          <button type="button" onClick={() => filterBy({ a: b, b: a })}>
            Swap
          </button>
        }
      />
      {(a === '' || b === '') && (
        <p>
          Select two runs in the list of <a href="/runs">runs</a>, then choose <em>Compare</em>.
        </p>
      )}
      <Problem of={problem} />
      <Loaded from={first.run}>
        {(one) => <Loaded from={second.run}>{(other) => <Heads runs={[one, other]} clusters={clusters} />}</Loaded>}
      </Loaded>
      {first.rows && second.rows && <Rows first={first.rows} second={second.rows} names={names} query={query} />}
    </>
  );
}

type Run = Answer<'GET /runs/:run'>;

const Heads = ({
  runs,
  clusters,
}: {
  readonly runs: readonly Run[];
  readonly clusters: ReadonlyMap<number, string>;
}) => (
  <Table
    label="Runs"
    rows={runs}
    keyOf={(run) => run.id}
    columns={[
      ['#', (run) => run.number ?? '', 'number'],
      ['Run', (run) => <a href={`/runs/${run.id}`}>{nameOfRun(run, clusters)}</a>, 'name'],
      ['State', (run) => <RunState run={run} />],
      ['Revision', (run) => run.revision ?? ''],
      ['Started', (run) => <Ago of={run.started_at} />],
      ['Took', (run) => <Lasting from={run.started_at} to={run.ended_at} />],
      ['Why', (run) => run.reason ?? '', 'wide'],
      ['Failure', (run) => run.failure ?? '', 'wide'],
    ]}
  />
);

/** What a run did with a node, or with a task on it. */
interface Result {
  readonly task?: string;
  readonly node: string;
  readonly status: string;
  readonly message: string | null;
  readonly from: string | null | undefined;
  readonly to: string | null | undefined;
}
type Results = ReadonlyMap<string, Result>;

interface Pair {
  readonly key: string;
  readonly name: string;
  readonly first: Result | undefined;
  readonly second: Result | undefined;
  readonly took: readonly string[];
}

interface RowsProps {
  readonly first: Results;
  readonly second: Results;
  readonly names: Names;
  readonly query: URLSearchParams;
}

function Rows({ first, second, names, query }: RowsProps) {
  const [shown, text] = [query.get('show') ?? 'differing', query.get('text') ?? ''];
  const keys = [...new Set([...first.keys(), ...second.keys()])];
  const all = keys.flatMap((key) => pairOf(key, first.get(key), second.get(key), names));
  const counts = (is: (pair: Pair) => boolean): number => all.filter(is).length;
  const is = shown in IS ? IS[shown as keyof typeof IS] : IS.differing;
  const rows = all.filter((one) => is(one) && one.name.toLowerCase().includes(text.toLowerCase()));
  const state = (one: Result | undefined) =>
    one === undefined ? <span class="quiet">not planned</span> : <State of={one.status} />;
  return (
    <>
      <p class="facts">
        {count(all.length, 'entry', 'entries')}: {counts(IS.outcome)} with different outcomes,{' '}
        {counts((one) => one.first === undefined)} only in the second, {counts((one) => one.second === undefined)} only
        in the first.
      </p>
      <Filters label="Filter the comparison" of={['show', 'text']}>
        <Choice
          label="Show"
          value={shown}
          options={SHOWN}
          onChange={(value) => filterBy({ show: value === 'differing' ? '' : value })}
        />
        <Search label="Search" value={text} onChange={(value) => filterBy({ text: value })} />
      </Filters>
      <Table
        label="Comparison"
        rows={rows}
        keyOf={(one) => one.key}
        empty={shown === 'all' ? 'Nothing to compare.' : 'No such differences.'}
        columns={[
          ['What', (one) => one.name, 'name'],
          ['First', (one) => state(one.first), undefined, ({ first }) => first?.status],
          ['Second', (one) => state(one.second), undefined, ({ second }) => second?.status],
          ['First took', (one) => one.took[0], 'number'],
          ['Second took', (one) => one.took[1], 'number'],
          ['Message', (one) => one.second?.message ?? one.first?.message ?? '', 'wide'],
        ]}
      />
    </>
  );
}

const IS = {
  all: () => true,
  one: ({ first, second }: Pair) => first === undefined || second === undefined,
  outcome: ({ first, second }: Pair) => first !== undefined && second !== undefined && first.status !== second.status,
  slower: ({ first, second }: Pair) =>
    tookMs(first) > 0 && tookMs(second) >= 1.5 * tookMs(first) && tookMs(second) - tookMs(first) >= 1000,
  differing: (one: Pair): boolean => IS.one(one) || IS.outcome(one) || IS.slower(one),
};

const tookMs = (one: Result | undefined): number => (one?.from && one.to ? msOf(one.to) - msOf(one.from) : 0);

function pairOf(key: string, first: Result | undefined, second: Result | undefined, names: Names): Pair[] {
  const any = first ?? second;
  if (any === undefined) return [];
  const name = any.task === undefined ? any.node : `${any.task} on ${names[any.node] ?? any.node}`;
  const took = [first, second].map((one) => (one?.from && one.to ? lasting(one.from, one.to) : ''));
  return [{ key, name, first, second, took }];
}

/** A run with all that it did, by task and node. */
function useResults(id: string) {
  const run = useData(id === '' ? null : at('GET /runs/:run', { params: { run: id } }));
  const kind = run.data?.kind;
  const all = useAll<readonly [key: string, result: Result]>(
    kind === undefined ? null : `${id} ${kind}`,
    (before, signal) => (kind === GRAPH_RUN_KIND ? tasksOf(id, before, signal) : nodesOf(id, signal)),
  );
  return { run, rows: all.data && new Map(all.data), problem: all.problem };
}

async function nodesOf(run: string, signal: AbortSignal) {
  const { items } = await get(at('GET /runs/:run/nodes', { params: { run } }), signal);
  const resultOf = (one: (typeof items)[number]): readonly [string, Result] => [
    one.name,
    { node: one.name, status: one.state, message: reasonOf(one), from: one.started_at, to: one.ended_at },
  ];
  return { items: items.map(resultOf), next: null };
}

async function tasksOf(run: string, before: string | undefined, signal: AbortSignal) {
  const address = at('GET /runs/:run/tasks', { params: { run }, query: { limit: 1000, before } });
  const { items, next } = await get(address, signal);
  const resultOf = ({ graph, task, node, ...one }: (typeof items)[number]): readonly [string, Result] => [
    JSON.stringify([graph, task, node]),
    { task, node, status: one.status, message: one.message, from: one.time_start, to: one.time_end },
  ];
  return { items: items.map(resultOf), next };
}
