import { at, send } from '../kit/api.ts';
import { Action, type FormField, type Given, optionsOf } from '../kit/ask.tsx';
import { Command, Empty, SiteLink, State, Title } from '../kit/parts.tsx';
import { go } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { Listed } from '../kit/table.tsx';
import { count } from '../kit/words.ts';

/** All clusters. One can be made of any installed release; if there is none, the page shows the next step. */
export function ClustersView() {
  // Releases come with packages, and no event announces those.
  const clusters = useData(at('GET /clusters'), { again: listsChanged.value });
  const releases = useData(at('GET /releases'), { again: listsChanged.value, every: 10_000 });
  const sites = useData(at('GET /sites'), { again: listsChanged.value });
  const none = releases.data?.length === 0;
  const disabled = none ? 'No release is installed: see below.' : releases.data ? false : 'Loading …';
  const create = async ({ texts: { name = '', release_id, site } }: Given): Promise<string> => {
    const body = { name, release_id: Number(release_id), ...(site !== undefined && { site }) };
    const cluster = await send('POST /clusters', { body });
    go(`/clusters/${cluster.id}`);
    return `Cluster ${name} created.`;
  };
  const fields: FormField[] = [
    { name: 'name', label: 'Name', needed: true, autofocus: true },
    {
      name: 'release_id',
      label: 'Release',
      type: 'select',
      options: (releases.data ?? []).map((one) => [String(one.id), `${one.name} ${one.version}`]),
    },
    {
      name: 'site',
      label: 'Site',
      type: 'select',
      options: [['', 'none'], ...optionsOf((sites.data?.items ?? []).map(({ name }) => name))],
    },
  ];
  return (
    <>
      <Title
        of="Clusters"
        actions={
          <Action
            label="Create a cluster"
            verb="create"
            main
            explain="A cluster is a set of nodes on which the graphs of a release run. Its nodes may belong to a site."
            fields={fields}
            reason={false}
            act={create}
            disabled={disabled}
          />
        }
      />
      {none && <NoRelease />}
      <Listed
        from={clusters}
        label="Clusters"
        keyOf={(one) => one.id}
        empty={none ? <p class="quiet">No clusters yet.</p> : <NoCluster />}
        columns={[
          ['Cluster', (one) => <a href={`/clusters/${one.id}`}>{one.name}</a>, 'name', (one) => one.name],
          [
            'Status',
            (one) => (
              <>
                <State of={one.status} /> {one.is_locked && <State of="running">a run is in progress</State>}
              </>
            ),
            undefined,
            (one) => one.status,
          ],
          [
            'Release',
            (one) => {
              const found = releases.data?.find(({ id }) => id === one.release_id);
              return found ? `${found.name} ${found.version}` : one.release_id;
            },
          ],
          ['Site', (one) => one.site && <SiteLink of={one.site} />],
          ['Changes to deploy', (one) => (one.changes.length > 0 ? count(one.changes.length, 'node') : '')],
        ]}
      />
    </>
  );
}

const NoCluster = () => (
  <Empty title="No clusters yet.">
    <p>Create one above: it uses nodes of the inventory, and runs the graphs of its release on them.</p>
    <Command text="sitewright cluster create NAME --release RELEASE" />
  </Empty>
);

/** Why no cluster can be created, and the next step. */
export const NoRelease = () => (
  <div class="banner" role="status" id="no-release">
    <p>
      <strong>No release is installed, so no cluster can be created.</strong>
    </p>
    <p>
      A cluster is created from a release, which is part of a package. Install one on the page
      <a href="/packages"> packages</a>, or with the command below; this page then updates itself.
    </p>
    <Command text="sitewright package install FILE_OR_FOLDER" />
  </div>
);
