import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { puppet as type } from '../../core/task-types/scripts.ts';
import { readProcess } from '../../platform/processes/process-identity.ts';
import type { TaskFailure } from '../journal/result.ts';
import { countIn, namesInReport, readPuppetSummary } from './puppet-summary.ts';
import { runner, type TaskContext, type TryEnd } from './task-runner.ts';

type PuppetParameters = ReturnType<typeof type.prepare>['parameters'];

/** Where puppet's own agent keeps the lock of a catalog run, by packaging. `puppet apply` itself has no lock. */
const PUPPET_LOCKS = ['/var/cache/puppet', '/var/lib/puppet', '/opt/puppetlabs/puppet/cache'].map(
  (folder) => `${folder}/state/agent_catalog_run.lock`,
);

/** Waits for a run of puppet's own agent to end; returns the lock file if it is still held at the timeout. */
async function foreignRun(p: PuppetParameters, context: TaskContext): Promise<string | undefined> {
  const ends = performance.now() + p.puppet_start_timeout * 1000;
  for (;;) {
    const held = await heldLock();
    if (held === undefined || context.stop.aborted) return undefined;
    if (performance.now() >= ends) return held;
    context.print(`waiting for puppet's own run: ${held}`);
    await context.pause(Math.max(100, p.puppet_start_interval * 1000));
  }
}

async function heldLock(): Promise<string | undefined> {
  for (const lock of PUPPET_LOCKS) {
    const pid = Number((await readFile(lock, 'utf8').catch(() => '')).trim());
    if (pid > 0 && readProcess(pid) !== undefined) return lock;
  }
  return undefined;
}

async function run(p: PuppetParameters, context: TaskContext): Promise<TryEnd> {
  const holder = await foreignRun(p, context);
  if (holder !== undefined) return { failure: { kind: 'busy', holder }, changed: false };
  let changed = false;
  for (let confirmation = 0; ; confirmation += 1) {
    const end = await applyOnce(p, context, confirmation);
    changed ||= end.changed === true;
    const over = end.failure !== null || confirmation >= p.succeed_retries || context.stop.aborted;
    if (over) return { ...end, changed: end.changed === null ? null : changed };
  }
}

/** @param folder for its summary and report, and with `noop` its state */
function puppetArguments(
  p: PuppetParameters,
  folder: string,
  noop: boolean,
  debug: boolean,
): readonly [string, ...string[]] {
  const modules = p.puppet_modules.split(':').map((one) => resolve(p.cwd, one));
  const [first, ...words] = [...p.command_prefix.split(/\s+/).filter(Boolean), 'puppet'];
  return [
    first!,
    ...words,
    'apply',
    '--detailed-exitcodes',
    '--color=false',
    '--trace',
    `--modulepath=${modules.join(':')}`,
    `--basemodulepath=${modules.join(':')}`,
    '--logdest=console',
    '--reports=none',
    `--lastrunfile=${folder}/last_run_summary.yaml`,
    `--lastrunreport=${folder}/last_run_report.yaml`,
    // A noop run must not change puppet's state folder either.
    ...(noop ? ['--noop', `--statedir=${folder}/state`] : []),
    ...(debug ? ['--debug', '--evaltrace'] : []),
    '--',
    resolve(p.cwd, p.puppet_manifest),
  ];
}

async function applyOnce(p: PuppetParameters, context: TaskContext, number: number): Promise<TryEnd> {
  const noop = context.noop || p.puppet_noop_run;
  const folder = join(context.tryFolder, `puppet-${number}`);
  await mkdir(join(folder, 'state'), { recursive: true, mode: 0o700 });
  const summaryFile = join(folder, 'last_run_summary.yaml');
  const reportFile = join(folder, 'last_run_report.yaml');
  const begin = performance.now();
  const command = await context.run({
    argv: puppetArguments(p, folder, noop, p.debug || context.execution.debug === true),
    cwd: p.cwd,
  });
  if (command.kind === 'not-started') return { failure: command.failure, changed: false };
  const summaryText = await readFile(summaryFile, 'utf8').catch(() => undefined);
  // The start by the current wall clock: if the clock was set back meanwhile, the summary must not look old.
  const startedAt = Math.floor((Date.now() - (performance.now() - begin)) / 1000);
  const names = namesInReport(await readFile(reportFile, 'utf8').catch(() => ''));
  const verdict = judgePuppet(command, summaryText, startedAt);
  const summary = {
    ...verdict.summary,
    changedResources: names.changed,
    failedResources: names.failed,
    ...(p.raw_report || noop ? { reportFile } : {}),
  };
  return { ...verdict, summary };
}

/**
 * The outcome of one `puppet apply --detailed-exitcodes`. The exit code decides first (0 nothing to do, 2 changed,
 * 4 failed, 6 both, 1 no run), then the summary must agree. A summary alone may report "0 failed" for an interrupted
 * run; an exit code alone may be 0 although services did not restart.
 * @param startedAt seconds since 1970; an older summary belongs to another run
 */
export function judgePuppet(
  end: { readonly kind: 'exit'; readonly exitCode: number } | { readonly kind: 'signal'; readonly signal: string },
  summaryText: string | undefined,
  startedAt: number,
): TryEnd {
  if (end.kind === 'signal')
    return { failure: { kind: 'signal', signal: end.signal }, changed: null, signal: end.signal };
  const { exitCode } = end;
  const parsed = summaryText === undefined ? undefined : readPuppetSummary(summaryText);
  const fresh = parsed !== undefined && (countIn(parsed, 'time', 'last_run') ?? 0) >= startedAt ? parsed : undefined;
  const noopPending = fresh === undefined ? 0 : (countIn(fresh, 'events', 'noop') ?? 0);
  const summary = fresh === undefined ? {} : { ...fresh, noopPending };
  const changedByCode = exitCode === 2 || exitCode === 6;
  if (exitCode !== 0 && exitCode !== 2) {
    // 1 means "no catalog", but also "interrupted by TERM": then the changes are unknown.
    const changed = exitCode === 4 || exitCode === 6 ? changedByCode : null;
    return { failure: { kind: 'exit', exitCode }, changed, exitCode, summary };
  }
  const doubt = doubtOf(fresh, parsed);
  const failure: TaskFailure | null = doubt === undefined ? null : { kind: 'puppet-summary', reason: doubt };
  return { failure, changed: changedByCode, exitCode, summary };
}

function doubtOf(
  fresh: ReturnType<typeof readPuppetSummary> | undefined,
  parsed: ReturnType<typeof readPuppetSummary> | undefined,
): string | undefined {
  if (parsed === undefined) return 'it wrote no summary';
  if (fresh === undefined) return 'the summary is of an earlier run, or has no time';
  const failed = countIn(fresh, 'resources', 'failed');
  const notRestarted = countIn(fresh, 'resources', 'failed_to_restart');
  if (failed === undefined) return 'the summary counts no resources';
  if (failed > 0) return `the summary counts ${failed} failed resources`;
  if (notRestarted !== undefined && notRestarted > 0) return `${notRestarted} resources failed to restart`;
  return undefined;
}

/** `puppet apply` of one manifest. */
export const puppet = runner(type, { run });
