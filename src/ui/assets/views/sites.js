import { post, query } from '../api.js';
import { html } from '../html.js';
import { Action, Loaded, State, Table, Title } from '../parts.js';
import { go } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { said, stateOf, timeOf } from '../words.js';

/** All sites, with the newest run of each. */
export function SitesView() {
  const sites = useData('/api/v1/sites', { again: listsChanged.value });
  const runs = useData(`/api/v1/runs${query({ limit: 200 })}`, { again: listsChanged.value });
  const last = (site) => runs.data?.items.find((run) => run.site === site);
  return html`<${Title} of="Sites" />
    <${Loaded} from=${sites}>
      ${({ items }) =>
        html`<${Table}
          label="Sites"
          rows=${items}
          keyOf=${(site) => site.name}
          empty=${html`No site yet. Create one with its documents: <code>sitewright site create NAME</code>, then
            <code>sitewright site commit NAME FOLDER</code>.`}
          columns=${[
            ['Site', (site) => html`<a href=${`/sites/${encodeURIComponent(site.name)}`}>${site.name}</a>`],
            ['Newest run', (site) => html`<${LastRun} run=${last(site.name)} />`],
            [
              'Last good revision',
              (site) => site.last_good_revision ?? html`<span class="quiet">never deployed</span>`,
            ],
            ['Newest revision', (site) => site.latest_revision ?? html`<span class="quiet">no documents</span>`],
            ['Cluster', (site) => (site.cluster ? html`<a href="/clusters">${site.cluster}</a>` : '')],
            ['', (site) => html`<${StartRun} site=${site} busy=${last(site.name)?.outcome === null} />`, 'actions'],
          ]}
        />`}
    <//>`;
}

export const LastRun = ({ run }) =>
  run === undefined
    ? html`<span class="quiet">none</span>`
    : html`<a href=${`/runs/${run.id}`}>${said(run.kind)}</a> <${State} of=${stateOf(run)} />
        <span class="quiet">${timeOf(run.started_at)}</span>`;

/** Deploy or update, after telling what would happen. */
export function StartRun({ site, busy }) {
  const start = (kind) => async (given) => {
    const run = await post(`/api/v1/sites/${encodeURIComponent(site.name)}/runs`, { kind, ...given });
    go(`/runs/${run.id}`);
  };
  const none = site.latest_revision === null;
  const revision = `revision ${site.latest_revision}`;
  return html`<${Action}
      label="Deploy"
      title=${`Deploy ${site.name}`}
      disabled=${busy || none}
      explain=${`Deploys all nodes of ${revision}, group by group. Machines that are deployed already are left as they are.`}
      act=${start('deploy_site')}
    />
    <${Action}
      label="Update"
      title=${`Update ${site.name}`}
      disabled=${busy || none || site.last_good_revision === null}
      explain=${`Deploys what is new or changed between revision ${site.last_good_revision} and ${revision}.`}
      act=${start('update_site')}
    />
    <${Action}
      label="Test"
      title=${`Test ${site.name}`}
      disabled=${busy || none}
      explain="Looks whether the site could be deployed, and changes nothing."
      act=${start('test_site')}
    />`;
}
