import { post } from '../api.js';
import { Action, Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { Pages } from '../parts.js';
import { filterBy } from '../router.js';
import { Chosen, useSelection } from '../table.js';
import { count, some } from '../words.js';
import { NodeTable } from './nodes.js';

const PAGE = 50;

/** Nodes of a cluster, in pages, with filters in the address; actions apply to one or many. */
export function ClusterNodes({ base, nodes, tags, query, onDone }) {
  const [name, role, status] = ['name', 'role', 'status'].map((key) => query.get(key) ?? '');
  const page = Number(query.get('page') ?? 0);
  const rolesOf = (one) => [...one.roles, ...one.pending_roles];
  const wanted = nodes.filter(
    (one) =>
      `${one.name} ${one.hostname} ${one.ip} ${one.mac} ${one.tags.join(' ')}`
        .toLowerCase()
        .includes(name.toLowerCase()) &&
      (role === '' || rolesOf(one).includes(role)) &&
      (status === '' || one.status === status),
  );
  const selection = useSelection(wanted, { keyOf: (one) => one.id, nameOf: (one) => one.name });
  const choose = (field) => (value) => filterBy({ [field]: value, page: '' });
  const choices = (all) => [['', 'all'], ...[...new Set(all)].sort().map((one) => [one, one])];
  const isFiltered = name !== '' || role !== '' || status !== '';
  const done = () => {
    selection.clear();
    onDone();
  };
  return html`<form class="filters" role="search" aria-label="Filter nodes" onSubmit=${(event) => event.preventDefault()}>
      <${Search} label="Name, address or tag" value=${name} onChange=${choose('name')} />
      <${Choice} label="Role" value=${role} options=${choices(nodes.flatMap(rolesOf))} onChange=${choose('role')} />
      <${Choice} label="Status" value=${status} options=${choices(nodes.map((one) => one.status))} onChange=${choose('status')} />
      ${isFiltered && html`<button type="button" onClick=${() => filterBy({ name: '', role: '', status: '', page: '' })}>Show all</button>`}
      <span class="quiet">${count(wanted.length, 'node')}</span>
      ${
        wanted.length > PAGE &&
        html`<button type="button" onClick=${() =>
          selection.toggle(
            wanted.map((one) => one.id),
            true,
          )}>Choose all ${wanted.length}</button>`
      }
    </form>
    <${Chosen} selection=${selection} what=${selection.rows.length === 1 ? 'node' : 'nodes'}>
      <${NodeActions} base=${base} nodes=${selection.rows} tags=${tags} onDone=${done} />
    <//>
    <${NodeTable}
      nodes=${wanted.slice(page * PAGE, (page + 1) * PAGE)}
      selection=${selection}
      empty=${isFiltered ? 'No nodes match.' : 'No nodes yet: add some below.'}
    />
    <${Pages} page=${page} size=${PAGE} of=${wanted.length} />`;
}

/** Actions for one or many nodes of a cluster. */
export function NodeActions({ base, nodes, tags, onDone }) {
  const ids = nodes.map((one) => one.id);
  const names = some(
    nodes.map((one) => one.name),
    4,
  );
  const change = (verb) => async (given) => {
    await post(`/api/v1/tags/${verb}`, { nodes: ids, tags: given.tags });
    onDone();
  };
  const take = async () => {
    await post(
      `${base}/unassignment`,
      ids.map((id) => ({ id })),
    );
    onDone();
  };
  const choices = (all) => [
    {
      name: 'tags',
      label: 'Tags',
      type: 'choices',
      needed: true,
      options: [...new Set(all)].sort().map((one) => [one, one]),
    },
  ];
  const free = tags.filter((tag) => nodes.some((one) => !one.tags.includes(tag)));
  const own = nodes.flatMap((one) => one.tags);
  return html`<${Action}
      label="Assign tags"
      title=${`Assign tags to ${names}`}
      reason=${false}
      disabled=${free.length === 0 && 'All tags of this cluster are assigned. Create more on the page Tags.'}
      fields=${choices(free)}
      act=${change('assign')}
      done=${`${names}: tags assigned.`}
    />
    <${Action}
      label="Unassign"
      title=${`Remove tags from ${names}`}
      reason=${false}
      disabled=${own.length === 0 && 'No tags to remove.'}
      fields=${choices(own)}
      act=${change('unassign')}
      done=${`${names}: tags removed.`}
    />
    <${Action}
      label="Remove"
      title=${`Remove ${names} from the cluster`}
      explain="Deployed nodes leave with the next deployment, others immediately."
      reason=${false}
      act=${take}
      done=${`${count(nodes.length, 'node')} removed from the cluster.`}
      danger
    />`;
}
