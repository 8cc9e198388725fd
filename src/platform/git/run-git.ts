import { spawn } from 'node:child_process';

export interface GitLimits {
  /** `file:` addresses are read, too. */
  readonly allowLocal: boolean;
  /** Hosts that are asked; `*.example.org` is all below one. */
  readonly hosts: readonly string[];
  readonly timeoutMs: number;
  /** Of the repository as it is fetched, and of all documents together. */
  readonly maxBytes: number;
}

interface GitCall {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly signal: AbortSignal;
  readonly limits: GitLimits;
}

export class GitError extends Error {}

const SECOND_LIMIT = 64 * 1024;

/**
 * Runs git with nothing of the user's or the machine's configuration, without prompts, in a process group of its own that
 * the signal ends, and with a limit on the size of each file it writes. @throws GitError with git's last output
 */
export async function runGit(args: readonly string[], { cwd, env, input, signal, limits }: GitCall): Promise<Buffer> {
  const blocks = Math.ceil(limits.maxBytes / 512);
  const script = 'ulimit -f "$1" && shift && exec git "$@"';
  const child = spawn('sh', ['-c', script, 'git', String(blocks), ...args], {
    cwd,
    detached: true,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? cwd,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: 'false',
      GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
      GIT_ALLOW_PROTOCOL: limits.allowLocal ? 'https:http:ssh:git:file' : 'https:http:ssh:git',
      ...env,
    },
  });
  const kill = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // It has ended.
    }
  };
  const out: Buffer[] = [];
  let size = 0;
  let said = '';
  let why: string | undefined;
  child.stdout.on('data', (piece: Buffer) => {
    out.push(piece);
    size += piece.length;
    // The header of each object comes on top of its content.
    if (size > 2 * limits.maxBytes) {
      why = 'git printed more than is allowed';
      kill();
    }
  });
  child.stderr.on('data', (piece: Buffer) => {
    said = (said + piece.toString('utf8')).slice(-SECOND_LIMIT);
  });
  // git may end before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  const abort = (): void => {
    why = 'it took too long, or was cancelled';
    kill();
  };
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', (error) => reject(new GitError(`git cannot be started: ${error.message}`)));
      child.once('close', resolve);
    });
    if (why !== undefined) throw new GitError(why);
    if (code !== 0) throw new GitError(lastWords(said, limits));
    return Buffer.concat(out);
  } finally {
    signal.removeEventListener('abort', abort);
    kill();
  }
}

function lastWords(said: string, { maxBytes }: GitLimits): string {
  if (
    /File size limit|File too large|signal 25|SIGXFSZ|invalid index-pack output|index-pack (?:died|failed)/i.test(said)
  )
    return `the repository is larger than ${maxBytes} bytes, or broken`;
  // Text that git quotes from the server is not for someone who only chose the address.
  const lines = said
    .split('\n')
    .map((line) => line.trim().slice(0, 1_000))
    .filter((line) => /^(?:fatal|error|ssh|Permission)/i.test(line))
    .map((line) => line.replace(/(remote error|bad line length character|invalid pkt|protocol error): .*/i, '$1'));
  return (lines.join('; ') || 'git failed').replace(/\s+/g, ' ').slice(0, 500);
}
