import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ParameterReader } from '../parameters.js';
import { readProcess } from '../process-identity.js';
import type { TaskFailure } from '../result.js';
import type { TaskContext, TaskType, TryEnd } from '../task-type.js';
import { countIn, namesInReport, readPuppetSummary } from './puppet-summary.js';

export interface PuppetParameters {
  readonly manifest: string;
  readonly modules: string;
  readonly cwd: string;
  readonly timeout: number;
  readonly retries: number;
  readonly succeedRetries: number;
  readonly debug: boolean;
  readonly prefix: readonly string[];
  readonly rawReport: boolean;
  readonly noopRun: boolean;
  readonly startTimeout: number;
  readonly startInterval: number;
}

/** Programs that only change how another one runs. */
const PREFIXES = new Set(['nice', 'ionice', 'chrt', 'taskset', 'nohup', 'stdbuf']);

/** Where puppet's own agent keeps the lock of a catalog run, by packaging. `puppet apply` itself has none. */
export const PUPPET_LOCKS = ['/var/cache/puppet', '/var/lib/puppet', '/opt/puppetlabs/puppet/cache'].map(
  (folder) => `${folder}/state/agent_catalog_run.lock`,
);

function read(parameters: ParameterReader): PuppetParameters {
  const prefix = parameters.text('command_prefix', '').split(/\s+/).filter(Boolean);
  if (prefix.length > 0 && (!PREFIXES.has(prefix[0]!) || prefix.some((word) => !/^[\w=.,:/+-]+$/.test(word))))
    parameters.wrong(
      'command_prefix',
      `command_prefix must begin with one of ${[...PREFIXES].join(', ')} and have plain words`,
      'Write it like "nice -n 10".',
    );
  // The reference polled another process, whose answers could be missing; here nothing is undefined.
  parameters.count('undefined_retries', 3);
  return {
    manifest: parameters.path('puppet_manifest'),
    modules: modulePath(parameters),
    cwd: parameters.path('cwd', '/'),
    timeout: parameters.amount('timeout', 5400),
    retries: parameters.count('retries', 2),
    succeedRetries: parameters.count('succeed_retries', 0),
    debug: parameters.flag('debug', false),
    prefix,
    rawReport: parameters.flag('raw_report', false),
    noopRun: parameters.flag('puppet_noop_run', false),
    startTimeout: parameters.amount('puppet_start_timeout', 10),
    startInterval: parameters.amount('puppet_start_interval', 2),
  };
}

function modulePath(parameters: ParameterReader): string {
  const value = parameters.operand('puppet_modules', '/etc/puppet/modules');
  if (value.split(':').some((folder) => !folder.startsWith('/')))
    parameters.wrong('puppet_modules', 'puppet_modules must be absolute paths joined by :', 'Give absolute paths.');
  return value;
}

/** Waits for a run of puppet's own agent; the lock's file when it is still there at the end. */
async function foreignRun(p: PuppetParameters, context: TaskContext): Promise<string | undefined> {
  const ends = performance.now() + p.startTimeout * 1000;
  for (;;) {
    const held = await heldLock();
    if (held === undefined || context.stop.aborted) return undefined;
    if (performance.now() >= ends) return held;
    context.print(`waiting for puppet's own run: ${held}`);
    await context.pause(Math.max(100, p.startInterval * 1000));
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
    const over = end.failure !== null || confirmation >= p.succeedRetries || context.stop.aborted;
    if (over) return { ...end, changed: end.changed === null ? null : changed };
  }
}

/** @param folder where its summary and report go, and with `noop` its state */
export function puppetArguments(
  p: PuppetParameters,
  folder: string,
  noop: boolean,
  debug: boolean,
): readonly [string, ...string[]] {
  return [
    ...(p.prefix as readonly [string]),
    'puppet',
    'apply',
    '--detailed-exitcodes',
    '--color=false',
    '--trace',
    `--modulepath=${p.modules}`,
    `--basemodulepath=${p.modules}`,
    '--logdest=console',
    '--reports=none',
    `--lastrunfile=${folder}/last_run_summary.yaml`,
    `--lastrunreport=${folder}/last_run_report.yaml`,
    // A run that may change nothing keeps its own state, too, to itself.
    ...(noop ? ['--noop', `--statedir=${folder}/state`] : []),
    ...(debug ? ['--debug', '--evaltrace'] : []),
    '--',
    p.manifest,
  ];
}

async function applyOnce(p: PuppetParameters, context: TaskContext, number: number): Promise<TryEnd> {
  const noop = context.noop || p.noopRun;
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
  // The start by the clock as it is now: one that was set back meanwhile must not make the summary look old.
  const startedAt = Math.floor((Date.now() - (performance.now() - begin)) / 1000);
  const names = namesInReport(await readFile(reportFile, 'utf8').catch(() => ''));
  const verdict = judgePuppet(command, summaryText, startedAt);
  const summary = {
    ...verdict.summary,
    changedResources: names.changed,
    failedResources: names.failed,
    ...(p.rawReport || noop ? { reportFile } : {}),
  };
  return { ...verdict, summary };
}

/**
 * The verdict on one `puppet apply --detailed-exitcodes`: its exit code first (0 nothing to do, 2 changed,
 * 4 failed, 6 both, 1 no run), then the summary must agree. A summary alone says "0 failed" of a run that
 * was ended in the middle; an exit code alone says 0 of one whose services did not restart.
 * @param startedAt seconds since 1970: an older summary is another run's
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
    // 1 is "no catalog", and also "ended by TERM in the middle": then nobody knows what was done.
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
export const puppet: TaskType<PuppetParameters> = {
  name: 'puppet',
  noop: 'simulate',
  read,
  limits: (p) => ({
    timeoutSec: p.timeout,
    timeoutCovers: 'all-tries',
    retries: p.retries,
    intervalSec: 0,
    killGraceSec: 30,
  }),
  run,
};
