import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/**
 * Runs a script of `sh` when this process has ended, even by `kill -9`: a process of its own waits until its standard input
 * closes, which does not keep this one running.
 *
 * @param args `$1` and so on
 */
export function runAfterUs(script: string, ...args: readonly string[]): void {
  const command = ['-c', `cat >/dev/null\n${script}`, 'after', ...args];
  const child = spawn('sh', command, { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.unref();
  (child.stdin as Socket).unref();
}
