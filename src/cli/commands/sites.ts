import type { Revision } from '../../core/contracts/revisions.ts';
import { given } from '../../core/data/given.ts';
import { outOfServiceText } from '../../core/node-system.ts';
import { counted } from '../../core/text/text.ts';
import type { Answer, ApiClient } from '../shell/client.ts';
import type { CliCommand } from '../shell/command.ts';
import { confirm } from '../shell/confirm.ts';
import { readDocuments } from '../shell/document-files.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printDocuments, printOne } from '../shell/output.ts';
import { CliError } from '../shell/problem.ts';
import { type Session, userOf } from '../shell/session.ts';
import { forTypedSystem } from '../shell/typed-system.ts';
import { sayWhichIsEmpty } from '../shell/which-system.ts';
import { formatFindings } from '../views/findings.ts';
import { registerSiteRuns } from './site-runs.ts';
import { registerSiteSource } from './site-source.ts';

interface CommitFlags extends OutputFlags {
  readonly message?: string;
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

interface ShowFlags extends OutputFlags {
  readonly rendered?: boolean;
  readonly revision: string;
}

interface RenderFlags extends OutputFlags {
  readonly skipMissing?: boolean;
  readonly cleartextSecrets?: boolean;
}

interface RevisionFlags {
  readonly revision: string;
  readonly since?: string;
}

/** Programs get the machines that do not serve as a list. */
const forPeople = (sites: readonly Answer<'GET /sites/:site'>[], { format }: OutputFlags) =>
  format === 'json' || format === 'yaml'
    ? sites
    : sites.map((site) => ({ ...site, out_of_service: site.out_of_service.map(outOfServiceText).join('; ') || null }));

/** `sitewright site …`: sites, their documents and revisions, and the runs on them. */
export function registerSite(program: CliCommand, session: Session): void {
  const site = program.verb('site', 'Sites: documents, revisions, and deployment');
  registerEntries(site, session);
  registerOffline(site, session);
  registerRevisions(site, session);
  registerComparisons(site, session);
  registerSiteRuns(site, session);
  registerSiteSource(site, session);
}

/** Sites themselves. */
function registerEntries(site: CliCommand, session: Session): void {
  const { terminal } = session;
  site
    .verb('list', 'All sites')
    .example()
    .calls(session, 'GET /sites', {
      columns: ['name', 'cluster', 'latest_revision', 'last_good_revision', 'out_of_service', 'created_at'],
      rows: (items, { flags }) => forPeople(items, flags),
      after: ({ items }, { flags }) => (items.length === 0 ? sayWhichIsEmpty(session, flags) : undefined),
    });

  site
    .verb('show', 'One site')
    .example('dc1')
    .example('dc1 --rendered', 'its documents with the values of their layers and substitutions')
    .argument('<site>', 'name of the site')
    .option('--rendered', 'the documents of a revision, rendered')
    .option('--revision <revision>', 'with --rendered: number, hash, latest or last-good', 'latest')
    .output()
    .action(async (name: string, flags: ShowFlags) => {
      const { sites } = await session.client();
      if (!flags.rendered) return printOne(terminal, flags, forPeople([await sites.get(name)], flags)[0]!);
      const { documents } = await sites.rendered(name, flags.revision);
      await printDocuments(terminal, flags, documents);
    });

  site
    .verb('create', 'Create a site; then commit its documents')
    .example('dc1')
    .argument('<site>', 'name: lower-case letters, digits, dot, underscore, hyphen')
    .option('--cluster <name>', 'cluster whose software graph runs after the site is deployed')
    .calls<'POST /sites', { readonly cluster?: string }>(session, 'POST /sites', {
      ask: ({ args: [name = ''], flags: { cluster } }) => ({ body: { name, ...given({ cluster }) } }),
      text: (_made, { args: [name] }) =>
        `site ${name} created\n${forTypedSystem(terminal, `  next:  sitewright site commit ${name} FILES\n`)}`,
    });

  site
    .verb('delete', 'Delete a site with its revisions; its machines are not changed, its runs stay in the history')
    .example('dc1')
    .argument('<site>', 'name of the site')
    .asks()
    .output()
    .action(async (name: string, flags: OutputFlags & { readonly yes?: boolean }) => {
      const client = await session.client();
      await client.sites.get(name);
      await confirm(terminal, `Delete site ${name} and all its revisions?`, flags.yes, 'required');
      await client.sites.delete(name);
      await printOne(terminal, flags, { name }, `site ${name} deleted\n`);
    });
}

/** What needs no service. */
function registerOffline(site: CliCommand, { terminal }: Session): void {
  site
    .verb('check', 'Check documents offline: all problems, each with its place')
    .example('documents/')
    .argument('<files...>', 'YAML files or folders')
    .output()
    .action(async (paths: readonly string[], flags: OutputFlags) => {
      const files = await readDocuments(paths);
      const { loadSite } = await import('../../documents/site/load-site.ts');
      const { site: loaded, diagnostics } = loadSite(files);
      const check = {
        valid: loaded !== undefined,
        nodes: loaded?.nodes.length ?? 0,
        groups: loaded?.groups.length ?? 0,
        diagnostics,
      };
      const findings = await formatFindings(diagnostics, files, terminal);
      const verdict = check.valid
        ? `valid: ${counted(check.nodes, 'node')} in ${counted(check.groups, 'group')}`
        : 'not valid';
      await printOne(terminal, flags, check, `${findings}${verdict}\n`);
      if (!check.valid) process.exitCode = EXIT.invalid;
    });

  site
    .verb('render', 'Render documents offline: layers, replacements and substitutions, as Deckhand does')
    .example('global/ type/ site/')
    .example('documents/ -f json', 'as a list of schema, metadata and data')
    .argument('<files...>', 'YAML files or folders: all documents of the site, with their LayeringPolicy')
    .option('--skip-missing', 'leave out substitutions whose source is missing')
    .option('--cleartext-secrets', 'keep the storagePolicy of documents that get values of encrypted ones')
    .output()
    .action(async (paths: readonly string[], flags: RenderFlags) => {
      const files = await readDocuments(paths);
      const { renderSite } = await import('../../documents/site/render-site.ts');
      const { documents, diagnostics } = renderSite(files, {
        skipsMissing: flags.skipMissing === true,
        keepsPolicy: flags.cleartextSecrets === true,
      });
      if (!documents) {
        const message = 'the documents cannot be rendered';
        throw new CliError({ code: 'invalid', message, errors: diagnostics }, EXIT.invalid);
      }
      if (diagnostics.length > 0) terminal.err(await formatFindings(diagnostics, files, terminal));
      await printDocuments(terminal, flags, documents);
    });
}

function registerRevisions(site: CliCommand, session: Session): void {
  site
    .verb('commit', 'Store documents as the next revision of a site; refused when they have errors')
    .example('dc1 documents/ -m "Add rack 3"', 'store them as the next revision')
    .example('dc1 documents/ --dry-run', 'only check them')
    .argument('<site>', 'name of the site')
    .argument('<files...>', 'YAML files or folders: all documents of the site')
    .option('-m, --message <text>', 'what changed and why')
    .option('--force', 'store them despite errors; such a revision cannot be deployed')
    .option('--dry-run', 'only report')
    .output()
    .action(async (name: string, paths: readonly string[], flags: CommitFlags) => {
      const files = await readDocuments(paths);
      const client = await session.client();
      const { terminal } = session;
      const author = userOf(terminal);
      const answer = await client.sites.commit(name, {
        files,
        ...given({ message: flags.message, author }),
        ...(flags.force ? { force: true } : {}),
        ...(flags.dryRun ? { dry_run: true } : {}),
      });
      const findings = await formatFindings(answer.diagnostics, files, terminal);
      await printOne(terminal, flags, answer, findings + forTypedSystem(terminal, commitText(name, answer)));
      if (!answer.valid && !flags.force) process.exitCode = session.asked.detailedExitcode ? EXIT.failed : EXIT.invalid;
      else if (flags.dryRun && session.asked.detailedExitcode)
        session.foundChanges(!(await isLatest(client, name, files)));
    });

  site
    .verb('revisions', 'Revisions of a site, newest first')
    .example('dc1 --limit 5')
    .argument('<site>', 'name of the site')
    .limit()
    .calls(session, 'GET /sites/:site/revisions', {
      columns: ['number', 'hash', 'created_at', 'author', 'message', 'files', 'state'],
      rows: (items) => items.map(revisionRow),
    });

  site
    .verb('files', 'The documents of a revision, as they were committed')
    .example('dc1 --revision last-good')
    .argument('<site>', 'name of the site')
    .option('--revision <revision>', 'number, hash, latest or last-good', 'latest')
    .calls<'GET /sites/:site/revisions/:ref/files', RevisionFlags>(session, 'GET /sites/:site/revisions/:ref/files', {
      ask: ({ args: [site = ''], flags }) => ({ params: { site, ref: flags.revision } }),
      text: ({ files }) => files.map((file) => `# ${file.name}\n${file.text.replace(/\n?$/, '\n')}`).join('---\n'),
    });
}

/** What a deployment would do, what changed, and what machines have. */
function registerComparisons(site: CliCommand, session: Session): void {
  site
    .verb('plan', 'Plan of a deployment: groups, nodes, and their current state in MAAS')
    .example('dc1')
    .argument('<site>', 'name of the site')
    .option('--revision <revision>', 'number, hash, latest or last-good', 'latest')
    .output()
    .action(async (name: string, flags: OutputFlags & { readonly revision: string }) => {
      const client = await session.client();
      const [strategy, status] = await Promise.all([
        client.sites.strategy(name, flags.revision),
        client.nodes.status(name, flags.revision),
      ]);
      const { planText } = await import('../views/plan.ts');
      await printOne(session.terminal, flags, { strategy, nodes: status }, (color) =>
        planText(strategy, status, color),
      );
    });

  site
    .verb(
      'diff',
      'Compare a revision with the last deployed one: nodes, groups and checks that are new, changed or removed',
    )
    .example('dc1', 'latest against last-good')
    .example('dc1 --since 3 --revision 5')
    .argument('<site>', 'name of the site')
    .option('--revision <revision>', 'revision: number, hash, latest or last-good', 'latest')
    .option('--since <revision>', 'revision to compare with (default: last-good)')
    .calls<'GET /sites/:site/revisions/:ref/difference', RevisionFlags>(
      session,
      'GET /sites/:site/revisions/:ref/difference',
      {
        ask: ({ args: [site = ''], flags: { revision, since } }) => ({
          params: { site, ref: revision },
          query: { since },
        }),
        async text(difference) {
          const { differenceText } = await import('../views/site-difference.ts');
          return (color) => differenceText(difference, color);
        },
        after: ({ nodes, groups, configuration }) =>
          session.foundChanges(nodes.length + groups.length + configuration.length > 0),
      },
    );

  site
    .verb('drift', 'Compare machines in MAAS with their deployment; exit code 1 if they differ')
    .example('dc1')
    .argument('<site>', 'name of the site')
    .calls(session, 'GET /sites/:site/drift', {
      async text(drift) {
        const { driftText } = await import('../views/site-difference.ts');
        return (color) => driftText(drift, color);
      },
      after({ nodes }) {
        if (nodes.some(({ state }) => state === 'drifted' || state === 'missing')) process.exitCode = EXIT.failed;
      },
    });
}

interface WrittenFile {
  readonly name: string;
  readonly text: string;
}

/** Whether the latest revision has exactly these documents. */
async function isLatest(client: ApiClient, site: string, files: readonly WrittenFile[]): Promise<boolean> {
  const { latest_revision } = await client.sites.get(site);
  if (latest_revision === null) return false;
  const latest = await client.sites.files(site, 'latest');
  const textOf = (all: readonly WrittenFile[]): string => JSON.stringify(all.map(({ name, text }) => [name, text]));
  return textOf(latest.files) === textOf(files);
}

function commitText(
  site: string,
  answer: {
    readonly revision: Revision | null;
    readonly created: boolean;
    readonly valid: boolean;
    readonly nodes: number;
    readonly groups: number;
  },
): string {
  const what = `${counted(answer.nodes, 'node')} in ${counted(answer.groups, 'group')}`;
  if (!answer.revision) return `${answer.valid ? `valid: ${what}` : 'not valid'}; nothing was stored (dry run)\n`;
  const { number, hash } = answer.revision;
  if (!answer.created) return `nothing changed: revision ${number} of ${site} has these documents\n`;
  const next = answer.valid ? `\n  next:  sitewright site deploy ${site}` : ' (with errors: it cannot be deployed)';
  return `revision ${number} of ${site} stored: ${what}, ${hash.slice(0, 12)}${next}\n`;
}

function revisionRow(revision: Revision): object {
  const state = [revision.last_good ? 'last good' : '', revision.forced ? 'with errors' : '']
    .filter(Boolean)
    .join(', ');
  return { ...revision, hash: revision.hash.slice(0, 12), files: revision.file_count, state: state || null };
}
