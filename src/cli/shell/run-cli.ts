import { CommanderError } from 'commander';
import { RefusalError } from '../../core/problems/refusal.ts';
import { withoutPasswords, withoutSecretValues } from '../../core/text/secrets.ts';
import { commandNamed, createProgram } from '../program.ts';
import { paintFor } from '../views/paint.ts';
import type { GlobalFlags } from './api-address.ts';
import { EXIT } from './exit-codes.ts';
import { CliError, type CliProblem } from './problem.ts';
import type { Terminal } from './terminal.ts';
import { forTypedSystem, typedSystem } from './typed-system.ts';
import { WouldChange, wouldText } from './would-change.ts';

/**
 * Runs one command line (without node and script) and returns the exit code. Never throws for user
 * input; a defect is printed with its stack trace.
 */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const before = process.exitCode;
  process.exitCode = undefined;
  const complain = wantsJson(args) ? () => {} : terminal.err;
  const own = { ...terminal, all: wantsAll(args) };
  const only = commandNamed(args);
  const program = await createProgram(own, { complain, ...(only !== undefined && { only }) });
  const isDetailed = args.includes('--detailed-exitcode');
  try {
    await program.parseAsync([...args], { from: 'user' });
    return typeof process.exitCode === 'number' ? process.exitCode : EXIT.done;
  } catch (error) {
    if (error instanceof WouldChange) {
      const { body, ...of } = error.request;
      // The bytes of a file are counted, not printed.
      const request =
        body === undefined || body instanceof Uint8Array ? error.request : { ...of, body: withoutSecretValues(body) };
      terminal.out(
        wantsJson(args) ? `${JSON.stringify({ dry_run: true, would: [request] }, null, 2)}\n` : wouldText(request),
      );
      return isDetailed ? EXIT.changes : EXIT.done;
    }
    const code = await failed(error, args, { ...own, typed: typedSystem(program.opts<GlobalFlags>()) });
    return isDetailed && code !== EXIT.done ? EXIT.failed : code;
  } finally {
    process.exitCode = before;
  }
}

/** Prints why the command failed. Returns its exit code. */
async function failed(error: unknown, args: readonly string[], terminal: Terminal): Promise<number> {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.done;
    const message = error.message.replace(/^error: /, '');
    const meant = await meantCommands(error, args, terminal);
    const hint = meant.length === 0 ? undefined : `Did you mean ${meant.join(' or ')}?`;
    if (wantsJson(args))
      terminal.err(await problemText({ code: 'usage', message, ...(hint && { hint }) }, args, terminal));
    else if (hint !== undefined) terminal.err(`(${hint})\n`);
    return EXIT.invalid;
  }
  if (error instanceof RefusalError) {
    terminal.err(await problemText(withHere(terminal, error.problem), args, terminal));
    return error instanceof CliError ? error.exitCode : EXIT.invalid;
  }
  const ofSystem = systemProblem(error);
  if (ofSystem !== undefined) {
    terminal.err(await problemText(ofSystem, args, terminal));
    return EXIT.invalid;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err(
    `unexpected: ${withoutPasswords(stack)}\nThis is a defect: please report it with the command and this text.\n`,
  );
  return EXIT.unreachable;
}

/** With hints whose commands go to the system that was asked. */
const withHere = (terminal: Terminal, { hint, errors, ...problem }: CliProblem): CliProblem => ({
  ...problem,
  ...(hint !== undefined && { hint: forTypedSystem(terminal, hint) }),
  ...(errors !== undefined && {
    errors: errors.map((one) => ({
      ...one,
      ...(one.hint !== undefined && { hint: forTypedSystem(terminal, one.hint) }),
    })),
  }),
});

/** Verbs that people mean by each other. */
const SAME_MEANING: readonly (readonly string[])[] = [
  ['delete', 'remove', 'rm'],
  ['create', 'add', 'new'],
  ['show', 'get', 'describe', 'info'],
  ['list', 'ls'],
];
/** A verb of more groups than these says nothing about which is meant. */
const MOST_GROUPS = 3;

/**
 * An unknown command may be another word for one of its group: `context delete` is `context remove`. Else it may exist in
 * another group: `deploy` is one of `site`.
 */
async function meantCommands(
  error: CommanderError,
  args: readonly string[],
  terminal: Terminal,
): Promise<readonly string[]> {
  const [, name] = /unknown command '(.+?)'/.exec(error.message) ?? [];
  if (error.code !== 'commander.unknownCommand' || name === undefined) return [];
  const { commands } = await createProgram(terminal);
  const called = commandNamed(args);
  const own = commands.find((group) => called !== name && group.name() === called);
  const callsOf = (groups: typeof commands, verbs: readonly string[]): readonly string[] =>
    groups.flatMap((group) =>
      group.commands
        .filter((one) => verbs.includes(one.name()))
        .map((one) => `'sitewright ${group.name()} ${one.name()}'`),
    );
  const inOwn = own === undefined ? [] : callsOf([own], SAME_MEANING.find((verbs) => verbs.includes(name)) ?? []);
  if (inOwn.length > 0) return inOwn;
  const inOthers = callsOf(commands, [name]);
  return own === undefined || inOthers.length <= MOST_GROUPS ? inOthers : [];
}

/** For people: message, findings with their places, next step. With `-f json`: the problem as JSON. */
async function problemText(problem: CliProblem, args: readonly string[], terminal: Terminal): Promise<string> {
  if (wantsJson(args)) return withoutPasswords(`${JSON.stringify(problem, null, 2)}\n`);
  const paint = paintFor(terminal.color && !args.includes('--no-color'));
  const { message, hint, errors = [], run } = problem;
  // Each problem is printed once: where it has a place, there, else as the message of the whole.
  const isRepeated = errors.length > 0 && errors.every((error) => message.includes(error.message));
  const isPlaced = errors.some(({ file }) => file !== undefined);
  let findings = '';
  if (errors.length > 0 && (isPlaced || !isRepeated)) {
    const { formatDiagnostics } = await import('../../documents/diagnostics/format-diagnostics.ts');
    findings = formatDiagnostics(errors, await sourcesOf(errors), { all: wantsAll(args) });
  }
  const lines = [`${paint.bad('error:')} ${isRepeated && isPlaced ? 'the input is not valid' : message}`];
  if (run && !message.includes(run.workflow_id)) lines.push(`  run:  ${run.id} (${run.workflow_id})`);
  if (hint !== undefined) lines.push(`  ${paint.strong('hint:')} ${hint}`);
  return withoutPasswords(`${findings}${lines.join('\n')}\n`);
}

const wantsAll = (args: readonly string[]): boolean => args.includes('--all');

function wantsJson(args: readonly string[]): boolean {
  return args.some(
    (arg, at) =>
      arg === '--json' ||
      arg === '-fjson' ||
      arg === '--format=json' ||
      ((arg === '-f' || arg === '--format') && args[at + 1] === 'json'),
  );
}

/** The files of the findings that exist on this disk. */
async function sourcesOf(errors: NonNullable<CliProblem['errors']>): Promise<Map<string, string>> {
  const { readFile } = await import('node:fs/promises');
  const sources = new Map<string, string>();
  for (const file of new Set(errors.flatMap((error) => error.file ?? []))) {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text !== undefined) sources.set(file, text);
  }
  return sources;
}

/** What to do about errors of the operating system: the user's to mend, no defect of ours. */
const ERRORS: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  EACCES: ['permission denied', 'Name a place that this user may use, or change its owner or mode.'],
  EPERM: ['permission denied', 'Name a place that this user may use, or change its owner or mode.'],
  EROFS: ['the file system is read-only', 'Name a place on another file system, or mount this one writable.'],
  ENOSPC: ['no space left on the disk', "Free some space: 'df -h' and 'df -i' show what is full."],
  EDQUOT: ['the quota of the disk is used up', 'Free some space, or ask for a larger quota.'],
  ENOENT: ['it does not exist', 'Correct its name.'],
  ENOTDIR: ['a part of its path is not a folder', 'Correct its path.'],
  EISDIR: ['it is a folder', 'Name a file.'],
  EEXIST: ['it exists already', 'Choose another name, or remove it first.'],
  EMFILE: ['too many open files', "Raise the limit: 'ulimit -n 65536'."],
  EADDRINUSE: ['the port is already in use', 'Choose another port, or stop the process that has it.'],
  EADDRNOTAVAIL: ['this machine does not have that address', 'Choose an address of this machine.'],
};

/** An error of the operating system as a problem with its next step; undefined for every other error. */
export function systemProblem(error: unknown): CliProblem | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path, address, port, syscall } = error as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  const known = code === undefined ? undefined : ERRORS[code];
  if (code === undefined || known === undefined) return undefined;
  const [why, hint] = known;
  const where = path ?? (address === undefined ? undefined : `${address}:${port}`);
  const what = where === undefined ? (syscall ?? 'a file') : where;
  return { code: 'system', message: `${what}: ${why} (${code})`, hint };
}
