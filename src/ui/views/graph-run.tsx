import { useMemo, useState } from 'preact/hooks';
import type { GraphRunStatus } from '../../core/contracts/graph-run.ts';
import type { RunFrame } from '../../core/contracts/run-tasks.ts';
import { rolloutsIn } from '../../core/rollout/rollout-steps.ts';
import { causesOf } from '../../core/run/causes.ts';
import type { TaskStatus } from '../../core/words.ts';
import { at, get } from '../kit/api.ts';
import { Choice } from '../kit/ask.tsx';
import { criticalPath, readyTimes, type Step } from '../kit/critical-path.ts';
import type { Names } from '../kit/names.ts';
import { Causes, Counts, Loaded, NewTab, NodeCells, Tabs, type View } from '../kit/parts.tsx';
import { addressWith, filterBy, go } from '../kit/router.ts';
import { useAll, useData } from '../kit/store.ts';
import {
  type Counts as CountsOf,
  doneOf,
  type Look,
  lasting,
  placeOf,
  said,
  saidCounts,
  some,
  sum,
  TASK_STATUSES,
  workOf,
  worst,
} from '../kit/words.ts';
import { GraphMap } from './graph-map.tsx';
import { logOf, shownLog } from './log-tools.tsx';
import { PermitWaits, Rollouts } from './run-actions.tsx';
import { RunLog } from './run-log.tsx';
import { TaskLog } from './task-log.tsx';
import { TaskTable } from './task-table.tsx';
import { type Line, linesOn, Timeline } from './timeline.tsx';

const VIEWS: readonly View[] = [
  ['tasks', 'Tasks'],
  ['graph', 'Graph'],
  ['timeline', 'Timeline'],
  ['log', 'Log'],
];

type Run = RunFrame['run'];
type Table = NonNullable<RunFrame['tasks']>;
type GraphState = NonNullable<RunFrame['graphs']>[string];
/** Counts by name. */
type Counted = (readonly [name: string, counts: CountsOf])[];

interface GraphRunProps {
  readonly id: string;
  readonly tables: RunFrame;
  readonly status: GraphRunStatus;
  readonly query: URLSearchParams;
}

/** A run of graphs on a cluster: nodes at a glance, then its tasks, graph, timeline or log; logs of tasks below. */
export function GraphRun({ id, tables, status, query }: GraphRunProps) {
  const {
    run,
    graphs: byTransaction = {},
    node_tasks: byNode = {},
    tasks: byTask = {},
    node_names: names = {},
  } = tables;
  const graphs = Object.values(byTransaction);
  const graph = graphs.find(({ type }) => type === query.get('graph')) ?? openGraph(graphs);
  if (graph === undefined) return <p class="quiet">Nothing is planned yet.</p>;
  const own = (table: Table): Counted =>
    Object.values(table).flatMap(({ transaction, name, counts }) =>
      transaction === graph.transaction ? [[name, counts] as const] : [],
    );
  const [nodes, tasks] = [own(byNode), own(byTask)];
  const failing = nodes.filter(([on, counts]) => on !== 'null' && counts.failed).length;
  const live = run.outcome === null;
  // The store's counts, not the run's: rows are read from the store, which is updated a moment later.
  const version = JSON.stringify(nodes);
  const [log, node] = [shownLog(query), query.get('node') ?? ''];
  const view = VIEWS.find(([key]) => key === query.get('view'))?.[0] ?? 'tasks';
  const shared = { id, graph: graph.type, version, names };
  return (
    <>
      {status.silent.length > 0 && (
        <p class="problem" role="status">
          Waiting for offline agents: {some(status.silent.map((one) => names[one] ?? one))}. Their tasks fail if they
          stay offline for too long; check whether these machines are up.
        </p>
      )}
      {live && <Rollouts tables={tables} of={rolloutsIn(status)} />}
      {live && <PermitWaits of={status.waits} />}
      {live && status.running.length > 0 && (
        <p class="facts">
          Running:{' '}
          {some(
            status.running.map((one) => placeOf(one, names)),
            5,
          )}
        </p>
      )}
      {graphs.length > 1 && (
        <div class="filters">
          <Choice
            label="Graph"
            value={graph.type}
            options={graphs.map(({ type, state }) => [type, `${type}: ${said(state)}`])}
            onChange={(value) => filterBy({ graph: value, before: '' })}
          />
        </div>
      )}
      {graph.message && <p class="problem">{graph.message}</p>}
      {graph.counts.failed ? <FailedTasks {...shared} failed={graph.counts.failed} /> : null}
      <NodeCells cells={cellsOf(nodes, names)} failed={failing > 0 ? `${failing} failing` : ''} chosen={node} />
      <Tabs views={VIEWS} current={view} />
      {view === 'tasks' && (
        <>
          <Counts
            label="Tasks by status"
            counts={TASK_STATUSES.map((one) => [one, nodes.reduce((n, [, counts]) => n + (counts[one] ?? 0), 0)])}
            chosen={query.get('status') ?? ''}
            onChoose={(status) => filterBy({ status, before: '' })}
          />
          <TaskTable {...shared} query={query} live={live} />
        </>
      )}
      {view === 'graph' && <Graph id={id} graph={graph} tasks={tasks} query={query} />}
      {view === 'log' && <RunLog id={id} live={live} node={node} query={query} names={names} />}
      {view === 'timeline' && <Bars {...shared} run={run} nodes={nodes} node={node} query={query} />}
      <p class="quiet">
        <NewTab at={at('GET /transactions/:id/tasks', { params: { id: graph.transaction } })}>History as JSON</NewTab>
        {' · '}
        <NewTab at={at('GET /transactions/:id/plan', { params: { id: graph.transaction } })}>Plan with reasons</NewTab>
      </p>
      {log !== null && <TaskLog key={JSON.stringify(log)} run={run} of={log} names={names} />}
    </>
  );
}

/** Why tasks failed; read again when more or fewer have, not with each task that ends. */
function FailedTasks({
  id,
  graph,
  failed: again,
  names,
}: Pick<BarsProps, 'id' | 'graph' | 'names'> & { readonly failed: number }) {
  const query = { graph, statuses: 'failed', limit: 1000 };
  const tasks = useData(at('GET /runs/:run/tasks', { params: { run: id }, query }), { again });
  const failed = (tasks.data?.items ?? []).map((one) => ({
    name: placeOf(one, names),
    reason: one.message ?? 'no reason is known',
    also: [names[one.node]],
  }));
  return <Causes of={causesOf(failed)} what="task" />;
}

const openGraph = (graphs: readonly GraphState[]) =>
  graphs.find(({ state }) => state === 'running') ??
  graphs.find(({ state }) => state === 'failed' || state === 'refused') ??
  graphs[0];

interface GraphProps {
  readonly id: string;
  readonly graph: GraphState;
  readonly tasks: Counted;
  readonly query: URLSearchParams;
}

/** The graph. A task that is chosen in it is shown among the tasks. */
function Graph({ id, graph, tasks, query }: GraphProps) {
  if (!graph.planned && tasks.length === 0) return <p class="quiet">The graph is drawn once it is planned.</p>;
  const choose = (task: string) => go(addressWith({ view: '', task, status: '', before: '' }), { stay: true });
  return (
    <GraphMap key={graph.type} id={id} type={graph.type} counts={new Map(tasks)} query={query} onChoose={choose} />
  );
}

/** A cell for each node, by its worst task. */
const cellsOf = (nodes: Counted, names: Names) =>
  nodes.flatMap(([node, counts]) => {
    if (node === 'null') return [];
    const name = names[node] ?? node;
    const [done, all] = [doneOf(counts), workOf(counts)];
    const text = `${name}: ${done} of ${all} tasks, ${saidCounts(counts)}`;
    return [{ key: node, name, look: CELL[worst(counts)], note: `${done}/${all}`, text }];
  });

const CELL: Readonly<Record<TaskStatus | 'started', Look>> = {
  failed: 'bad',
  blocked: 'warn',
  not_reached: 'off',
  retrying: 'warn',
  running: 'busy',
  waiting: 'wait',
  started: 'half',
  success: 'ok',
  ignored: 'ok',
  skipped: 'off',
};

/** Statuses of tasks that have a bar. */
const STARTED: readonly TaskStatus[] = ['failed', 'running', 'retrying', 'success', 'ignored'];

interface BarsProps {
  readonly id: string;
  readonly graph: string;
  readonly run: Run;
  readonly version: string;
  readonly nodes: Counted;
  readonly names: Names;
  /** The chosen one; all where it is empty. */
  readonly node: string;
  readonly query: URLSearchParams;
}

/** With so many tasks, the critical path is found only when it is asked for: it may lead over all of them. */
const MANY_TASKS = 1_000;

/** All bars of the nodes of a page; of all nodes for the critical path. */
function Bars({ id, graph, run, version, nodes, names, node, query }: BarsProps) {
  const [page, setPage] = useState(0);
  const params = { run: id };
  const isSmall = nodes.reduce((all, [, counts]) => all + sum(counts, STARTED), 0) <= MANY_TASKS;
  const isCritical = (query.get('critical') ?? (isSmall ? '1' : '0')) === '1';
  const lines = useMemo(() => linesOf(nodes, names, node), [version, names, node]);
  const shown = linesOn(lines, page).map(({ key }) => key);
  const asked = isCritical ? [] : shown;
  const tasks = useAll(
    lines.length === 0 ? null : JSON.stringify([id, graph, asked]),
    (before, signal) => {
      const query = { graph, limit: 1000, before, nodes: asked.join(), statuses: STARTED.join() };
      return get(at('GET /runs/:run/tasks', { params, query }), signal);
    },
    { again: version },
  );
  const edges = useData(at('GET /runs/:run/graph', { params, query: { graph } })).data?.edges ?? [];
  const usual = useData(at('GET /runs/:run/usual', { params, query: { graph, nodes: shown.join() } })).data?.seconds;
  return (
    <>
      <label class="check">
        <input type="checkbox" checked={isCritical} onChange={() => filterBy({ critical: isCritical ? '0' : '1' })} />{' '}
        Critical path
      </label>
      {lines.length === 0 && <p class="quiet">Nothing has started yet.</p>}
      <Loaded from={tasks}>
        {(items) => {
          const steps = isCritical ? criticalPath(items, edges) : [];
          const critical = new Set(steps.map(({ row }) => row));
          const ready = readyTimes(items, edges);
          return (
            <>
              {isCritical && <CriticalPath path={steps} names={names} />}
              <Timeline
                lines={lines}
                page={page}
                onPage={setPage}
                from={run.started_at}
                until={run.ended_at}
                bars={items.map((one) => ({
                  line: one.node,
                  label: one.task,
                  name: one.task,
                  status: one.status,
                  from: one.time_start,
                  to: one.time_end,
                  since: ready.get(one),
                  usual: usual?.[one.task],
                  isCritical: critical.has(one),
                  href: addressWith(logOf(one)),
                }))}
              />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

/** Nodes on which something has started: failing ones first, then by name. */
const linesOf = (nodes: Counted, names: Names, chosen: string): readonly Line[] =>
  nodes
    .filter(([node, counts]) => sum(counts, STARTED) > 0 && (chosen === '' || chosen === node))
    .map(([node, counts]) => ({ key: node, name: names[node] ?? node, failed: counts.failed ?? 0 }))
    .sort((a, b) => Number(b.failed > 0) - Number(a.failed > 0) || (a.name < b.name ? -1 : 1));

/** The reason for the duration of the run: each task that the next one waited for. */
const CriticalPath = ({ path, names }: { readonly path: readonly Step[]; readonly names: Names }) =>
  path.length === 0 ? (
    <p class="quiet">Nothing has ended yet.</p>
  ) : (
    <ol class="critical-path" aria-label="Critical path">
      {path.map(({ row, wait }) => (
        <li>
          {placeOf(row, names)}{' '}
          <span class="quiet">
            {lasting(row.time_start ?? 0, row.time_end ?? 0)}
            {wait >= 1000 ? `, ${lasting(0, wait)} after the previous one` : ''}
          </span>
        </li>
      ))}
    </ol>
  );
