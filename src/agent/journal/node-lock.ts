import { spawn } from 'node:child_process';
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Result of acquiring the lock. */
type LockAnswer =
  | { readonly kind: 'held'; readonly lock: NodeLock }
  /** The folder of the execution that holds it. */
  | { readonly kind: 'busy'; readonly holder: string }
  | { readonly kind: 'given-up' }
  | { readonly kind: 'missing-program'; readonly program: string };

/**
 * Allows one execution at a time on a node. The kernel holds the lock (flock) as long as the holder's process runs, so
 * a killed process leaves no lock behind. The file names the last holder.
 */
export class NodeLock {
  readonly #path: string;
  readonly #fd: number;

  private constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  /**
   * Waits for the lock. Node.js has no call for it: flock(1) locks the open file description that both processes share.
   */
  static async acquire(path: string, waitSec: number, stopWaiting: AbortSignal): Promise<LockAnswer> {
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
    const answer = await new Promise<number | 'missing' | 'given-up'>((resolve) => {
      const wait = waitSec > 0 ? ['--wait', String(waitSec)] : ['--nonblock'];
      const child = spawn('flock', ['--exclusive', ...wait, '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
      const kill = () => child.kill('SIGKILL');
      stopWaiting.addEventListener('abort', kill, { once: true });
      if (stopWaiting.aborted) kill();
      child.once('error', () => resolve('missing'));
      child.once('exit', (code) => {
        stopWaiting.removeEventListener('abort', kill);
        resolve(code ?? 'given-up');
      });
    });
    if (answer === 0) return { kind: 'held', lock: new NodeLock(path, fd) };
    closeSync(fd);
    if (answer === 'missing') return { kind: 'missing-program', program: 'flock' };
    if (answer === 'given-up' || stopWaiting.aborted) return { kind: 'given-up' };
    return { kind: 'busy', holder: readFileSync(path, 'utf8') };
  }

  /** The folder of the execution that last held it; empty at first. */
  lastHolder(): string {
    return readFileSync(this.#path, 'utf8');
  }

  /** Records the new holder. */
  sign(folder: string): void {
    ftruncateSync(this.#fd, 0);
    writeSync(this.#fd, folder, 0);
  }

  release(): void {
    closeSync(this.#fd);
  }
}
