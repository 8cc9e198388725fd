import { spawn } from 'node:child_process';
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

/** What came of asking for the lock. */
export type LockAnswer =
  | { readonly kind: 'held'; readonly lock: NodeLock }
  /** The folder of the execution that has it. */
  | { readonly kind: 'busy'; readonly holder: string }
  | { readonly kind: 'given-up' }
  | { readonly kind: 'missing-program'; readonly program: string };

/**
 * One execution at a time on a node, whoever started it. The kernel keeps the lock (flock) for as long as the
 * holder's process lives, so nothing is left behind by a kill; the file says who the last holder was.
 */
export class NodeLock {
  readonly #path: string;
  readonly #fd: number;

  private constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  /** Waits for the lock. Node has no call for it: flock(1) locks the file description that both share. */
  static async acquire(path: string, waitSec: number, giveUp: AbortSignal): Promise<LockAnswer> {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    const answer = await new Promise<number | 'missing' | 'given-up'>((resolve) => {
      const wait = waitSec > 0 ? ['--wait', String(waitSec)] : ['--nonblock'];
      const child = spawn('flock', ['--exclusive', ...wait, '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
      const stop = () => child.kill('SIGKILL');
      giveUp.addEventListener('abort', stop, { once: true });
      if (giveUp.aborted) stop();
      child.once('error', () => resolve('missing'));
      child.once('exit', (code) => {
        giveUp.removeEventListener('abort', stop);
        resolve(code ?? 'given-up');
      });
    });
    if (answer === 0) return { kind: 'held', lock: new NodeLock(path, fd) };
    closeSync(fd);
    if (answer === 'missing') return { kind: 'missing-program', program: 'flock' };
    if (answer === 'given-up' || giveUp.aborted) return { kind: 'given-up' };
    return { kind: 'busy', holder: readFileSync(path, 'utf8') };
  }

  /** The folder of the execution that had it last; empty at first. */
  lastHolder(): string {
    return readFileSync(this.#path, 'utf8');
  }

  /** Says who has it now. */
  sign(folder: string): void {
    ftruncateSync(this.#fd, 0);
    writeSync(this.#fd, folder, 0);
  }

  release(): void {
    closeSync(this.#fd);
  }
}
