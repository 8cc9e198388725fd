import { post } from '../api.js';
import { Action } from '../ask.js';
import { html } from '../html.js';
import { Command, Empty, Loaded, State, Title } from '../parts.js';
import { go } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { count } from '../words.js';

/** All clusters. One can be made of any installed release; if there is none, the page shows the next step. */
export function ClustersView() {
  // Releases come with packages, and no event announces those.
  const clusters = useData('/api/v1/clusters', { again: listsChanged.value });
  const releases = useData('/api/v1/releases', { again: listsChanged.value, every: 10_000 });
  const sites = useData('/api/v1/sites', { again: listsChanged.value });
  const none = releases.data?.length === 0;
  const disabled = none ? 'No release is installed: see below.' : releases.data ? false : 'Loading …';
  const create = async ({ name, release_id, site }) => {
    const cluster = await post('/api/v1/clusters', { name, release_id: Number(release_id), ...(site ? { site } : {}) });
    go(`/clusters/${cluster.id}`);
    return `Cluster ${name} created.`;
  };
  const fields = [
    { name: 'name', label: 'Name', needed: true, autofocus: true },
    {
      name: 'release_id',
      label: 'Release',
      options: (releases.data ?? []).map((one) => [String(one.id), `${one.name} ${one.version}`]),
    },
    {
      name: 'site',
      label: 'Site',
      options: [['', 'none'], ...(sites.data?.items ?? []).map((one) => [one.name, one.name])],
    },
  ];
  return html`<${Title}
      of="Clusters"
      actions=${html`<${Action}
        label="Create a cluster"
        explain="A cluster is a set of nodes on which the graphs of a release run. Its nodes may belong to a site."
        fields=${fields}
        reason=${false}
        act=${create}
        disabled=${disabled}
      />`}
    />
    ${none && html`<${NoRelease} />`}
    <${Loaded} from=${clusters}>
      ${(all) =>
        html`<${Table}
          label="Clusters"
          rows=${all}
          keyOf=${(one) => one.id}
          empty=${none ? html`<p class="quiet">No clusters yet.</p>` : html`<${NoCluster} />`}
          columns=${[
            ['Cluster', (one) => html`<a href=${`/clusters/${one.id}`}>${one.name}</a>`, 'name'],
            [
              'Status',
              (one) =>
                html`<${State} of=${one.status} /> ${one.is_locked && html`<${State} of="running">a run is in progress<//>`}`,
            ],
            [
              'Release',
              (one) => {
                const found = releases.data?.find(({ id }) => id === one.release_id);
                return found ? `${found.name} ${found.version}` : one.release_id;
              },
            ],
            ['Site', (one) => one.site && html`<a href=${`/sites/${encodeURIComponent(one.site)}`}>${one.site}</a>`],
            ['Changes to deploy', (one) => (one.changes.length > 0 ? count(one.changes.length, 'node') : '')],
          ]}
        />`}
    <//>`;
}

const NoCluster = () => html`<${Empty} title="No clusters yet.">
  <p>Create one above: it uses nodes of the inventory, and runs the graphs of its release on them.</p>
<//>`;

/** Why no cluster can be created, and the next step. */
export const NoRelease = () => html`<div class="banner" role="status" id="no-release">
  <p><strong>No release is installed, so no cluster can be created.</strong></p>
  <p>
    A cluster is created from a release, which is part of a package. Install one on the page
    <a href="/packages"> packages</a>, or with the command below; this page then updates itself.
  </p>
  <${Command} text="sitewright package install FILE_OR_FOLDER" />
</div>`;
