import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join, relative, resolve, sep } from 'node:path';
import { ApiClient } from '../src/cli/shell/client.ts';
import { EXIT, type ExitCode } from '../src/cli/shell/exit-codes.ts';
import { CliError } from '../src/cli/shell/problem.ts';
import type { Terminal } from '../src/cli/shell/terminal.ts';
import { paintFor } from '../src/cli/views/paint.ts';
import { reportText } from '../src/cli/views/report.ts';
import type { RunReport } from '../src/core/contracts/site-run-report.ts';
import { counted } from '../src/core/text/text.ts';
import { loadSite, readDocumentFiles } from '../src/documents/index.ts';
import { openOwnFolder } from '../src/platform/files/own-folder.ts';
import { installationFile, isCheckout } from '../src/platform/installation.ts';
import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.ts';
import { type DemoSystem, startDemo } from './demo-system.ts';
import { followRun } from './parts/demo-progress.ts';

/** The example site and the node whose first deployment fails: its group tolerates it, so the run goes on. */
const SITE = 'stl1';
const FAILING = 'stl1r01s06';

interface DemoFlags {
  /** Keep everything running until Ctrl-C. */
  readonly keep: boolean;
}

/**
 * Deploys the example site on simulated machines and shows it. A run that does not end as it should is an exit code, as is Ctrl-C.
 *
 * @throws CliError where there is no Temporal server
 */
export async function runDemo(terminal: Terminal, { keep }: DemoFlags): Promise<ExitCode> {
  const { strong } = paintFor(terminal.color);
  const say = (line = '') => terminal.out(`${line}\n`);
  const interrupted = terminal.interrupted();

  const found = await findTemporalBinary({ report: (line) => say(`  ${line}`) });
  if (found.status === 'missing')
    throw new CliError({ code: 'temporal-missing', message: explainMissing(found) }, EXIT.unreachable);
  const root = installationFile('.');
  const { files } = await readDocumentFiles([installationFile(`examples/${SITE}`)]);
  const named = files.map((file) => ({ ...file, name: relative(root, file.name).split(sep).join('/') || file.name }));
  const hosts = loadSite(named).site?.nodes.map((node) => node.name) ?? [];

  say(strong('Sitewright demo: starting'));
  const base = join(isCheckout() ? root : terminal.cwd, '.sitewright');
  const giveUmaskBack = openOwnFolder(base);
  const system = await startDemo({ base, binary: found.path, hosts, failing: [FAILING], unhurried: keep }, say);
  try {
    // Show the command as the user can type it.
    const temporal = found.source === 'PATH' ? 'temporal' : found.path;
    const report = await deploy(system, named, temporal, { say, strong }, interrupted);
    if (report === null) return EXIT.interrupted;
    say();
    say(reportText(report, terminal.color));
    const good = report.outcome === 'success' || report.outcome === 'success_with_failures';
    if (keep) {
      say(strong('Everything keeps running. Ctrl-C stops it.'));
      say(`The machine of ${FAILING} is repaired now. Deploy again in another terminal; only that machine changes:`);
      say(`  ${cli(system, `site deploy ${SITE} --watch`)}`);
      await new Promise<void>((done) => {
        if (interrupted.aborted) done();
        else interrupted.addEventListener('abort', () => done(), { once: true });
      });
    } else {
      const again = isCheckout() ? 'npm run demo -- --keep' : 'the same with --keep';
      say(`To explore while everything keeps running, and repair the failed node: ${again}`);
    }
    return good ? EXIT.done : EXIT.failed;
  } finally {
    say('Stopping.');
    await system.stop();
    giveUmaskBack();
  }
}

interface Voice {
  readonly say: (line?: string) => void;
  readonly strong: (text: string) => string;
}

async function deploy(
  system: DemoSystem,
  files: readonly { name: string; text: string }[],
  temporal: string,
  { say, strong }: Voice,
  signal: AbortSignal,
): Promise<RunReport | null> {
  const api = new ApiClient({ url: system.apiUrl, token: system.token });
  await api.sites.create({ name: SITE }).catch((error: unknown) => {
    // There from an earlier demo.
    if (!(error instanceof CliError) || error.problem.code !== 'conflict') throw error;
  });
  const { revision, nodes, groups } = await api.sites.commit(SITE, { files, message: 'the example site' });
  await endEarlierRun(api, say);
  const run = await api.sites.start(SITE, { kind: 'deploy_site', started_by: 'demo', reason: 'demo' });

  say();
  say(`${strong('Web page')}         ${system.apiUrl}/#token=${system.token}`);
  say(`${strong('API')}              ${system.apiUrl}/docs`);
  if (system.temporalUiUrl) say(`${strong('Temporal Web UI')}  ${system.temporalUiUrl}`);
  say(`${strong('This run')}         ${run.temporal_url ?? `${system.apiUrl}/api/v1/runs/${run.id}`}`);
  say();
  say('Try these in another terminal, in this folder, while it runs:');
  for (const line of aliasOfCommand()) say(`  ${line}`);
  for (const verb of ['pause', 'status', 'resume']) say(`  ${cli(system, `run ${verb} ${SITE}`)}`);
  say('or the same with Temporal’s own command line:');
  for (const line of temporalLines(system, temporal, run.workflow_id)) say(`  ${line}`);
  say();
  say(
    strong(
      `Deploying site ${SITE}, revision ${revision?.number ?? '?'}: ${counted(nodes, 'node')} in ${counted(groups, 'group')}.`,
    ),
  );
  say(`${FAILING} will fail; its group tolerates that.`);
  const ended = await followRun(api, run.id, say, signal);
  return ended ? ((await api.runs.report(run.id)) as RunReport) : null;
}

/** Environment for Temporal's command line, set once, so that each command is short. */
function temporalLines(system: DemoSystem, temporal: string, workflowId: string): string[] {
  const verbs = [
    ['signal', '--name pause'],
    ['query', '--type status'],
    ['signal', '--name resume'],
  ];
  return [
    ...(temporal === 'temporal' ? [] : [`alias temporal=${temporal}`]),
    ...(system.temporalAddress === '127.0.0.1:7233' ? [] : [`export TEMPORAL_ADDRESS=${system.temporalAddress}`]),
    ...verbs.map(([verb, name]) => `temporal workflow ${verb} --workflow-id ${workflowId} ${name}`),
  ];
}

/** Cancels the open run of a killed demo, whose machines no longer exist. */
async function endEarlierRun(api: ApiClient, say: (line?: string) => void): Promise<void> {
  const { items } = await api.runs.list({ site: SITE, open: true });
  for (const run of items) {
    const { outcome } = await api.runs.get(run.id);
    if (outcome !== null) continue;
    say(`  An earlier demo left run ${run.id} open; cancelling it.`);
    await api.runs.act(run.id, 'cancel', { by: 'demo', reason: 'left open by an earlier demo' });
    while ((await api.runs.get(run.id)).outcome === null) await new Promise((done) => setTimeout(done, 200));
  }
}

/** A CLI command for this demo's API, as it can be typed. */
function cli(system: DemoSystem, command: string): string {
  const api = system.apiUrl === 'http://127.0.0.1:8080' ? '' : `--api ${system.apiUrl} `;
  return `${isCheckout() ? 'bin/' : ''}sitewright ${api}${command}`;
}

/** What makes the command known to a shell that does not find it: `npx` installs where no other command looks. */
function aliasOfCommand(): string[] {
  const own = realpathSync(installationFile('bin/sitewright'));
  const isOwn = (folder: string) => {
    const file = resolve(folder, 'sitewright');
    return !file.includes(`${sep}_npx${sep}`) && existsSync(file) && realpathSync(file) === own;
  };
  const isKnown = (process.env.PATH ?? '').split(delimiter).some(isOwn);
  return isCheckout() || isKnown ? [] : [`alias sitewright=${own}`];
}
