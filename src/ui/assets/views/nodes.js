import { NODE_STATUSES } from 'core/words';
import { query } from '../api.js';
import { Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { Cells, Command, Empty, Loaded, State, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { count } from '../words.js';

const RANK = { error: 0, deploying: 1, provisioning: 1 };

/** The inventory: a grid of all, and a table of those that are asked for. */
export function NodesView({ query: given }) {
  const filter = { status: given.get('status') ?? '', cluster_id: given.get('cluster') ?? '' };
  const [name, role] = [given.get('name') ?? '', given.get('role') ?? ''];
  const nodes = useData(`/api/v1/nodes${query({ ...filter, roles: role })}`, {
    again: listsChanged.value,
    every: 15_000,
  });
  const clusters = useData('/api/v1/clusters', { again: listsChanged.value });
  const nameOf = new Map((clusters.data ?? []).map((one) => [one.id, one.name]));
  const isFiltered = [name, role, filter.status, filter.cluster_id].some((one) => one !== '');
  const choose = (field) => (value) => filterBy({ [field]: value });
  const roles = [...new Set((nodes.data ?? []).flatMap((one) => [...one.roles, ...one.pending_roles]))].sort();
  return html`<${Title} of="Nodes" />
    <form class="filters" role="search" aria-label="Filter nodes" onSubmit=${(event) => event.preventDefault()}>
      <${Search} label="Name" value=${name} onChange=${choose('name')} />
      <${Choice} label="Cluster" value=${filter.cluster_id} options=${[['', 'all'], ...[...nameOf].map(([id, one]) => [String(id), one])]} onChange=${choose('cluster')} />
      <${Choice} label="Role" value=${role} options=${[['', 'all'], ...[...new Set([...roles, ...(role ? [role] : [])])].map((one) => [one, one])]} onChange=${choose('role')} />
      <${Choice} label="Status" value=${filter.status} options=${[['', 'all'], ...NODE_STATUSES.map((one) => [one, one])]} onChange=${choose('status')} />
      ${isFiltered && html`<button type="button" onClick=${showAll}>Show all</button>`}
    </form>
    <${Loaded} from=${nodes}>
      ${(all) => {
        const wanted = all
          .filter((one) => `${one.name} ${one.hostname} ${one.mac} ${one.ip}`.includes(name))
          .sort((a, b) => (RANK[a.status] ?? 2) - (RANK[b.status] ?? 2) || a.id - b.id);
        if (all.length === 0 && !isFiltered) return html`<${NoNode} />`;
        const cells = wanted.map((one) => ({
          key: one.id,
          name: one.name,
          look: CELL[one.status] ?? 'wait',
          note: one.online ? one.status : 'away',
          away: !one.online,
          text: `${one.name}: ${one.status}${one.online ? '' : ', offline'}`,
        }));
        const failed = wanted.filter((one) => one.status === 'error').length;
        return html`<p class="facts">
            ${count(wanted.length, 'node')}${failed > 0 ? html`, <span class="bad">${failed} failed</span>` : ''}${wanted.some((one) => !one.online) ? `, ${wanted.filter((one) => !one.online).length} offline` : ''}
          </p>
          <${Cells} label="Nodes at a glance" cells=${cells} chosen=${name} onChoose=${({ name: chosen }) => filterBy({ name: chosen === name ? '' : chosen })} />
          <${NodeTable} nodes=${wanted} nameOf=${nameOf} />`;
      }}
    <//>`;
}

const CELL = {
  ready: 'ok',
  error: 'bad',
  deploying: 'busy',
  provisioning: 'busy',
  provisioned: 'half',
  stopped: 'warn',
  removing: 'warn',
};

const showAll = () => filterBy({ name: '', role: '', status: '', cluster: '' });

const NoNode = () => html`<${Empty} title="No nodes yet.">
  <p>Nodes are added when their <a href="/sites">site</a> is deployed. Register others by name, one or many:</p>
  <${Command} text="sitewright node register --name NAME" />
  <${Command} text="sitewright node register --site SITE" />
<//>`;

/** Nodes with their roles. */
export const NodeTable = ({ nodes, nameOf, selection, empty = 'No nodes match.' }) =>
  html`<${Table}
    label="Nodes"
    rows=${nodes}
    keyOf=${(one) => one.id}
    empty=${empty}
    selection=${selection}
    columns=${[
      [
        'Node',
        (one) => html`<a href=${`/nodes/${one.id}`}>${one.name}</a> <span class="quiet" title="id">${one.id}</span>`,
        'name',
      ],
      [
        'Status',
        (one) =>
          html`<${State} of=${one.status} /> ${!one.online && html`<span class="bad">offline</span>`} ${one.error_msg && html`<p class="bad">${one.error_msg}</p>`}`,
      ],
      ...(nodes.some((one) => one.site)
        ? [['Site', (one) => one.site && html`<a href=${`/sites/${encodeURIComponent(one.site)}`}>${one.site}</a>`]]
        : []),
      ...(nameOf === undefined
        ? []
        : [
            [
              'Cluster',
              (one) =>
                one.cluster &&
                html`<a href=${`/clusters/${one.cluster}`}>${nameOf.get(one.cluster) ?? one.cluster}</a>`,
            ],
          ]),
      [
        'Roles',
        (one) =>
          html`${one.roles.join(', ')} ${one.pending_roles.length > 0 && html`<span class="quiet">pending: ${one.pending_roles.join(', ')}</span>`}`,
      ],
      [
        'Tags',
        (one) =>
          one.tags.map(
            (tag) =>
              html`<span class="tag" title=${one.primary_tags.includes(tag) ? 'primary' : undefined}>${tag}${one.primary_tags.includes(tag) ? '★' : ''}</span>`,
          ),
      ],
      ...(nodes.some((one) => one.ip || one.mac)
        ? [['Address', (one) => html`${one.ip ?? ''} <span class="quiet">${one.mac ?? ''}</span>`]]
        : []),
    ]}
  />`;
