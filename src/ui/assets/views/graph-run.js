import { query as queryOf } from '../api.js';
import { Choice } from '../ask.js';
import { criticalPath } from '../critical-path.js';
import { html } from '../html.js';
import { Cells, Counts, Loaded, Tabs } from '../parts.js';
import { addressWith, filterBy, go } from '../router.js';
import { useData } from '../store.js';
import { count, doneOf, lasting, placeOf, said, some, TASK_STATUSES, workOf, worst } from '../words.js';
import { GraphMap } from './graph-map.js';
import { RunLog } from './run-log.js';
import { TaskLog } from './task-log.js';
import { logOf, shownLog } from './task-log-address.js';
import { TaskTable } from './task-table.js';
import { Timeline } from './timeline.js';

const VIEWS = [
  ['tasks', 'Tasks'],
  ['graph', 'Graph'],
  ['timeline', 'Timeline'],
  ['log', 'Log'],
];

/** A run of graphs on a cluster: nodes at a glance, then its tasks, graph, timeline or log; logs of tasks below. */
export function GraphRun({ base, tables, query }) {
  const { status, graphs, node_tasks: byNode, tasks: byTask, run } = tables;
  const ids = Object.keys(graphs);
  const chosen = ids.find((one) => graphs[one].type === query.get('graph')) ?? openGraph(ids, graphs);
  const names = useData(`${base}/counts`, { again: ids.join() }).data?.node_names ?? {};
  if (chosen === undefined) return html`<p class="quiet">Nothing is planned yet.</p>`;
  const graph = graphs[chosen];
  const own = (table) =>
    Object.entries(table)
      .filter(([key]) => key.startsWith(`${chosen}/`))
      .map(([key, counts]) => [key.slice(chosen.length + 1), counts]);
  const [nodes, tasks] = [own(byNode), own(byTask)];
  const live = run.outcome === null;
  // The store's counts, not the run's: rows are read from the store, which is updated a moment later.
  const version = JSON.stringify(nodes);
  const [log, node] = [shownLog(query), query.get('node') ?? ''];
  const view = VIEWS.some(([key]) => key === query.get('view')) ? query.get('view') : 'tasks';
  const shared = { base, graph: graph.type, run, version, names };
  return html`${
    status.silent.length > 0 &&
    html`<p class="problem" role="status">
      Waiting for offline agents: ${some(status.silent.map((one) => names[one] ?? one))}. Their tasks fail if
      they stay offline for too long; check whether these machines are up.
    </p>`
  }
    ${
      live &&
      status.running.length > 0 &&
      html`<p class="facts">
        Running: ${some(
          status.running.map((one) => placeOf(one, names)),
          5,
        )}
      </p>`
    }
    ${
      ids.length > 1 &&
      html`<div class="filters">
      <${Choice}
        label="Graph"
        value=${graph.type}
        options=${ids.map((one) => [graphs[one].type, `${graphs[one].type}: ${said(graphs[one].state)}`])}
        onChange=${(value) => filterBy({ graph: value, before: '' })}
      />
    </div>`
    }
    ${graph.message && html`<p class="problem">${graph.message}</p>`}
    <${NodeCells} nodes=${nodes} names=${names} chosen=${node} />
    <${Tabs} views=${VIEWS} current=${view} />
    ${
      view === 'tasks' &&
      html`<${Counts}
          label="Tasks by status"
          counts=${TASK_STATUSES.map((one) => [one, nodes.reduce((n, [, counts]) => n + (counts[one] ?? 0), 0)])}
          chosen=${query.get('status') ?? ''}
          onChoose=${(status) => filterBy({ status, before: '' })}
        />
        <${TaskTable} ...${shared} query=${query} live=${live} />`
    }
    ${view === 'graph' && html`<${Graph} ...${{ base, graph, tasks, query }} />`}
    ${view === 'log' && html`<${RunLog} base=${base} live=${live} node=${node} query=${query} names=${names} />`}
    ${view === 'timeline' && html`<${Bars} ...${shared} node=${node} query=${query} />`}
    <p class="quiet">
      <a href=${`/api/v1/transactions/${chosen}/tasks`} target="_blank">History as JSON</a>${' · '}<a
        href=${`/api/v1/transactions/${chosen}/plan`}
        target="_blank"
        >Plan with reasons</a
      >
    </p>
    ${log !== null && html`<${TaskLog} key=${JSON.stringify(log)} base=${base} of=${log} live=${live} names=${names} />`}`;
}

const openGraph = (ids, graphs) =>
  ids.find((one) => graphs[one].state === 'running') ??
  ids.find((one) => ['failed', 'refused'].includes(graphs[one].state)) ??
  ids[0];

const saidCounts = (counts) =>
  Object.entries(counts)
    .map(([status, n]) => `${n} ${said(status)}`)
    .join(', ');

/** The graph. A task that is chosen in it is shown among the tasks. */
function Graph({ base, graph, tasks, query }) {
  if (!graph.planned && tasks.length === 0) return html`<p class="quiet">The graph is drawn once it is planned.</p>`;
  const choose = (task) => go(addressWith({ view: '', task, status: '', before: '' }), { stay: true });
  return html`<${GraphMap} ...${{ base, graph, query }} key=${graph.type} counts=${new Map(tasks)} onChoose=${choose} />`;
}

/** A cell for each node, by its worst task. */
function NodeCells({ nodes, names, chosen }) {
  const on = nodes.filter(([node]) => node !== 'null');
  const failing = on.filter(([, counts]) => counts.failed > 0).length;
  const cells = on.map(([node, counts]) => {
    const name = names[node] ?? node;
    const [done, all] = [doneOf(counts), workOf(counts)];
    const text = `${name}: ${done} of ${all} tasks, ${saidCounts(counts)}`;
    return { key: node, name, look: CELL[worst(counts)] ?? 'wait', note: `${done}/${all}`, text };
  });
  const choose = ({ key }) => filterBy({ node: chosen === key ? '' : key, before: '' });
  return html`<p class="facts">
      ${count(cells.length, 'node')}${failing > 0 ? html`, <span class="bad">${failing} failing</span>` : ''}
    </p>
    <${Cells} label="Nodes at a glance" cells=${cells} chosen=${chosen} onChoose=${choose} />`;
}

const CELL = {
  failed: 'bad',
  blocked: 'warn',
  not_reached: 'off',
  retrying: 'warn',
  running: 'busy',
  started: 'half',
  success: 'ok',
  ignored: 'ok',
  skipped: 'off',
};

/** Rows of 1,000 bars are read at most; of a large run those of the chosen nodes, or of failed and running tasks. */
const MAX_BARS = 1000;
const STARTED = 'failed,running,retrying,success,ignored';

function Bars({ base, graph, run, version, names, node, query }) {
  const path = `${base}/tasks${queryOf({ graph, limit: MAX_BARS, nodes: node, statuses: STARTED })}`;
  const tasks = useData(path, { again: version });
  const isCritical = query.has('critical');
  const shape = useData(isCritical ? `${base}/graph${queryOf({ graph })}` : null);
  return html`<label class="check"
      ><input type="checkbox" checked=${isCritical} onChange=${() => filterBy({ critical: isCritical ? '' : '1' })} /> Critical path</label
    >
    <${Loaded} from=${tasks}>
    ${({ items, next }) => {
      const rows = items.map((one) => ({ ...one, from: one.time_start, to: one.time_end }));
      const steps = shape.data === undefined ? [] : criticalPath(rows, shape.data.edges);
      const critical = new Set(steps.map(({ row }) => row));
      return html`${next !== null && html`<p class="quiet">Showing the first ${items.length.toLocaleString()} bars; select a node above to see all of its bars.</p>`}
        ${isCritical && html`<${CriticalPath} path=${steps} names=${names} />`}
        <${Timeline}
          from=${run.started_at}
          until=${run.ended_at}
          rows=${rows.map((one) => ({
            row: one.node,
            name: names[one.node],
            label: one.task,
            status: one.status,
            from: one.from,
            to: one.to,
            isCritical: critical.has(one),
            href: addressWith(logOf(one)),
          }))}
        />`;
    }}
  <//>`;
}

/** The reason for the duration of the run: each task that the next one waited for. */
const CriticalPath = ({ path, names }) =>
  path.length === 0
    ? html`<p class="quiet">Nothing has ended yet.</p>`
    : html`<ol class="critical-path" aria-label="Critical path">
        ${path.map(
          ({ row, wait }) => html`<li>
            ${placeOf(row, names)} <span class="quiet">${lasting(row.from, row.to)}${wait >= 1000 ? `, ${lasting(0, wait)} after the previous one` : ''}</span>
          </li>`,
        )}
      </ol>`;
