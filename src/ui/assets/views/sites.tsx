import type { Run } from '../../../core/contracts/run.ts';
import { outOfServiceText } from '../../../core/node-system.ts';
import type { SiteRunKind } from '../../../core/words.ts';
import { type Answer, at, send } from '../api.ts';
import { Action, type Given, heldBefore, holdField } from '../ask.tsx';
import { fieldOf, textsOf } from '../own-data.ts';
import { Command, Empty, Loaded, RunState, Title } from '../parts.tsx';
import { siteRehearsal } from '../rehearsed.ts';
import { go } from '../router.ts';
import { listsChanged, useData } from '../store.ts';
import { Table } from '../table.tsx';
import { Ago } from '../times.tsx';
import { said } from '../words.ts';
import { Touched } from './site-plan.tsx';

/** All sites, with the newest run of each. */
export function SitesView() {
  const sites = useData(at('GET /sites'), { again: listsChanged.value });
  const runs = useData(at('GET /runs', { query: { limit: 200 } }), { again: listsChanged.value });
  const last = (site: string) => runs.data?.items.find((run) => run.site === site);
  const openRun = (site: string) => (last(site)?.outcome === null ? last(site) : undefined);
  return (
    <>
      <Title of="Sites" />
      <Loaded from={sites}>
        {({ items }) => (
          <Table
            label="Sites"
            rows={items}
            keyOf={(site) => site.name}
            empty={<NoSite />}
            columns={[
              [
                'Site',
                (site) => <a href={`/sites/${encodeURIComponent(site.name)}`}>{site.name}</a>,
                'name',
                (site) => site.name,
              ],
              [
                'Latest run',
                (site) => <LastRun run={last(site.name)} />,
                undefined,
                (site) => last(site.name)?.started_at,
              ],
              ['Last good revision', (site) => site.last_good_revision ?? <span class="quiet">never deployed</span>],
              ['Latest revision', (site) => site.latest_revision ?? <span class="quiet">no documents</span>],
              [
                'Out of service',
                (site) => site.out_of_service.map((one) => <p key={one.state}>{outOfServiceText(one)}</p>),
              ],
              ['', (site) => <StartRun site={site} open={openRun(site.name)} />, 'actions'],
            ]}
          />
        )}
      </Loaded>
    </>
  );
}

const NoSite = () => (
  <Empty title="No sites yet.">
    <p>
      A site is a folder of YAML documents: its machines, its groups, and when they count as deployed. Create one, and
      this page updates itself:
    </p>
    <Command text="sitewright site create NAME" />
    <Command text="sitewright site commit NAME FOLDER" />
  </Empty>
);

const LastRun = ({ run }: { readonly run: Run | undefined }) =>
  run === undefined ? (
    <span class="quiet">none</span>
  ) : (
    <>
      <a href={`/runs/${run.id}`}>{said(run.kind)}</a> <RunState run={run} />
      <span class="quiet">
        <Ago of={run.started_at} />
      </span>
    </>
  );

interface StartRunProps {
  readonly site: Answer<'GET /sites/:site'>;
  /** The run already in progress. */
  readonly open: Run | undefined;
  /** What was rehearsed, as defaults. */
  readonly rehearsed?: object | undefined;
}

/** Deploy, update or test, after showing the effect. */
export function StartRun({ site, open, rehearsed }: StartRunProps) {
  const chosen = (kind: SiteRunKind, { texts }: Given) => ({ kind, ...heldBefore(texts.hold_before) });
  const rehearse = (kind: SiteRunKind) => (given: Given) => siteRehearsal(site.name, chosen(kind, given));
  const holds = [holdField('groups', textsOf(fieldOf(rehearsed, 'hold_before')))];
  const start =
    (kind: SiteRunKind) =>
    async (given: Given): Promise<void> => {
      const body = { ...chosen(kind, given), ...given.note };
      const run = await send('POST /sites/:site/runs', { params: { site: site.name }, body });
      go(`/runs/${run.id}`);
    };
  const none =
    site.latest_revision === null && `The site has no documents yet: sitewright site commit ${site.name} FOLDER`;
  const busy = open !== undefined && 'A run is already in progress on this site.';
  const never = site.last_good_revision === null && 'Nothing has been deployed yet.';
  const revision = `revision ${site.latest_revision}`;
  return (
    <>
      {none === false && (
        <>
          <a
            class="button"
            href={`/sites/${encodeURIComponent(site.name)}?plan=1`}
            aria-label={`Plan the deployment of ${site.name}`}
          >
            Plan
          </a>{' '}
          <a
            class="button"
            href={`/sites/${encodeURIComponent(site.name)}?rehearse=1`}
            aria-label={`Rehearse the deployment of ${site.name}`}
          >
            Rehearse
          </a>{' '}
        </>
      )}
      <Action
        label="Deploy"
        title={`Deploy ${site.name}`}
        disabled={none || busy}
        explain={`Deploys all nodes of ${revision}, group by group. Machines that are already deployed are not changed.`}
        fields={holds}
        preview={() => <Touched site={site.name} kind="deploy_site" />}
        rehearse={rehearse('deploy_site')}
        act={start('deploy_site')}
        done={`Deployment of ${site.name} started.`}
      />
      <Action
        label="Update"
        title={`Update ${site.name}`}
        disabled={none || busy || never}
        explain={`Deploys what is new or changed between revision ${site.last_good_revision} and ${revision}.`}
        fields={holds}
        preview={() => <Touched site={site.name} kind="update_site" />}
        rehearse={rehearse('update_site')}
        act={start('update_site')}
        done={`Update of ${site.name} started.`}
      />
      <Action
        label="Test"
        title={`Test ${site.name}`}
        disabled={none || busy}
        explain="Checks whether the site can be deployed; changes nothing."
        preview={() => <Touched site={site.name} kind="test_site" />}
        rehearse={rehearse('test_site')}
        act={start('test_site')}
        done={`Test of ${site.name} started.`}
      />
    </>
  );
}
