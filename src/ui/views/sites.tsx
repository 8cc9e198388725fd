import type { Run } from '../../core/contracts/runs.ts';
import { outOfServiceText } from '../../core/node-system.ts';
import type { SiteRunKind } from '../../core/words.ts';
import { type Answer, at, send } from '../kit/api.ts';
import { Action, type Given, heldBefore, holdField, listed } from '../kit/ask.tsx';
import { commandOf, eachOption } from '../kit/command-text.ts';
import { fieldOf, textsOf } from '../kit/own-data.ts';
import { Command, Empty, Loaded, RunState, SiteLink, Title } from '../kit/parts.tsx';
import { siteRehearsal } from '../kit/rehearsed.ts';
import { go, siteAt } from '../kit/router.ts';
import { listsChanged, useAll, useData } from '../kit/store.ts';
import { Listed } from '../kit/table.tsx';
import { Ago } from '../kit/times.tsx';
import { count, said } from '../kit/words.ts';
import { Touched } from './site-plan.tsx';

/** All sites, with the newest run of each. */
export function SitesView() {
  const sites = useData(at('GET /sites'), { again: listsChanged.value });
  const runs = useData(at('GET /runs', { query: { limit: 200 } }), { again: listsChanged.value });
  const last = (site: string) => runs.data?.items.find((run) => run.site === site);
  const openRun = (site: string) => (last(site)?.outcome === null ? last(site) : undefined);
  return (
    <>
      <Title of="Sites" actions={<CreateSite />} />
      <Listed
        from={sites}
        label="Sites"
        keyOf={(site) => site.name}
        empty={<NoSite />}
        columns={[
          ['Site', (site) => <SiteLink of={site.name} />, 'name', (site) => site.name],
          ['Latest run', (site) => <LastRun run={last(site.name)} />, undefined, (site) => last(site.name)?.started_at],
          ['Last good revision', (site) => site.last_good_revision ?? <span class="quiet">never deployed</span>],
          ['Latest revision', (site) => site.latest_revision ?? <span class="quiet">no documents</span>],
          [
            'Out of service',
            (site) => site.out_of_service.map((one) => <p key={one.state}>{outOfServiceText(one)}</p>),
          ],
          ['', (site) => <StartRun site={site} open={openRun(site.name)} />, 'actions'],
        ]}
      />
    </>
  );
}

const NoSite = () => (
  <Empty title="No sites yet.">
    <p>
      A site is a folder of YAML documents: its machines, its groups, and when they count as deployed. Create one above,
      or type:
    </p>
    <Command text="sitewright site create NAME" />
    <Command text="sitewright site commit NAME FOLDER" />
  </Empty>
);

const isDocument = ({ name }: File): boolean => /\.ya?ml$/i.test(name);

/** The documents in a folder, by their paths in it. */
const documentsIn = (files: readonly File[]) =>
  Promise.all(
    files.filter(isDocument).map(async (file) => ({
      name: file.webkitRelativePath.split('/').slice(1).join('/') || file.name,
      text: await file.text(),
    })),
  );

/** Creates a site from a folder, from a branch that it follows, or empty, to write its documents here. */
const CreateSite = () => (
  <Action
    label="Create a site"
    verb="create"
    main
    reason={false}
    signed={false}
    explain="Its documents come from a folder, or from a branch that it follows. With neither, you paste or write them next."
    fields={[
      { name: 'name', label: 'Name', needed: true, placeholder: 'dc1', autofocus: true },
      { name: 'documents', label: 'Folder of documents', type: 'folder' },
      { name: 'url', label: 'Or the address of a Git repository', placeholder: 'https://git.example.com/sites.git' },
      { name: 'branch', label: 'Its branch', placeholder: 'main' },
      { name: 'folder', label: 'Its folder', placeholder: 'the whole repository' },
    ]}
    preview={({ filesOf }) => <Checked files={filesOf('documents')} />}
    act={async ({ texts: { name = '', url, branch = 'main', folder }, filesOf }) => {
      const files = await documentsIn(filesOf('documents'));
      const params = { site: name };
      await send('POST /sites', { body: { name } });
      listsChanged.value++;
      if (files.length > 0) await send('POST /sites/:site/revisions', { params, body: { files } });
      if (url !== undefined)
        await send('PUT /sites/:site/source', {
          params,
          body: { url, branch, ...(folder !== undefined && { folder }) },
        });
      go(`${siteAt(name)}${files.length > 0 || url !== undefined ? '' : '?edit='}`);
    }}
    command={({ texts: { name = 'NAME' } }) => commandOf(['site', 'create', name])}
    done="The site is there."
  />
);

/** What the checks of a commit say about files. */
function Checked({ files }: { readonly files: readonly File[] }) {
  const found = useAll(
    files.length === 0 ? null : files.map((one) => `${one.name} ${one.size} ${one.lastModified}`).join(),
    async () => {
      const all = await documentsIn(files);
      if (all.length === 0) throw new Error('The folder has no file that ends in .yaml or .yml.');
      const { diagnostics } = await send('POST /documents/check', { body: { files: all } });
      return { items: [...diagnostics.map((one) => `${one.file}:${one.line}: ${one.message}`)], next: null };
    },
  );
  if (files.length === 0) return <p class="quiet">No folder is chosen.</p>;
  return (
    <Loaded from={found}>
      {(problems) => (
        <>
          <p>
            {count(files.filter(isDocument).length, 'document file')}, {count(problems.length, 'problem')}
          </p>
          <ul>
            {problems.slice(0, 20).map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}

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
  readonly site: Site;
  /** The run already in progress. */
  readonly open: Run | undefined;
  /** What was rehearsed, as defaults. */
  readonly rehearsed?: object | undefined;
  /** Whether to deploy is what the view is for. */
  readonly isMain?: boolean;
}

type Site = Answer<'GET /sites/:site'>;

const KINDS: readonly (readonly [kind: SiteRunKind, label: string, explain: (site: Site) => string])[] = [
  [
    'deploy_site',
    'Deploy',
    ({ latest_revision: latest }) =>
      `Deploys all nodes of revision ${latest}, group by group. Machines that are already deployed are not changed.`,
  ],
  [
    'update_site',
    'Update',
    ({ latest_revision: latest, last_good_revision: last }) =>
      `Deploys what is new or changed between revision ${last} and revision ${latest}.`,
  ],
  ['test_site', 'Test', () => 'Checks whether the site can be deployed; changes nothing.'],
];

/** Deploy, update or test, after showing the effect. */
export function StartRun({ site, open, rehearsed, isMain = false }: StartRunProps) {
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
  return (
    <>
      {none === false &&
        ['Plan', 'Rehearse'].map((verb) => (
          <>
            <a
              class="button"
              href={`${siteAt(site.name)}?${verb.toLowerCase()}=1`}
              aria-label={`${verb} the deployment of ${site.name}`}
            >
              {verb}
            </a>{' '}
          </>
        ))}
      {KINDS.map(([kind, label, explain]) => (
        <Action
          key={kind}
          label={label}
          title={`${label} ${site.name}`}
          verb={label.toLowerCase()}
          main={isMain && kind === 'deploy_site'}
          disabled={none || busy || (kind === 'update_site' && never)}
          explain={explain(site)}
          fields={holds}
          preview={() => <Touched site={site.name} kind={kind} />}
          rehearse={rehearse(kind)}
          act={start(kind)}
          command={(given) =>
            commandOf(
              [
                'site',
                label.toLowerCase(),
                site.name,
                ...eachOption('--hold-before', listed(given.texts.hold_before ?? '')),
              ],
              given,
            )
          }
          done={`${label === 'Deploy' ? 'Deployment' : label} of ${site.name} started.`}
        />
      ))}
    </>
  );
}
