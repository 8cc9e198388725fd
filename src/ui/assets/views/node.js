import { query } from '../api.js';
import { html } from '../html.js';
import { Fold, Loaded, Missing, RunState, State, Title } from '../parts.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { Ago, Lasting } from '../times.js';
import { reasonOf, said, TASK_STATUSES } from '../words.js';

const LIST = ['/nodes', 'Nodes'];

/** One node: its roles, its hardware, and its results in runs. */
export function NodeView({ id }) {
  const again = listsChanged.value;
  const node = useData(`/api/v1/nodes/${id}`, { again });
  const cluster = useData(node.data?.cluster ? `/api/v1/clusters/${node.data.cluster}` : null);
  const assigned = useData(node.data?.cluster ? `/api/v1/clusters/${node.data.cluster}/tag_assignments` : null, {
    again,
  });
  const sources = new Map(
    (assigned.data ?? []).filter((one) => one.node_id === Number(id)).map((one) => [one.tag, one]),
  );
  if (node.data === undefined && node.problem !== undefined)
    return html`<${Missing} of=${`Node ${id}`} problem=${node.problem} list=${LIST} onRetry=${node.reload} />`;
  return html`<${Loaded} from=${node}>
    ${(one) => html`<${Title} of=${`Node ${one.name}`} trail=${[LIST]}>
        Node ${one.name} <${State} of=${one.status} /> ${!one.online && html`<${State} of="lost">offline<//>`}
      <//>
      ${one.error_msg && html`<p class="problem">${one.error_msg}</p>`}
      <dl class="details">
        <dt>Id</dt><dd>${one.id}</dd>
        <dt>Cluster</dt><dd>${one.cluster ? html`<a href=${`/clusters/${one.cluster}`}>${cluster.data?.name ?? one.cluster}</a>` : html`none; add it to a <a href="/clusters">cluster</a>`}</dd>
        ${one.site && html`<dt>Site</dt><dd><a href=${`/sites/${encodeURIComponent(one.site)}`}>${one.site}</a></dd>`}
        <dt>Roles</dt><dd>${one.roles.join(', ') || 'none'}${one.pending_roles.length > 0 ? `; the next deployment adds ${one.pending_roles.join(', ')}` : ''}</dd>
        <dt>Tags</dt><dd>${one.tags.length === 0 ? 'none' : one.tags.map((tag) => html`<${Tag} key=${tag} name=${tag} of=${sources.get(tag)} primary=${one.primary_tags.includes(tag)} />`)}</dd>
        <dt>Host name</dt><dd>${one.fqdn ?? one.hostname ?? ''}</dd>
        ${one.ip && html`<dt>Address</dt><dd>${one.ip}</dd>`}
        ${one.mac && html`<dt>MAC</dt><dd><code>${one.mac}</code></dd>`}
        ${one.os_platform && html`<dt>System</dt><dd>${one.os_platform}</dd>`}
        ${Object.keys(one.labels).length > 0 && html`<dt>Labels</dt><dd>${Object.entries(one.labels).map(([key, value]) => html`<span class="tag">${key}=${value}</span>`)}</dd>`}
      </dl>
      ${one.site && html`<h2>Runs of its site</h2><${History} node=${one} />`}
      ${one.cluster && html`<h2>Runs of its cluster</h2><${ClusterHistory} node=${one} />`}
      <h2>Hardware</h2>
      <${Fold} label="Disks, interfaces and facts as JSON">${() => html`<pre tabindex="0">${JSON.stringify({ meta: one.meta, network_data: one.network_data }, null, 2)}</pre>`}<//>`}
  <//>`;
}

const Tag = ({ name, of, primary }) => html`<span
  class="tag"
  title=${of === undefined ? undefined : of.role ? `from role ${of.role}` : `from ${of.source}`}
  >${name}${primary ? html`<span aria-label=", primary">★</span>` : ''}</span
>`;

function History({ node }) {
  const runs = useData(
    `/api/v1/sites/${encodeURIComponent(node.site)}/nodes/${encodeURIComponent(node.name)}/history${query({ limit: 20 })}`,
    {
      again: listsChanged.value,
    },
  );
  return html`<${Loaded} from=${runs}>
    ${({ items }) =>
      html`<${Table}
        label="Runs of this node"
        rows=${items}
        keyOf=${(one) => one.run.id}
        empty="No runs yet."
        columns=${[
          [
            'Run',
            (one) =>
              html`<a href=${`/runs/${one.run.id}?node=${encodeURIComponent(node.name)}`}>${said(one.run.kind)}</a>`,
            'name',
          ],
          ['State', ({ node: one }) => html`<${State} of=${one.state} />`],
          ['Group', ({ node: one }) => one.group ?? ''],
          ['Tries', ({ node: one }) => one.attempts, 'number'],
          ['Started', ({ node: one }) => html`<${Ago} of=${one.started_at} />`, 'number'],
          ['Took', ({ node: one }) => html`<${Lasting} from=${one.started_at} to=${one.ended_at} />`, 'number'],
          ['Reason', ({ node: one }) => reasonOf(one), 'wide'],
        ]}
      />`}
  <//>`;
}

/** Runs of graphs on its cluster, with its own tasks in each. */
function ClusterHistory({ node }) {
  const runs = useData(`/api/v1/runs${query({ label: `cluster:${node.cluster}`, limit: 10 })}`, {
    again: listsChanged.value,
  });
  return html`<${Loaded} from=${runs}>
    ${({ items }) =>
      html`<${Table}
        label="Runs of its cluster"
        rows=${items.filter((run) => run.labels.transaction !== undefined)}
        keyOf=${(run) => run.id}
        empty="No runs yet."
        columns=${[
          ['#', (run) => run.number ?? '', 'number'],
          [
            'Run',
            (run) => html`<a href=${`/runs/${run.id}${query({ node: node.id })}`}>${run.title ?? said(run.kind)}</a>`,
            'name',
          ],
          ['Outcome of the run', (run) => html`<${RunState} run=${run} />`],
          ['Tasks on this node', (run) => html`<${OwnTasks} run=${run} node=${node.id} />`, 'wide'],
          ['Started', (run) => html`<${Ago} of=${run.started_at} />`, 'number'],
          ['Took', (run) => html`<${Lasting} from=${run.started_at} to=${run.ended_at} />`, 'number'],
        ]}
      />`}
  <//>`;
}

function OwnTasks({ run, node }) {
  const { data } = useData(`/api/v1/runs/${run.id}/counts`, { again: run.outcome ?? run.done });
  if (data === undefined) return html`<span class="quiet">…</span>`;
  const counts = {};
  for (const graph of data.graphs)
    for (const [status, n] of Object.entries(graph.nodes[node] ?? {})) counts[status] = (counts[status] ?? 0) + n;
  const found = TASK_STATUSES.filter((status) => counts[status] > 0);
  if (found.length === 0) return html`<span class="quiet">none on this node</span>`;
  return found.map((status) => html`<${State} key=${status} of=${status}>${counts[status]} ${said(status)}<//> `);
}
