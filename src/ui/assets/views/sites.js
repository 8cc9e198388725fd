import { post, query } from '../api.js';
import { Action, heldBefore, holdField } from '../ask.js';
import { html } from '../html.js';
import { Command, Empty, Loaded, RunState, Title } from '../parts.js';
import { go } from '../router.js';
import { listsChanged, useData } from '../store.js';
import { Table } from '../table.js';
import { Ago } from '../times.js';
import { said } from '../words.js';

/** All sites, with the newest run of each. */
export function SitesView() {
  const sites = useData('/api/v1/sites', { again: listsChanged.value });
  const runs = useData(`/api/v1/runs${query({ limit: 200 })}`, { again: listsChanged.value });
  const last = (site) => runs.data?.items.find((run) => run.site === site);
  const openRun = (site) => (last(site)?.outcome === null ? last(site) : undefined);
  return html`<${Title} of="Sites" />
    <${Loaded} from=${sites}>
      ${({ items }) =>
        html`<${Table}
          label="Sites"
          rows=${items}
          keyOf=${(site) => site.name}
          empty=${html`<${NoSite} />`}
          columns=${[
            ['Site', (site) => html`<a href=${`/sites/${encodeURIComponent(site.name)}`}>${site.name}</a>`, 'name'],
            ['Latest run', (site) => html`<${LastRun} run=${last(site.name)} />`],
            [
              'Last good revision',
              (site) => site.last_good_revision ?? html`<span class="quiet">never deployed</span>`,
            ],
            ['Latest revision', (site) => site.latest_revision ?? html`<span class="quiet">no documents</span>`],
            ['', (site) => html`<${StartRun} site=${site} open=${openRun(site.name)} />`, 'actions'],
          ]}
        />`}
    <//>`;
}

const NoSite = () => html`<${Empty} title="No sites yet.">
  <p>A site is a folder of YAML documents: its machines, its groups, and when they count as deployed. Create one, and
    this page updates itself:</p>
  <${Command} text="sitewright site create NAME" />
  <${Command} text="sitewright site commit NAME FOLDER" />
<//>`;

const LastRun = ({ run }) =>
  run === undefined
    ? html`<span class="quiet">none</span>`
    : html`<a href=${`/runs/${run.id}`}>${said(run.kind)}</a> <${RunState} run=${run} />
        <span class="quiet"><${Ago} of=${run.started_at} /></span>`;

/** Deploy, update or test, after showing the effect. `open`: the run already in progress. */
export function StartRun({ site, open }) {
  const start =
    (kind) =>
    async ({ hold_before: held, ...given }) => {
      const run = await post(`/api/v1/sites/${encodeURIComponent(site.name)}/runs`, {
        kind,
        ...given,
        ...heldBefore(held),
      });
      go(`/runs/${run.id}`);
    };
  const none = site.latest_revision === null && 'The site has no documents yet: sitewright site commit.';
  const busy = open !== undefined && 'A run is already in progress on this site.';
  const never = site.last_good_revision === null && 'Nothing has been deployed yet.';
  const revision = `revision ${site.latest_revision}`;
  return html`${
    none === false &&
    html`<a class="button" href=${`/sites/${encodeURIComponent(site.name)}?plan=1`} aria-label=${`Plan the deployment of ${site.name}`}>Plan</a> `
  }<${Action}
      label="Deploy"
      title=${`Deploy ${site.name}`}
      disabled=${none || busy}
      explain=${`Deploys all nodes of ${revision}, group by group. Machines that are already deployed are not changed.`}
      fields=${[holdField('groups')]}
      act=${start('deploy_site')}
    />
    <${Action}
      label="Update"
      title=${`Update ${site.name}`}
      disabled=${none || busy || never}
      explain=${`Deploys what is new or changed between revision ${site.last_good_revision} and ${revision}.`}
      fields=${[holdField('groups')]}
      act=${start('update_site')}
    />
    <${Action}
      label="Test"
      title=${`Test ${site.name}`}
      disabled=${none || busy}
      explain="Checks whether the site can be deployed; changes nothing."
      act=${start('test_site')}
    />`;
}
