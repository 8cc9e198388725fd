import { OUT_OF_SERVICE, statusWithHealth } from '../../core/node-system.ts';
import { type Answer, at } from '../kit/api.ts';
import { commandOf } from '../kit/command-text.ts';
import { Command, type Crumb, Empty, Fold, Loaded, One, State } from '../kit/parts.tsx';
import { requestIn } from '../kit/rehearsed.ts';
import { addressWith, siteAt } from '../kit/router.ts';
import { listsChanged, useData } from '../kit/store.ts';
import { Listed, Table } from '../kit/table.tsx';
import { Ago } from '../kit/times.tsx';
import { count, lasting, some } from '../kit/words.ts';
import { EditDocuments } from './edit-documents.tsx';
import { Fleet } from './fleet.tsx';
import { InMaintenance, Maintenance } from './maintenance.tsx';
import { RehearsalView } from './rehearsal.tsx';
import { Commit, Documents } from './revisions.tsx';
import { pastOf, RunTable } from './runs.tsx';
import { SitePlan } from './site-plan.tsx';
import { StartRun } from './sites.tsx';
import { NodeTrends, Trend } from './trend.tsx';

const LIST: Crumb = ['/sites', 'Sites'];

/** One site: its revisions, groups, machines and runs. */
export function SiteView({ id, query: given }: { readonly id: string; readonly query: URLSearchParams }) {
  const params = { site: id };
  const again = listsChanged.value;
  const site = useData(at('GET /sites/:site', { params }), { again });
  const revisions = useData(at('GET /sites/:site/revisions', { params, query: { limit: 20 } }), { again });
  const runs = useData(at('GET /sites/:site/runs', { params, query: { limit: 20 } }), { again });
  const newest = site.data?.latest_revision ?? null;
  const open = runs.data?.items.find((run) => run.outcome === null);
  const edited = given.get('edit');
  if (edited !== null)
    return (
      <One
        of={`Documents of ${id}`}
        list={LIST}
        from={site}
        title={() => ({ of: `Documents of ${id}`, trail: [LIST, [siteAt(id), id]] })}
      >
        {({ source }) => (
          <>
            {source && <Source of={source} />}
            <EditDocuments site={id} newest={newest} file={edited} />
          </>
        )}
      </One>
    );
  const start = (one: Site) => (
    <StartRun key={given.get('rehearse')} site={one} open={open} rehearsed={requestIn(given)} isMain />
  );
  return (
    <One of={`Site ${id}`} list={LIST} from={site} title={(one) => ({ of: `Site ${id}`, actions: start(one) })}>
      {(one) => (
        <>
          {newest === null && (
            <Empty title="This site has no documents yet.">
              <p>Commit a folder of YAML documents; then it can be tested and deployed:</p>
              <Command text={`sitewright site commit ${id} FOLDER`} />
              <p>
                Or <a href={`${siteAt(id)}?edit=`}>write them here</a>.
              </p>
            </Empty>
          )}
          {one.source && <Source of={one.source} />}
          {given.has('plan') && newest !== null && <SitePlan site={one} query={given} />}
          {given.has('rehearse') && newest !== null && (
            <RehearsalView key={given.get('rehearse')} of={params} request={requestIn(given)} />
          )}
          <div class="sides">
            <div>
              {newest !== null && (
                <section aria-label="Machines">
                  <h2>Machines</h2>
                  <Fleet query={given} site={id} />
                </section>
              )}
              <Checks site={id} again={again} />
              <h2>Runs</h2>
              <Loaded from={runs}>
                {({ items }) => (
                  <>
                    <Trend of={items.filter(({ kind }) => kind !== 'test_site').map(pastOf)} what="deployment" />
                    <RunTable
                      runs={items}
                      empty="No runs yet: deploy it above."
                      next={commandOf(['site', 'deploy', id])}
                    />
                  </>
                )}
              </Loaded>
              <NodeTrends site={id} />
            </div>
            <div>
              <h2>Revisions</h2>
              <Listed
                from={revisions}
                label="Revisions"
                keyOf={(one) => one.number}
                empty="No revisions yet."
                next={commandOf(['site', 'commit', id, 'FOLDER'])}
                columns={[
                  [
                    'Revision',
                    (one) => (
                      <a
                        href={addressWith({ revision: one.number, since: one.number > 1 ? one.number - 1 : '' })}
                        data-stay
                        aria-label={`Show revision ${one.number}`}
                      >
                        {one.number}
                      </a>
                    ),
                    'number',
                  ],
                  ['Commit', (one) => <Commit id={one.commit_id} url={one.commit_url} />],
                  [
                    '',
                    (one) =>
                      one.last_good ? (
                        <State of="success">last good</State>
                      ) : one.forced ? (
                        <State of="failed">with errors</State>
                      ) : (
                        ''
                      ),
                  ],
                  ['Message', (one) => one.message ?? ''],
                  ['By', (one) => one.author ?? ''],
                  ['At', (one) => <Ago of={one.created_at} />],
                  ['Hash', (one) => <code>{one.hash.slice(0, 12)}</code>],
                ]}
              />
              {newest !== null && (
                <>
                  <h2>Documents</h2>
                  <p>
                    <a class="button" href={`${siteAt(id)}?edit=`}>
                      Edit documents
                    </a>
                  </p>
                  <Documents site={id} newest={newest} query={given} />
                  <h2>Deployment groups of the latest revision</h2>
                  <Groups site={id} />
                  <h2>Machines in MAAS</h2>
                  <Fold label="Show their state in MAAS">{() => <MachineTable site={id} />}</Fold>
                  <h2>Drift</h2>
                  <Fold label="Compare MAAS with the deployment">{() => <DriftTable site={id} />}</Fold>
                </>
              )}
            </div>
          </div>
        </>
      )}
    </One>
  );
}

type Site = Answer<'GET /sites/:site'>;

const Source = ({ of: { url, branch, folder } }: { readonly of: NonNullable<Site['source']> }) => (
  <p class="facts">
    Follows <strong>{branch}</strong> of <code>{url}</code>
    {folder && (
      <>
        , folder <code>{folder}</code>
      </>
    )}
    .
  </p>
);

interface OfSite {
  readonly site: string;
}

/** What came of its checks last. Nothing if it has none. */
function Checks({ site, again }: OfSite & { readonly again: number }) {
  const checks = useData(at('GET /sites/:site/checks', { params: { site } }), { again });
  const { items = [] } = checks.data ?? {};
  return (
    items.length > 0 && (
      <>
        <h2>Checks</h2>
        <Table
          label="Checks"
          rows={items}
          keyOf={(one) => one.check}
          columns={[
            ['Check', (one) => one.check],
            ['Verdict', (one) => <State of={one.verdict} />],
            ['Not well', (one) => <Unwell of={one} />],
            ['Took', (one) => lasting(0, one.seconds * 1000)],
            ['Asked', (one) => <Ago of={one.at} />],
          ]}
        />
      </>
    )
  );
}

const Unwell = ({ of: { counts, unwell } }: { readonly of: Answer<'GET /sites/:site/checks'>['items'][number] }) => {
  const [first] = unwell;
  const nodes = unwell.flatMap(({ node }) => node ?? []);
  const all = counts.failed + counts.unknown;
  return (
    <>
      {nodes.length > 0 && `${all} of ${count(all + counts.well, 'node')}: ${some(nodes)}`}
      {first && <p class="bad">{first.text}</p>}
      {first?.output && (
        <details>
          <summary>Output{first.node === null ? '' : ` of ${first.node}`}</summary>
          <pre>{first.output}</pre>
        </details>
      )}
    </>
  );
};

function Groups({ site }: OfSite) {
  const strategy = useData(at('GET /sites/:site/revisions/:ref/strategy', { params: { site, ref: 'latest' } }));
  return (
    <Loaded from={strategy}>
      {({ groups }) => (
        <Table
          label="Deployment groups"
          rows={groups}
          keyOf={(one) => one.name}
          columns={[
            [
              'Group',
              (one) => (
                <>
                  <strong>{one.name}</strong> {one.critical && <span class="tag">critical</span>}
                </>
              ),
            ],
            ['After', (one) => one.depends_on.join(', ')],
            [
              'Nodes',
              (one) => (
                <>
                  {count(one.nodes.length, 'node')} <span class="quiet">{some(one.nodes)}</span>
                </>
              ),
            ],
            ['Criteria', (one) => criteriaOf(one.success_criteria)],
          ]}
        />
      )}
    </Loaded>
  );
}

function criteriaOf(criteria: Readonly<Record<string, number>>): string {
  const { percent_successful_nodes: percent, minimum_successful_nodes: least, maximum_failed_nodes: most } = criteria;
  const all = [
    percent !== undefined && `at least ${percent} %`,
    least !== undefined && `at least ${least}`,
    most !== undefined && `at most ${most} failed`,
  ];
  return all.filter(Boolean).join(', ');
}

/** Asked for by hand, as the drift is: MAAS has to answer. */
function MachineTable({ site }: OfSite) {
  const nodes = useData(at('GET /sites/:site/nodes/status', { params: { site } }), { every: 15_000 });
  return (
    <Loaded from={nodes}>
      {({ nodes: all, stale }) => (
        <>
          {stale && <p class="quiet">MAAS does not answer; this is the last known state.</p>}
          <Table
            label="Machines"
            rows={all}
            keyOf={(one) => one.node}
            columns={[
              ['Node', (one) => one.node],
              [
                'State',
                (one) => (
                  <>
                    <State of={one.health ?? one.status ?? 'unknown'}>
                      {one.health && statusWithHealth(one.health, one.status)}
                    </State>{' '}
                    <InMaintenance of={one.maintenance} />
                    {one.reason && <p class="bad">{one.reason}</p>}
                  </>
                ),
              ],
              ['Power', (one) => one.power ?? ''],
              ['Zone', (one) => one.zone ?? ''],
              ['Tags', (one) => one.tags.join(', ')],
              [
                '',
                (one) => (
                  <Maintenance
                    of={{ site, node: one.node }}
                    name={one.node}
                    now={one.maintenance}
                    hasMachine={one.system_id !== null}
                    onDone={nodes.reload}
                  />
                ),
              ],
            ]}
          />
        </>
      )}
    </Loaded>
  );
}

function DriftTable({ site }: OfSite) {
  const drift = useData(at('GET /sites/:site/drift', { params: { site } }), { every: 60_000 });
  return (
    <Loaded from={drift}>
      {({ nodes }) => {
        const changed = nodes.filter(({ state }) => state === 'drifted' || state === 'missing');
        const unrecorded = nodes.filter(({ state }) => state === 'unrecorded');
        const compared = nodes.filter(({ state }) => state === 'same').length + changed.length;
        const out = nodes.filter(({ state }) => OUT_OF_SERVICE.some((one) => one === state));
        return (
          <>
            <p>
              {compared === 0
                ? 'Nothing is deployed.'
                : `${count(changed.length, 'machine')} of ${compared} ${changed.length === 1 ? 'differs' : 'differ'} from what was deployed.`}
              {unrecorded.length > 0 && (
                <>
                  {' '}
                  <span class="quiet">
                    Not recorded before their next deployment: {some(unrecorded.map(({ node }) => node))}
                  </span>
                </>
              )}
            </p>
            {out.length > 0 && (
              <ul class="plain">
                {out.map(({ node, state, reason }) => (
                  <li key={node}>
                    {node} <State of={state} /> {reason && <span class="bad">{reason}</span>}
                  </li>
                ))}
              </ul>
            )}
            {changed.length > 0 && (
              <Table
                label="Machines that differ"
                rows={changed}
                keyOf={(one) => one.node}
                columns={[
                  [
                    'Node',
                    (one) => (
                      <>
                        {one.node} <InMaintenance of={one.maintenance} />
                      </>
                    ),
                  ],
                  [
                    'Deployed',
                    (one) => (
                      <>
                        <Ago of={one.deployed_at} /> <span class="quiet">revision {one.revision}</span>
                      </>
                    ),
                  ],
                  ['Difference', (one) => <Differences of={one} />],
                ]}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

type Drifted = Answer<'GET /sites/:site/drift'>['nodes'][number];

const Differences = ({ of: { state, system_id: id, differences } }: { readonly of: Drifted }) =>
  state === 'missing' ? (
    `MAAS no longer lists its machine ${id}`
  ) : (
    <ul>
      {differences.map(({ what, deployed, now }) => (
        <li>
          {what}: {deployed ?? 'none'} → {now ?? 'none'}
        </li>
      ))}
    </ul>
  );
