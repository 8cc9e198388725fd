import { join, relative, sep } from 'node:path';
import { styleText } from 'node:util';
import { ApiClient } from '../src/cli/client.ts';
import { CliError } from '../src/cli/problem.ts';
import { reportText } from '../src/cli/views/report.ts';
import type { RunReport } from '../src/core/site-run/index.ts';
import { counted } from '../src/core/text/text.ts';
import { loadSite, readDocumentFiles } from '../src/documents/index.ts';
import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.ts';
import { type DemoSystem, startDemo } from './demo-system.ts';
import { followRun } from './parts/demo-progress.ts';

/** The example site and the node whose first deployment fails: its group tolerates it, so the run goes on. */
const SITE = 'stl1';
const FAILING = 'stl1r01s06';

interface DemoFlags {
  /** The project's folder. */
  readonly root: string;
  /** Keep everything running until Ctrl-C. */
  readonly keep: boolean;
}

/**
 * Deploys the example site on simulated machines and shows it. Returns the exit code: 0 when the run
 * ended as it should, 1 when not, 130 after Ctrl-C.
 */
export async function runDemo({ root, keep }: DemoFlags): Promise<number> {
  const color = process.stdout.isTTY === true && !process.env.NO_COLOR;
  const strong = (text: string) => (color ? styleText('bold', text) : text);
  const say = (line = '') => process.stdout.write(`${line}\n`);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort();
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);

  const found = await findTemporalBinary({ report: (line) => say(`  ${line}`) });
  if (found.status === 'missing') {
    say(explainMissing(found));
    return 1;
  }
  const { files } = await readDocumentFiles([join(root, 'examples', SITE)]);
  const named = files.map((file) => ({ ...file, name: relative(root, file.name).split(sep).join('/') || file.name }));
  const hosts = loadSite(named).site?.nodes.map((node) => node.name) ?? [];

  say(strong('Sitewright demo: starting'));
  const base = join(root, '.sitewright');
  const system = await startDemo({ base, binary: found.path, hosts, failing: [FAILING] }, say);
  try {
    // Show the command as the user can type it.
    const temporal = found.source === 'PATH' ? 'temporal' : found.path;
    const report = await deploy(system, named, temporal, { say, strong }, interrupted.signal);
    if (report === null) return 130;
    say();
    say(reportText(report, color));
    const good = report.outcome === 'success' || report.outcome === 'success_with_failures';
    if (keep) {
      say(strong('Everything keeps running. Ctrl-C stops it.'));
      say(`The machine of ${FAILING} is repaired now. Deploy again in another terminal; only that machine changes:`);
      say(`  ${cli(system, `site deploy ${SITE} --watch`)}`);
      await new Promise<void>((done) => {
        if (interrupted.signal.aborted) done();
        else interrupted.signal.addEventListener('abort', () => done(), { once: true });
      });
    } else {
      say('To explore while everything keeps running, and repair the failed node: npm run demo -- --keep');
    }
    return good ? 0 : 1;
  } finally {
    say('Stopping.');
    await system.stop();
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
  const api = new ApiClient({ url: system.apiUrl, user: 'demo' });
  await api.sites.create({ name: SITE }).catch((error: unknown) => {
    // There from an earlier demo.
    if (!(error instanceof CliError) || error.problem.code !== 'conflict') throw error;
  });
  const { revision, nodes, groups } = await api.sites.commit(SITE, { files, message: 'the example site' });
  await endEarlierRun(api, say);
  const run = await api.sites.start(SITE, { kind: 'deploy_site', started_by: 'demo', reason: 'demo' });

  say();
  say(`${strong('Web page')}         ${system.apiUrl}/`);
  say(`${strong('API')}              ${system.apiUrl}/docs`);
  if (system.temporalUiUrl) say(`${strong('Temporal Web UI')}  ${system.temporalUiUrl}`);
  say(`${strong('This run')}         ${run.temporal_url ?? `${system.apiUrl}/api/v1/runs/${run.id}`}`);
  say();
  say('Try these in another terminal, in this folder, while it runs:');
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

/** A CLI command in the project's folder, for this demo's API. */
function cli(system: DemoSystem, command: string): string {
  const api = system.apiUrl === 'http://127.0.0.1:8080' ? '' : `--api ${system.apiUrl} `;
  return `bin/sitewright ${api}${command}`;
}
