import { userInfo } from 'node:os';
import { createInterface } from 'node:readline';

/** Output and input of a command: the process's, or a test's. Nothing else in src/cli writes to standard output. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  /** Base of relative paths. */
  readonly cwd: string;
  /** Name of the user this process runs as; undefined when the system has none for it. */
  loginName?(): string | undefined;
  /** Every problem is shown, not only the first of each kind. */
  readonly all?: boolean;
  /** The flags that named the system: `--api URL`, `--context NAME`. */
  readonly typed?: string | undefined;
  /** Colours may be used on standard output. */
  readonly color: boolean;
  /** Characters in a line; undefined when the output is not a terminal: then lines have any length. */
  readonly columns?: number | undefined;
  /** A user can answer questions. */
  readonly interactive: boolean;
  /** Aborted by Ctrl-C. The first call installs the handler of Ctrl-C. */
  interrupted(): AbortSignal;
  out(text: string): void;
  /** Like `out`, for a result of any size: resolves when its reader is ready for more. */
  outAll(text: string): Promise<void>;
  err(text: string): void;
  /**
   * Shows what is waited for, in a line that the next call replaces and undefined removes. Absent, or without effect, where
   * nobody looks.
   */
  progress?(text: string | undefined): void;
  ask(question: string): Promise<string>;
  /** The next line piped to standard input; undefined if none arrives immediately. */
  pipedLine?(): Promise<string | undefined>;
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves early when aborted. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** Where a check prints the problems that it found. */
export type Complaints = Pick<Terminal, 'err' | 'all'>;

/** Timeout for a piped answer, which arrives immediately; services may have a pipe without a writer. */
const PIPED_LINE_MS = 2000;

/** A line of a terminal that is written over, cut to its width: a second line could not be removed. */
export function progressOn(stream: { write(text: string): unknown; readonly columns?: number }) {
  return (text: string | undefined): void => {
    const shown = text === undefined ? '' : text.replaceAll(/\s+/g, ' ').slice(0, (stream.columns ?? 80) - 1);
    stream.write(`\r\u001b[2K${shown}`);
  };
}

/** The terminal of the process. */
export function processTerminal(): Terminal {
  const { env, stdin, stdout } = process;
  let interruption: AbortController | undefined;
  return {
    env,
    cwd: process.cwd(),
    loginName() {
      try {
        return userInfo().username;
      } catch {
        // A container may run with a user id that has no name.
        return undefined;
      }
    },
    color: stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb',
    get columns() {
      return stdout.isTTY === true ? stdout.columns : undefined;
    },
    interactive: stdin.isTTY === true && stdout.isTTY === true,
    interrupted() {
      if (!interruption) {
        const controller = new AbortController();
        interruption = controller;
        process.once('SIGINT', () => controller.abort());
        process.once('SIGTERM', () => controller.abort());
      }
      return interruption.signal;
    },
    out: (text) => void stdout.write(text),
    outAll: (text) =>
      new Promise((resolve, reject) => stdout.write(text, (error) => (error ? reject(error) : resolve()))),
    err: (text) => void process.stderr.write(text),
    ...(process.stderr.isTTY === true && env.TERM !== 'dumb' && { progress: progressOn(process.stderr) }),
    async ask(question) {
      const lines = createInterface({ input: stdin, output: stdout });
      try {
        return await new Promise<string>((resolve) => {
          lines.once('close', () => resolve(''));
          lines.question(question, resolve);
        });
      } finally {
        lines.close();
      }
    },
    async pipedLine() {
      if (stdin.isTTY === true || !stdin.readable) return undefined;
      const lines = createInterface({ input: stdin });
      let timer: NodeJS.Timeout | undefined;
      try {
        return await new Promise<string | undefined>((resolve) => {
          timer = setTimeout(() => resolve(undefined), PIPED_LINE_MS);
          lines.once('line', resolve);
          lines.once('close', () => resolve(undefined));
        });
      } finally {
        clearTimeout(timer);
        lines.close();
      }
    },
    now: () => Date.now(),
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const end = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, milliseconds);
        signal.addEventListener('abort', end);
      }),
  };
}
