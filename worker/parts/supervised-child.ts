import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { given } from '../../src/core/data/given.ts';
import { runnableProgram } from '../../src/platform/threads/runnable-program.ts';

/** A Sitewright process to keep running. */
export interface ChildSpec {
  /** Prefix of its lines. */
  readonly name: string;
  /** Arguments of `sitewright`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Default: that of this process. */
  readonly cwd?: string;
  /** A matching line means that it is ready; the first group, if any, is its address. */
  readonly ready: RegExp;
}

export interface SupervisedChild {
  /** Its address (or '') once it is ready for the first time; rejects with NeverReady otherwise. */
  readonly ready: Promise<string>;
  /** Stops it permanently and resolves when the process has ended. */
  stop(): Promise<void>;
}

/** A child that never became ready, with its last output. */
export class NeverReady extends Error {
  override readonly name = 'NeverReady';
}

const GRACE_MS = 15_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** After running this long, the next pause is short again. */
const WELL_AFTER_MS = 60_000;
/** Limit of starts before the child is first ready. */
const STARTS = 3;

const WATCHDOG = new URL('../../src/platform/processes/run-with-parent.ts', import.meta.url);

const MAIN = new URL('../../src/cli/main.ts', import.meta.url);

/** Arguments of Node.js for a command of ours that ends with this process. */
const watched = (args: readonly string[]): string[] => {
  const [watchdog, main] = [WATCHDOG, MAIN].map((program) => fileURLToPath(runnableProgram(program)));
  return [watchdog!, String(GRACE_MS), process.execPath, main!, ...args];
};

/**
 * Runs a Sitewright process until `stop`, and restarts it when it dies, after a pause that doubles. It
 * always ends with this process (src/platform/processes/run-with-parent.ts).
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
  // A caller that stops it before it is ready does not handle the rejection.
  ready.catch(() => {});

  const start = (): void => {
    starts += 1;
    const startedAt = performance.now();
    // In a separate process group: this process handles Ctrl-C and stops children in order.
    child = spawn(process.execPath, watched(spec.args), {
      ...given({ cwd: spec.cwd }),
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
        rejectReady(new NeverReady(`${spec.name} does not start: ${lastLine.trim() || endedAs}`));
        return;
      }
      if (performance.now() - startedAt > WELL_AFTER_MS) pauseMs = FIRST_PAUSE_MS;
      say(spec.name, `ended (${endedAs || 'killed'}): restarting in ${pauseMs / 1000} s`);
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
        // The watchdog ends its command when its input is closed.
        if (child) child.stdin?.end();
        else gone();
      }
      await ended;
    },
  };
}
