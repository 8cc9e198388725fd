import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnableProgram } from '../../platform/threads/runnable-program.ts';
import type { Journal } from '../journal/journal.ts';
import { supervisorEnvironment } from './supervisor-environment.ts';
import type { SupervisorMessage } from './supervisor-message.ts';

/** The command of a supervisor: this Node.js with the supervisor's program. */
export function ownSupervisor(): readonly [string, string] {
  return [process.execPath, fileURLToPath(runnableProgram(new URL('./supervisor-main.ts', import.meta.url)))];
}

/**
 * Starts a supervisor in its own session, passes it its order, and returns when the execution is claimed, by this
 * supervisor or by another that was faster.
 * @throws Error when it ends before that, with its error output in the message
 */
export async function launchSupervisor(
  command: readonly [string, ...string[]],
  journal: Journal,
  order: SupervisorMessage,
  environment: NodeJS.ProcessEnv = supervisorEnvironment(),
): Promise<void> {
  const [program, ...args] = command;
  const logPath = join(journal.folder, 'supervisor.log');
  const log = openedLog(logPath);
  const child = spawn(program, args, { detached: true, env: environment, stdio: ['pipe', 'pipe', log ?? 'ignore'] });
  if (log !== undefined) closeSync(log);
  // The supervisor closes its standard output to signal that the execution is claimed.
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.stdout!.once('end', resolve).resume();
  });
  child.stdin!.on('error', () => undefined);
  child.stdin!.end(JSON.stringify(order));
  await ended;
  child.stdout!.destroy();
  child.unref();
  if (journal.readClaim() !== undefined) return;
  const said = log === undefined ? 'it has no log' : readFileSync(logPath, 'utf8').trim().slice(-1000);
  throw new Error(`The supervisor ended before it claimed the execution: ${said}`);
}

/** Undefined if it cannot be written: a task needs no log of its supervisor. */
function openedLog(path: string): number | undefined {
  try {
    return openSync(path, 'a', 0o600);
  } catch {
    return undefined;
  }
}
