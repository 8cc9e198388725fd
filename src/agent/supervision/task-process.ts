import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { allowCoreDumpsOf } from '../../platform/secrets/core-dumps.ts';
import type { TaskFailure } from '../journal/result.ts';
import { systemFailure } from '../task-types/place-file.ts';
import { type Containment, MARK_VARIABLE } from './containment.ts';

/** A program to run, without a shell: arguments are passed unchanged. */
export interface Command {
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Also receives stdout, chunk by chunk, in addition to the output files. */
  readonly onStdout?: (chunk: Buffer) => void;
}

export type CommandEnd =
  | { readonly kind: 'exit'; readonly exitCode: number }
  | { readonly kind: 'signal'; readonly signal: string }
  | { readonly kind: 'not-started'; readonly failure: TaskFailure };

/** Default PATH of tasks. */
export const DEFAULT_TASK_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/puppetlabs/bin';

/** A daemon may keep the output open after the program's end: reading stops after this much silence. */
const SILENCE_MS = 300;
/** It may also go on to write: the task has ended nevertheless. */
const LAST_WORDS_MS = 2000;

interface OutputSink {
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

function findProgram(name: string, path: string): string | undefined {
  const candidates = isAbsolute(name) ? [name] : path.split(delimiter).map((folder) => join(folder, name));
  return candidates.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return statSync(candidate).isFile();
    } catch {
      return false;
    }
  });
}

/**
 * Runs a program in its own session inside the containment, without a shell or standard input, in a clean environment.
 * Its output goes to the sink as it arrives; a slow disk slows the program down instead of filling memory.
 */
export async function runCommand(
  command: Command,
  surroundings: {
    readonly path: string;
    readonly mark: string;
    readonly containment: Containment;
    readonly sink: OutputSink;
    readonly started: (pid: number) => void;
  },
): Promise<CommandEnd> {
  const { containment, sink } = surroundings;
  const environment = {
    PATH: surroundings.path,
    LANG: 'C.UTF-8',
    HOME: homedir(),
    ...command.environment,
    [MARK_VARIABLE]: surroundings.mark,
  };
  const [name, ...args] = command.argv;
  const program = findProgram(name, environment.PATH);
  if (program === undefined) return { kind: 'not-started', failure: { kind: 'missing-program', program: name } };
  const cwd = command.cwd ?? '/';
  if (!existsSync(cwd)) return { kind: 'not-started', failure: { kind: 'io', path: cwd, code: 'ENOENT' } };

  return await new Promise((resolve) => {
    const child = containment.run(() =>
      spawn(program, args, { argv0: name, cwd, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    child.once('error', (error) => resolve({ kind: 'not-started', failure: systemFailure(program, error) }));
    if (child.pid !== undefined) {
      allowCoreDumpsOf(child.pid);
      containment.adopt(child.pid);
      surroundings.started(child.pid);
    }
    let end: CommandEnd | undefined;
    let silence: NodeJS.Timeout | undefined;
    let lastWords: NodeJS.Timeout | undefined;
    const leave = () => {
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const waitForSilence = () => {
      clearTimeout(silence);
      silence = setTimeout(leave, SILENCE_MS);
    };
    const take = (stream: 'stdout' | 'stderr') => (chunk: Buffer) => {
      sink.write(stream, chunk);
      if (stream === 'stdout') command.onStdout?.(chunk);
      if (end !== undefined) waitForSilence();
    };
    child.stdout.on('data', take('stdout'));
    child.stderr.on('data', take('stderr'));
    child.once('exit', (code, signal) => {
      end = signal === null ? { kind: 'exit', exitCode: code ?? 1 } : { kind: 'signal', signal };
      waitForSilence();
      lastWords = setTimeout(leave, LAST_WORDS_MS);
    });
    child.once('close', () => {
      clearTimeout(silence);
      clearTimeout(lastWords);
      if (end !== undefined) resolve(end);
    });
  });
}
