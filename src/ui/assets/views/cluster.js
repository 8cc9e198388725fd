import { useState } from 'preact/hooks';
import { ApiProblem, post, query as queryOf, send } from '../api.js';
import { Choice, Choices } from '../ask.js';
import { html } from '../html.js';
import { forbidden } from '../identity.js';
import { Fold, Loaded, Missing, Problem, State, say, Tabs, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, problemOf, useData } from '../store.js';
import { Table } from '../table.js';
import { count } from '../words.js';
import { ClusterNodes } from './cluster-nodes.js';
import { GraphPicture } from './graph-picture.js';
import { RunGraphs } from './run-graphs.js';
import { RunGrid } from './run-grid.js';
import { RunTable } from './runs.js';

const LIST = ['/clusters', 'Clusters'];
const VIEWS = [
  ['nodes', 'Nodes'],
  ['graphs', 'Graphs and plan'],
  ['runs', 'Runs'],
  ['settings', 'Plugins and settings'],
];

/** One cluster: checks, nodes with roles and tags, plan, graph, settings, runs. */
export function ClusterView({ id, query }) {
  const base = `/api/v1/clusters/${id}`;
  const again = listsChanged.value;
  const cluster = useData(base, { again });
  const nodes = useData(`/api/v1/nodes${queryOf({ cluster_id: id })}`, { again });
  const checks = useData(`${base}/checks`, { again });
  const tags = useData(`/api/v1/tags${queryOf({ cluster_id: id })}`, { again });
  const release = useData(cluster.data ? `/api/v1/releases/${cluster.data.release_id}` : null);
  const graphs = useData(`/api/v1/graphs${queryOf({ clusters_ids: id, fetch_related: '1' })}`, { again });
  const types = [...new Set((graphs.data ?? []).flatMap((one) => one.relations.map(({ type }) => type)))].sort();
  const type = query.get('type') ?? (types.includes('default') ? 'default' : types[0]);
  const name = cluster.data?.name ?? id;
  const asked = query.has('plan') ? 'graphs' : query.has('settings') ? 'settings' : query.get('view');
  const view = VIEWS.some(([key]) => key === asked) ? asked : 'nodes';
  if (cluster.data === undefined && cluster.problem !== undefined)
    return html`<${Missing} of=${`Cluster ${id}`} problem=${cluster.problem} list=${LIST} onRetry=${cluster.reload} />`;
  const reload = () => {
    nodes.reload();
    tags.reload();
    checks.reload();
  };
  return html`<${Title}
      of=${`Cluster ${name}`}
      trail=${[LIST]}
      actions=${cluster.data && html`<${RunGraphs} id=${Number(id)} types=${types} type=${type} locked=${cluster.data.is_locked} nodes=${nodes.data ?? []} />`}
    >
      Cluster ${name} ${cluster.data && html`<${State} of=${cluster.data.status} />`}
      ${cluster.data?.is_locked && html` <${State} of="running">a run is in progress<//>`}
    <//>
    ${cluster.data && html`<${Facts} cluster=${cluster.data} release=${release.data} />`}
    <${Loaded} from=${checks}>${(data) => html`<${Checks} of=${data} />`}<//>
    <${Tabs} views=${VIEWS} current=${view} clears=${{ plan: '', settings: '', name: '', page: '' }} />
    ${
      view === 'nodes' &&
      html`<${Loaded} from=${nodes}>
        ${(all) => html`<${ClusterNodes} ...${{ base, query, nodes: all, tags: (tags.data ?? []).map((one) => one.name), onDone: reload }} />`}
      <//>
      <${Fold} label="Add nodes to the cluster" open=${query.has('take')}>${() => html`<${FreeNodes} base=${base} onDone=${reload} />`}<//>`
    }
    ${view === 'graphs' && html`<${Graphs} ...${{ base, query, types, type, name, nodes: nodes.data ?? [] }} />`}
    ${view === 'runs' && html`<${ClusterRuns} id=${id} />`}
    ${
      view === 'settings' &&
      html`<h2>Plugins</h2>
      <${Plugins} base=${base} onDone=${reload} />
      <h2>Settings</h2>
      <${Settings} base=${base} />`
    }`;
}

/** A graph of the cluster: its plan, and its drawing. */
const Graphs = ({ base, query, types, type, name, nodes }) => html`<div class="filters">
    <${Choice} label="Type" value=${type} options=${types.map((one) => [one, one])} onChange=${(value) => filterBy({ type: value })} />
    ${type && html`<a href=${`${base}/deployment_tasks${queryOf({ graph_type: type })}`} download=${`${name}-${type}.json`}>Download the merged tasks</a>`}
  </div>
  ${
    type
      ? html`<${Fold} label="Plan of a run started now" open=${query.has('plan')}>${() => html`<${Plan} base=${base} type=${type} nodes=${nodes} />`}<//>
      <${Fold} label="Drawing of the merged graph">${() => html`<${GraphPicture} path=${`${base}/deploy_tasks/graph.svg${queryOf({ graph_type: type })}`} />`}<//>`
      : html`<p class="quiet">No graphs yet.</p>`
  }`;

const Facts = ({ cluster, release }) => html`<p class="facts">
  ${`release ${release ? `${release.name} ${release.version}` : cluster.release_id} · `}${
    cluster.site && html`site <a href=${`/sites/${encodeURIComponent(cluster.site)}`}>${cluster.site}</a>${' · '}`
  }<a href=${`/tags?owner=cluster/${cluster.id}`}>its tags</a>
</p>`;

const Checks = ({ of }) =>
  of.findings.length === 0
    ? html`<p class="facts"><${State} of="ok">ready for a run<//></p>`
    : html`<ul class=${of.ok ? 'banner plain' : 'problem plain'} aria-label="Checks">
        ${of.findings.map((one) => html`<li><strong>${one.severity}</strong> ${one.message} ${one.hint && html`<span class="quiet">${one.hint}</span>`}</li>`)}
      </ul>`;

function FreeNodes({ base, onDone }) {
  const free = useData('/api/v1/nodes?cluster_id=');
  const roles = useData(`${base}/roles`);
  const [problem, setProblem] = useState(undefined);
  const why = forbidden('operator');
  const assign = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const [nodes, chosen] = [form.getAll('node'), form.getAll('role')];
    if (nodes.length === 0)
      return setProblem({ detail: 'No nodes selected.', hint: 'Select at least one, and its roles.' });
    try {
      await post(
        `${base}/assignment`,
        nodes.map((one) => ({ id: Number(one), roles: chosen })),
      );
      setProblem(undefined);
      say(`${count(nodes.length, 'node')} added.`);
      free.reload();
      onDone();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return html`<${Loaded} from=${free}>
    ${(nodes) =>
      nodes.length === 0
        ? html`<p class="quiet">No free nodes. Register some, or deploy a site: see <a href="/nodes">nodes</a>.</p>`
        : html`<form onSubmit=${assign} class="card">
            <${Choices} name="node" label="Nodes" options=${nodes.map((one) => [String(one.id), one.site ? `${one.name} (${one.site})` : one.name])} />
            <${Choices} name="role" label="Roles" options=${(roles.data ?? []).map((one) => [one.name, one.name])} />
            <${Problem} of=${problem} />
            ${why && html`<p class="quiet">${why}</p>`}
            <button type="submit" class="main" disabled=${why !== undefined}>Assign</button>
          </form>`}
  <//>`;
}

/** What runs on each node, what does not, and why. */
function Plan({ base, type, nodes }) {
  const names = new Map(nodes.map((one) => [String(one.id), one.name]));
  const nameOf = (node) => names.get(node) ?? node;
  const plan = useData(`${base}/plan${queryOf({ graph_type: type })}`);
  return html`<${Loaded} from=${plan}>
    ${(data) => html`<p class="facts">
        ${count(data.totals.running, 'task')} would run on ${count(data.totals.nodes, 'node')}; ${data.totals.first_time} for the first time.
      </p>
      ${data.warnings.length > 0 && html`<ul class="banner plain">${data.warnings.map((one) => html`<li>${one.message}</li>`)}</ul>`}
      ${data.nodes.slice(0, 100).map(
        (
          node,
        ) => html`<${Fold} key=${node.node} label=${`Node ${nameOf(node.node)}: ${node.runs.length} run, ${node.skipped.length} skipped`}>
          ${() => html`<${PlanNode} node=${node} />`}
        <//>`,
      )}
      ${data.nodes.length > 100 && html`<p class="quiet">Showing the first 100 of ${data.nodes.length} nodes.</p>`}
      <${Reasons} heading="Not placed on any node" rows=${data.not_placed.map((one) => [one.task, one.reason])} />
      <${Reasons} heading="Not on the primary node" rows=${data.skipped_primaries.map((one) => [one.task, `node ${nameOf(one.node)} has it as ${one.tag}`])} />
      <${Reasons} heading="Omitted nodes" rows=${data.left_out.map((one) => [nameOf(one.node), one.reason])} />`}
  <//>`;
}

const PlanNode = ({ node }) => html`<${Table}
  label=${`Plan of node ${node.node}`}
  rows=${[...node.runs.map((one) => ({ ...one, state: 'runs' })), ...node.skipped.map((one) => ({ ...one, state: 'skipped' }))]}
  keyOf=${(one) => one.task}
  columns=${[
    ['Task', (one) => one.task],
    ['', (one) => html`<${State} of=${one.state === 'runs' ? 'running' : 'skipped'}>${one.state}<//>`],
    [
      'Why',
      (one) => one.why ?? [one.first_time ? 'first time' : '', ...(one.changed ?? [])].filter(Boolean).join('; '),
      'wide',
    ],
    ['Values', (one) => (one.values ?? []).join('; '), 'wide'],
    ['Placed by', (one) => one.placed_by ?? ''],
  ]}
/>`;

const Reasons = ({ heading, rows }) =>
  rows.length > 0 &&
  html`<h3>${heading}</h3>
    <ul class="plain">${rows.map(([what, why]) => html`<li><strong>${what}</strong> ${why}</li>`)}</ul>`;

function ClusterRuns({ id }) {
  const runs = useData(`/api/v1/runs${queryOf({ label: `cluster:${id}`, limit: 20 })}`, { again: listsChanged.value });
  return html`<${Loaded} from=${runs}>
    ${({ items, next }) => html`<${RunTable} runs=${items} empty="No runs yet: run a graph above." />
      ${next !== null && html`<p><a href=${`/runs?cluster=${id}`}>Show all runs of this cluster</a></p>`}
      <${RunGrid} runs=${items.filter((run) => run.labels.transaction !== undefined)} />`}
  <//>`;
}

/** Plugins that fit the cluster, each with a button that enables or disables it. */
function Plugins({ base, onDone }) {
  const settings = useData(`${base}/attributes`);
  const [problem, setProblem] = useState(undefined);
  const why = forbidden('operator');
  const set = (name, enabled) => async () => {
    if (why !== undefined) return say(why);
    try {
      await send('PATCH', `${base}/attributes`, { editable: { [name]: { metadata: { enabled } } } });
      setProblem(undefined);
      say(`${name} ${enabled ? 'enabled' : 'disabled'}.`);
      settings.reload();
      onDone();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  const button = ([name, { metadata }]) => html`<button
      type="button"
      title=${why}
      aria-disabled=${why === undefined ? undefined : 'true'}
      onClick=${set(name, !metadata.enabled)}
    >
      ${metadata.enabled ? 'Disable' : 'Enable'}
    </button>`;
  return html`<${Loaded} from=${settings}>
    ${({ editable }) => html`<${Table}
        label="Plugins"
        rows=${Object.entries(editable).filter(([, group]) => group.metadata?.class === 'plugin')}
        keyOf=${([name]) => name}
        empty="No installed plugin fits its release."
        columns=${[
          ['Plugin', ([name, { metadata }]) => html`<strong>${name}</strong> ${metadata.label}`],
          [
            'State',
            ([, { metadata }]) =>
              html`<${State} of=${metadata.enabled ? 'ok' : 'skipped'}>${metadata.enabled ? 'enabled' : 'disabled'}<//>`,
          ],
          ['', button],
        ]}
      />
      <${Problem} of=${problem} />`}
  <//>`;
}

function Settings({ base }) {
  const settings = useData(`${base}/attributes`);
  const [problem, setProblem] = useState(undefined);
  const why = forbidden('operator');
  const save = async (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get('settings');
    try {
      await send('PUT', `${base}/attributes`, parsed(text));
      setProblem(undefined);
      say('Settings saved.');
      settings.reload();
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return html`<${Loaded} from=${settings}>
    ${(data) => html`<form onSubmit=${save} class="card">
      <label class="field"><span>Settings</span>
        <textarea name="settings" rows="18" spellcheck="false" defaultValue=${JSON.stringify(data, null, 2)} aria-invalid=${problem === undefined ? undefined : 'true'}></textarea></label>
      <${Problem} of=${problem} />
      ${why && html`<p class="quiet">${why}</p>`}
      <button type="submit" class="main" disabled=${why !== undefined}>Save</button>
    </form>`}
  <//>`;
}

/** @throws ApiProblem with the line, like one of the API */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = /position (\d+)/.exec(error.message)?.[1];
    const line = at === undefined ? '' : `line ${text.slice(0, Number(at)).split('\n').length}: `;
    throw new ApiProblem({
      code: 'page',
      detail: `Not valid JSON: ${line}${error.message}`,
      hint: 'Nothing was saved. Fix it, then save again.',
    });
  }
}
