import { query as queryOf } from '../api.js';
import { html } from '../html.js';
import { Choice, Fold, Loaded } from '../parts.js';
import { filterBy } from '../router.js';
import { useData } from '../store.js';
import { count, SETTLED, said, sum, worst } from '../words.js';
import { GraphPicture } from './graph-picture.js';
import { TaskLog } from './task-log.js';
import { TaskTable } from './task-table.js';
import { Timeline } from './timeline.js';

/** Above so many tasks the picture is made only when asked for. */
const SMALL_GRAPH = 60;

/** A run of graphs on a cluster: nodes at a glance, tasks, the graph, the timeline, logs. */
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
  const tasks = own(byTask);
  // What the store counts, not what the run says: rows are read from the store, which comes a moment later.
  const version = JSON.stringify(own(byNode));
  const log = query.get('log');
  return html`${
    status.silent.length > 0 &&
    html`<p class="problem" role="status">
      Waiting for agents that do not answer: ${status.silent.map((one) => names[one] ?? one).join(', ')}.
    </p>`
  }
    ${
      status.running.length > 0 &&
      html`<p class="facts">Waiting for ${status.running.slice(0, 6).join(', ')}${status.running.length > 6 ? ' …' : ''}</p>`
    }
    ${
      ids.length > 1 &&
      html`<div class="filters">
      <${Choice}
        label="Graph"
        value=${graph.type}
        options=${ids.map((one) => [graphs[one].type, `${graphs[one].type}: ${said(graphs[one].status)}`])}
        onChange=${(value) => filterBy({ graph: value, before: '' })}
      />
    </div>`
    }
    ${graph.message && html`<p class="problem">${graph.message}</p>`}
    <${NodeCells} nodes=${own(byNode)} names=${names} />
    ${log !== null && html`<${TaskLog} key=${log} base=${base} task=${log} live=${run.outcome === null} names=${names} />`}
    <${TaskTable} base=${base} graph=${graph.type} query=${query} version=${version} live=${run.outcome === null} names=${names} />
    <h2>Graph</h2>
    <${Fold} label=${`${graph.type}: ${count(tasks.length, 'task')}, ${count(own(byNode).length, 'node')}`} open=${tasks.length <= SMALL_GRAPH}>
      ${() =>
        graph.planned
          ? html`<${GraphPicture}
              path=${`${base}/graph.svg${queryOf({ graph: graph.type })}`}
              states=${new Map(tasks.map(([name, counts]) => [name, { look: worst(counts), text: saidCounts(counts) }]))}
              onChoose=${(task) => filterBy({ task, before: '' })}
            />`
          : html`<p class="quiet">It is drawn once it is planned.</p>`}
    <//>
    <${TaskTimeline} base=${base} graph=${graph.type} run=${run} version=${version} names=${names} query=${query} />
    <p class="quiet">
      <a href=${`/api/v1/transactions/${chosen}/deployment_history`} target="_blank">History as JSON</a> ·
      <a href=${`/api/v1/transactions/${chosen}/plan`} target="_blank">Plan with reasons</a>
      ${run.labels.cluster && html` · <a href=${`/clusters/${run.labels.cluster}`}>Cluster ${run.labels.cluster}</a>`}
    </p>`;
}

const openGraph = (ids, graphs) =>
  ids.find((one) => graphs[one].status === 'running') ?? ids.find((one) => graphs[one].status === 'error') ?? ids[0];

const saidCounts = (counts) =>
  Object.entries(counts)
    .map(([status, n]) => `${n} ${said(status)}`)
    .join(', ');

/** A cell for each node, by its worst task. */
function NodeCells({ nodes, names }) {
  const cells = nodes.filter(([node]) => node !== 'null');
  const failing = cells.filter(([, counts]) => sum(counts, ['failed', 'dep_failed']) > 0).length;
  return html`<section aria-label="Nodes at a glance">
    <p class="facts">${count(cells.length, 'node')}${failing > 0 ? html`, <span class="bad">${failing} failing</span>` : ''}</p>
    <div class="grid">
      ${cells.map(([node, counts]) => {
        const state = worst(counts);
        const text = `${names[node] ?? node}: ${sum(counts, SETTLED)} of ${sum(counts)} tasks, ${saidCounts(counts)}`;
        return html`<button
          type="button"
          key=${node}
          class=${`cell ${CELL[state] ?? 'wait'}`}
          title=${text}
          aria-label=${text}
          onClick=${() => filterBy({ node, before: '' })}
        ></button>`;
      })}
    </div>
  </section>`;
}

const CELL = {
  failed: 'bad',
  dep_failed: 'bad',
  retrying: 'warn',
  running: 'busy',
  started: 'half',
  successful: 'ok',
  ignored: 'ok',
  skipped: 'off',
};

/** Rows of 1,000 bars are read at most; of a large run those of the chosen nodes, or of what failed and runs. */
const MOST_BARS = 1000;

function TaskTimeline({ base, graph, run, version, names, query }) {
  const node = query.get('node');
  return html`<${Fold} label="Timeline of nodes" open=${true}>
    ${() => html`<${Bars} ...${{ base, graph, run, version, names, node }} />`}
  <//>`;
}

function Bars({ base, graph, run, version, names, node }) {
  const path = `${base}/tasks${queryOf({ graph, limit: MOST_BARS, nodes: node, statuses: 'failed,running,retrying,successful,ignored' })}`;
  const tasks = useData(path, { again: version });
  return html`<${Loaded} from=${tasks}>
    ${({ items, next }) =>
      html`${next !== null && html`<p class="quiet">The first ${items.length} bars; choose a node above to see all of its.</p>`}
        <${Timeline}
          from=${run.started_at}
          until=${run.ended_at}
          rows=${items.map((one) => ({
            row: one.node,
            name: names[one.node],
            label: one.task,
            status: one.status,
            from: one.time_start,
            to: one.time_end,
          }))}
        />`}
  <//>`;
}
