import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** Starts `sitewright up` together with a Temporal server of the test. */
export const spawnUp = (
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  options: readonly string[] = [],
): ChildProcess => spawn(command, ['up', '--no-temporal', ...options], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });

/** Resolves with what it has said when everything runs; rejects with that when the process ends before. */
export const isUp = (system: ChildProcess): Promise<string> =>
  new Promise((up, failed) => {
    let said = '';
    const read = (text: Buffer) => {
      said += text;
      if (said.includes('Ctrl-C stops everything')) up(said);
    };
    system.stdout!.on('data', read);
    system.stderr!.on('data', read);
    system.once('exit', (code) => failed(new Error(`sitewright up ended with ${code}:\n${said}`)));
  });

/** Ends it, if it still runs. */
export async function endUp(system: ChildProcess | undefined): Promise<void> {
  if (system?.exitCode !== null) return;
  const gone = once(system, 'exit');
  system.kill('SIGTERM');
  await gone;
}
