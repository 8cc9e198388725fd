import { post, query as queryOf, request, send } from '../api.js';
import { html } from '../html.js';
import { Action, Choice, Loaded, State, Table, Title } from '../parts.js';
import { filterBy } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { useOwners } from './graphs.js';

/** Tags of a release, cluster or plugin: create, change, delete; and which nodes have them. */
export function TagsView({ query }) {
  const owners = useOwners();
  const options = [...owners].map(([key, name]) => [key, `${key.split('/')[0]} ${name}`]);
  const owner = query.get('owner') ?? options.find(([key]) => key.startsWith('cluster/'))?.[0] ?? options[0]?.[0];
  return html`<${Title} of="Tags" />
    ${
      owner === undefined
        ? html`<p class="quiet">Tags belong to releases, clusters and plugins; there is none yet.</p>`
        : html`<div class="filters"><${Choice} label="Of" value=${owner} options=${options} onChange=${(value) => filterBy({ owner: value })} /></div>
          <${OwnerTags} key=${owner} owner=${owner} />`
    }`;
}

function OwnerTags({ owner }) {
  const [kind, id] = owner.split('/');
  const base = `/api/v1/${kind}s/${id}/tags`;
  const tags = useData(`/api/v1/tags${queryOf({ [`${kind}_id`]: id })}`, { again: listsChanged.value });
  const assigned = useData(kind === 'cluster' ? `/api/v1/clusters/${id}/tag_assignments` : null, {
    again: listsChanged.value,
  });
  const nodes = useData(kind === 'cluster' ? `/api/v1/nodes?cluster_id=${id}` : null, { again: listsChanged.value });
  const names = new Map((nodes.data ?? []).map((one) => [one.id, one.name]));
  const done = () => {
    tags.reload();
    assigned.reload();
  };
  const meta = (given) => ({ has_primary: given.primary === 'true' });
  const create = async (given) => {
    await post(base, { name: given.name, meta: meta(given), ...(given.role ? { role: given.role } : {}) });
    done();
  };
  const own = (tag) => `/api/v1/${tag.owner.kind}s/${tag.owner.id}/tags/${encodeURIComponent(tag.name)}`;
  const on = (tag) => (assigned.data ?? []).filter((one) => one.tag === tag.name);
  const assign =
    (verb, tag) =>
    async ({ nodes: text }) => {
      await post(`/api/v1/tags/${verb}`, { nodes: text.split(',').map(Number), tags: [tag.name] });
      done();
    };
  return html`${
    kind !== 'plugin' &&
    html`<div class="actions">
      <${Action}
        label="Create a tag"
        reason=${false}
        fields=${[
          { name: 'name', label: 'Name', needed: true },
          { name: 'role', label: 'Role that brings it', placeholder: 'none' },
          { name: 'primary', label: 'One of its nodes is the primary', type: 'checkbox' },
        ]}
        act=${create}
      />
    </div>`
  }
    <${Loaded} from=${tags}>
      ${(all) =>
        html`<${Table}
          label="Tags"
          rows=${all}
          keyOf=${(one) => `${one.owner.kind}/${one.owner.id}/${one.name}`}
          columns=${[
            ['Tag', (one) => html`<span class="tag">${one.name}</span>`],
            ['Of', (one) => one.owner.kind],
            ['Primary', (one) => (one.meta.has_primary ? 'one node is' : '')],
            ...(kind === 'cluster'
              ? [
                  [
                    'Nodes',
                    (one) =>
                      on(one).map(
                        (of) =>
                          html`<span class="tag" title=${of.role ? `with role ${of.role}` : `by ${of.source}`}>${names.get(of.node_id) ?? of.node_id}</span>`,
                      ),
                    'wide',
                  ],
                ]
              : []),
            ['', (one) => (one.read_only ? html`<${State} of="off">comes with a package or role<//>` : '')],
            [
              '',
              (one) =>
                html`${
                  kind === 'cluster' &&
                  html`<${Action} label="Assign" title=${`Assign ${one.name}`} reason=${false} fields=${[{ name: 'nodes', label: 'Node ids', needed: true, placeholder: [...names.keys()].slice(0, 5).join(',') }]} act=${assign('assign', one)} />
                    <${Action} label="Unassign" title=${`Take ${one.name} from nodes`} reason=${false} disabled=${on(one).length === 0} fields=${[
                      {
                        name: 'nodes',
                        label: 'Node ids',
                        needed: true,
                        value: on(one)
                          .map((of) => of.node_id)
                          .join(','),
                      },
                    ]} act=${assign('unassign', one)} />`
                }
                ${
                  !one.read_only &&
                  html`<${Action}
                    label="Change"
                    title=${`Change ${one.name}`}
                    reason=${false}
                    fields=${[{ name: 'primary', label: 'One of its nodes is the primary', type: 'checkbox', value: one.meta.has_primary }]}
                    act=${async (given) => {
                      await send('PUT', own(one), { name: one.name, meta: { ...one.meta, ...meta(given) } });
                      done();
                    }}
                  />
                  <${Action}
                    label="Delete"
                    title=${`Delete ${one.name}`}
                    explain="It is taken from all nodes."
                    reason=${false}
                    danger
                    act=${async () => {
                      await request(own(one), { method: 'DELETE' });
                      done();
                    }}
                  />`
                }`,
              'actions',
            ],
          ]}
        />`}
    <//>`;
}
