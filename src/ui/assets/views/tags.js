import { post, query as queryOf, request, send } from '../api.js';
import { Action, Choice, Search } from '../ask.js';
import { html } from '../html.js';
import { Empty, Loaded, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { useOwners } from './graphs.js';

/** Tags of a release, cluster or plugin: create, change, delete; and which nodes have them. */
export function TagsView({ query }) {
  const owners = useOwners();
  const options = [...owners].map(([key, name]) => [key, `${key.split('/')[0]} ${name}`]);
  const owner = query.get('owner') ?? options.find(([key]) => key.startsWith('cluster/'))?.[0] ?? options[0]?.[0];
  return html`<${Title} of="Tags" />
    ${
      owner === undefined
        ? html`<${Empty} title="No tags yet.">
            <p>Tags belong to releases, clusters and plugins. Install a <a href="/packages">package</a> first.</p>
          <//>`
        : html`<${OwnerTags} key=${owner} owner=${owner} options=${options} wanted=${query.get('name') ?? ''} />`
    }`;
}

function OwnerTags({ owner, options, wanted }) {
  const [kind, id] = owner.split('/');
  const base = `/api/v1/${kind}s/${id}/tags`;
  const again = listsChanged.value;
  const isCluster = kind === 'cluster';
  const tags = useData(`/api/v1/tags${queryOf({ [`${kind}_id`]: id })}`, { again });
  const assigned = useData(isCluster ? `/api/v1/clusters/${id}/tag_assignments` : null, { again });
  const nodes = useData(isCluster ? `/api/v1/nodes?cluster_id=${id}` : null, { again });
  const roles = useData(kind === 'plugin' ? null : `/api/v1/${kind}s/${id}/roles`);
  const names = new Map((nodes.data ?? []).map((one) => [one.id, one.name]));
  const done = () => {
    tags.reload();
    assigned.reload();
  };
  const create = async (given) => {
    await post(base, { name: given.name, meta: metaOf(given), ...(given.role ? { role: given.role } : {}) });
    done();
    return `Tag ${given.name} created.`;
  };
  const on = (tag) => (assigned.data ?? []).filter((one) => one.tag === tag.name);
  return html`<div class="filters" role="search" aria-label="Filter tags">
      <${Choice} label="Owner" value=${owner} options=${options} onChange=${(value) => filterBy({ owner: value, name: '' })} />
      <${Search} label="Name" value=${wanted} onChange=${(value) => filterBy({ name: value })} />
      ${
        kind !== 'plugin' &&
        html`<${Action}
          label="Create a tag"
          reason=${false}
          fields=${[
            { name: 'name', label: 'Name', needed: true, autofocus: true },
            {
              name: 'role',
              label: 'Role with the tag',
              options: [['', 'none'], ...(roles.data ?? []).map((one) => [one.name, one.name])],
            },
            PRIMARY,
          ]}
          act=${create}
        />`
      }
    </div>
    ${kind === 'plugin' && html`<p class="quiet">Plugin tags come with their packages and cannot be changed here.</p>`}
    <${Loaded} from=${tags}>
      ${(all) =>
        html`<${Table}
          label="Tags"
          rows=${all.filter((one) => one.name.includes(wanted))}
          keyOf=${(one) => `${one.owner.kind}/${one.owner.id}/${one.name}`}
          empty=${all.length === 0 ? 'No tags yet.' : 'No tags match.'}
          columns=${[
            ['Tag', (one) => html`<span class="tag">${one.name}</span>`, 'name'],
            [
              'Owner',
              (one) => html`${one.owner.kind}${one.read_only ? html` <span class="quiet">read only</span>` : ''}`,
            ],
            ['Primary', (one) => (one.meta.has_primary ? 'one node' : '')],
            ...(isCluster ? [['Nodes', (one) => html`<${Holders} of=${on(one)} names=${names} />`, 'wide']] : []),
            [
              '',
              (one) =>
                html`<${TagActions} tag=${one} on=${on(one)} names=${isCluster ? names : null} onDone=${done} />`,
              'actions',
            ],
          ]}
        />`}
    <//>`;
}

const PRIMARY = { name: 'primary', label: 'One of its nodes is the primary', type: 'checkbox' };

const metaOf = (given) => ({ has_primary: given.primary === 'true' });

/** The nodes that have a tag, and its source. */
const Holders = ({ of, names }) =>
  of.map(
    (one) =>
      html`<span class="tag" title=${one.role ? `from role ${one.role}` : `from ${one.source}`}>${names.get(one.node_id) ?? one.node_id}</span>`,
  );

/** `names`: of the cluster's nodes, null where there are none to give it to. */
function TagActions({ tag, on, names, onDone }) {
  const path = `/api/v1/${tag.owner.kind}s/${tag.owner.id}/tags/${encodeURIComponent(tag.name)}`;
  const holders = new Set(on.map((one) => one.node_id));
  const change = (verb) => async (given) => {
    await post(`/api/v1/tags/${verb}`, { nodes: given.nodes.map(Number), tags: [tag.name] });
    onDone();
  };
  const choices = (has) => [
    {
      name: 'nodes',
      label: 'Nodes',
      type: 'choices',
      needed: true,
      options: [...(names ?? [])].filter(([id]) => holders.has(id) === has).map(([id, name]) => [String(id), name]),
    },
  ];
  const update = async (given) => {
    await send('PUT', path, { name: tag.name, meta: { ...tag.meta, ...metaOf(given) } });
    onDone();
  };
  const remove = async () => {
    await request(path, { method: 'DELETE' });
    onDone();
  };
  return html`${
    names !== null &&
    html`<${Action}
        label="Assign"
        title=${`Assign ${tag.name}`}
        reason=${false}
        disabled=${names.size === holders.size && (names.size === 0 ? 'The cluster has no nodes yet.' : 'All nodes have it.')}
        fields=${choices(false)}
        act=${change('assign')}
        done=${`${tag.name} assigned.`}
      />
      <${Action}
        label="Unassign"
        title=${`Remove ${tag.name} from nodes`}
        reason=${false}
        disabled=${holders.size === 0 && 'No node has it.'}
        fields=${choices(true)}
        act=${change('unassign')}
        done=${`${tag.name} removed.`}
      />`
  }
    ${
      !tag.read_only &&
      html`<${Action}
          label="Change"
          title=${`Change ${tag.name}`}
          reason=${false}
          fields=${[{ ...PRIMARY, value: tag.meta.has_primary }]}
          act=${update}
          done=${`${tag.name} changed.`}
        />
        <${Action}
          label="Delete"
          title=${`Delete ${tag.name}`}
          explain="Removes it from all nodes."
          reason=${false}
          act=${remove}
          done=${`${tag.name} deleted.`}
          danger
        />`
    }`;
}
