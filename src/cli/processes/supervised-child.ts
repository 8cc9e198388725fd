import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A program of ours to keep running. */
export interface ChildSpec {
  /** Prefix of its lines. */
  readonly name: string;
  /** Arguments of `sitewright`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** A line that matches says that it is ready; the first group, if any, is its address. */
  readonly ready: RegExp;
}

export interface SupervisedChild {
  /** Its address (or '') once it is ready for the first time; rejects with GaveUp when it never was. */
  readonly ready: Promise<string>;
  /** Ends it for good and resolves when the process is gone. */
  stop(): Promise<void>;
}

/** A child that never got ready, with what it said last. */
export class GaveUp extends Error {
  override readonly name = 'GaveUp';
}

const GRACE_MS = 15_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** One that ran this long was well: the next pause is short again. */
const WELL_AFTER_MS = 60_000;
/** Starts that end before the child was ever ready. */
const STARTS = 3;

const WATCHDOG = fileURLToPath(new URL('../../../scripts/run-with-parent.mjs', import.meta.url));

/** Ourselves, compiled. */
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

/**
 * Runs a program of ours until `stop`, and starts it again when it dies, after a pause that doubles. It
 * ends when this process does, in whatever way (run-with-parent.mjs).
 */
export function supervise(spec: ChildSpec, say: (name: string, line: string) => void): SupervisedChild {
  let child: ChildProcess | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let wasReady = false;
  let starts = 0;
  let lastLine = '';
  let gone: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    gone = resolve;
  });
  let resolveReady: (address: string) => void = () => {};
  let rejectReady: (error: Error) => void = () => {};
  const ready = new Promise<string>((resolve, reject) => {
    resolveReady = resolve;
    rejectReady = reject;
  });
  // Whoever stops before it is ready does not ask for it any more.
  ready.catch(() => {});

  const start = (): void => {
    starts += 1;
    const startedAt = performance.now();
    // In a process group of its own: Ctrl-C is ours to answer, in order.
    child = spawn(process.execPath, [WATCHDOG, String(GRACE_MS), process.execPath, MAIN, ...spec.args], {
      env: spec.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    child.stdin?.on('error', () => {});
    let endedAs = '';
    createInterface(child.stdout!).on('line', (line) => {
      const [word, ...rest] = line.split(' ');
      if (word === 'ended' || word === 'failed') endedAs = rest.filter((part) => part !== '-').join(' ');
    });
    createInterface(child.stderr!).on('line', (line) => {
      const match = spec.ready.exec(line);
      if (match) {
        wasReady = true;
        resolveReady(match[1] ?? '');
      }
      if (line.trim() !== '') lastLine = line;
      say(spec.name, line);
    });
    child.once('close', () => {
      child = undefined;
      if (stopped) return gone();
      if (!wasReady && starts >= STARTS) {
        stopped = true;
        gone();
        rejectReady(new GaveUp(`${spec.name} does not start: ${lastLine.trim() || endedAs}`));
        return;
      }
      if (performance.now() - startedAt > WELL_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      say(spec.name, `ended (${endedAs || 'killed'}): it is started again in ${pauseMs / 1000} s`);
      timer = setTimeout(start, pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    });
  };
  start();

  return {
    ready,
    async stop() {
      if (!stopped) {
        stopped = true;
        clearTimeout(timer);
        // The watchdog ends its command when we let go of its input.
        if (child) child.stdin?.end();
        else gone();
      }
      await ended;
    },
  };
}
