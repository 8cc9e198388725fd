import { spawn } from 'node:child_process';

/** The end of a command. */
export interface CommandEnd {
  /** Exit code; 127 where the program cannot be started, 128 where it was killed. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to completion; `input` is its standard input. Does not throw for a failed command. */
export type RunCommand = (program: string, args: readonly string[], input?: string) => Promise<CommandEnd>;

/** A command that failed; the message quotes its output. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

export const runCommand: RunCommand = (program, args, input = '') =>
  new Promise((done) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const said = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const) {
      child[stream].setEncoding('utf8').on('data', (text: string) => {
        said[stream] += text;
      });
    }
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    child.on('error', (error) => done({ code: 127, stdout: '', stderr: error.message }));
    child.on('close', (code) => done({ code: code ?? 128, ...said }));
  });

/** Output of a command that must succeed. @throws CommandFailed */
export async function outputOf(
  run: RunCommand,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, input);
  if (code === 0) return stdout.trim();
  const said = stderr.trim().split('\n').slice(-3).join('; ');
  throw new CommandFailed(`${[program, ...args.slice(0, 4)].join(' ')}: ${said === '' ? `exit code ${code}` : said}`);
}

/** Options of every call: machines without systemd as cgroup manager have no other. */
export const PODMAN_OPTIONS = ['--cgroup-manager=cgroupfs', '--runtime', 'runc'] as const;

/** Podman's default limits may be above those of this machine, which it could then not set. */
export const LIMITS = ['--ulimit', 'nofile=20000:20000', '--ulimit', 'nproc=10000:10000'] as const;

/** Calls podman; the answer is its output. @throws CommandFailed */
export type Podman = (...args: readonly string[]) => Promise<string>;

export const podmanBy =
  (run: RunCommand): Podman =>
  (...args) =>
    outputOf(run, 'podman', [...PODMAN_OPTIONS, ...args]);

/** The label of all that a simulator makes; its value is the simulator's process. */
export const OWNER = 'sitewright.simulator';
