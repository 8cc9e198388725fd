import { spawn } from 'node:child_process';

/** A machine as ssh reaches it. */
export interface SshTarget {
  /** Name or address; no option, no user. */
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  /** Private key; else what ssh finds itself. */
  readonly identityFile?: string;
  /** Host keys; else the user's own. A host that is not in it is refused, never learnt. */
  readonly knownHostsFile?: string;
}

export interface SshEnd {
  /** Of the remote command; 255 is ssh's own trouble. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const LARGEST_OUTPUT = 256 * 1024;

/** What is wrong with a target as written; undefined when nothing is. */
export function sshTargetProblem({ host, user }: SshTarget): string | undefined {
  if (!/^[A-Za-z0-9[:_][A-Za-z0-9.:_%\]-]*$/.test(host))
    return `${JSON.stringify(host)} is no name or address of a host`;
  if (user !== undefined && !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(user))
    return `${JSON.stringify(user)} is no name of a user`;
  return undefined;
}

/** `[USER@]HOST` */
export function parseSshTarget(text: string): SshTarget {
  const at = text.lastIndexOf('@');
  return at < 0 ? { host: text } : { user: text.slice(0, at), host: text.slice(at + 1) };
}

function sshArguments(target: SshTarget): string[] {
  const option = (name: string, value: string) => ['-o', `${name}=${value}`];
  return [
    ...option('BatchMode', 'yes'),
    ...option('StrictHostKeyChecking', 'yes'),
    ...option('ConnectTimeout', '20'),
    ...option('ServerAliveInterval', '15'),
    ...option('ServerAliveCountMax', '3'),
    ...option('ForwardAgent', 'no'),
    ...option('ClearAllForwardings', 'yes'),
    ...(target.knownHostsFile === undefined ? [] : option('UserKnownHostsFile', target.knownHostsFile)),
    ...(target.identityFile === undefined ? [] : ['-i', target.identityFile, ...option('IdentitiesOnly', 'yes')]),
    ...(target.port === undefined ? [] : ['-p', String(target.port)]),
    ...(target.user === undefined ? [] : ['-l', target.user]),
    '-T',
    '--',
    target.host,
  ];
}

/**
 * Runs a script on another machine by its `sh`. The script and all its data go through stdin: ssh joins its arguments
 * and lets the remote shell part them again, so none carries anything of ours.
 */
export function runOverSsh(target: SshTarget, script: string, program = 'ssh'): Promise<SshEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...sshArguments(target), 'exec sh -s'], { stdio: 'pipe' });
    const [stdout, stderr] = [keep(child.stdout), keep(child.stderr)];
    child.on('error', reject);
    child.on('close', (code) => resolve({ exitCode: code ?? 255, stdout: stdout(), stderr: stderr() }));
    // It may end before it has read all.
    child.stdin.on('error', () => undefined);
    child.stdin.end(script);
  });
}

/** A connection that stays for as long as its script talks. */
export interface SshConnection {
  /** What the script prints. Ends when it has ended, or the connection has. */
  readonly output: AsyncIterable<Buffer>;
  /** What ssh or the script last complained of. */
  trouble(): string;
  /** May be repeated. */
  close(): void;
}

/** Runs a script as `runOverSsh` does, and lets its output be read as it comes. */
export function openOverSsh(target: SshTarget, script: string, program = 'ssh'): SshConnection {
  const child = spawn(program, [...sshArguments(target), 'exec sh -s'], { stdio: 'pipe' });
  const stderr = keep(child.stderr);
  let trouble: string | undefined;
  child.on('error', (error) => {
    trouble = error.message;
    child.stdout.destroy();
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end(script);
  return {
    output: readAll(child.stdout),
    trouble: () => trouble ?? stderr().trim().split('\n').slice(-1)[0]?.slice(0, 300) ?? '',
    close: () => void child.kill('SIGKILL'),
  };
}

/** A stream that was destroyed has ended, too. */
async function* readAll(stream: NodeJS.ReadableStream): AsyncGenerator<Buffer, void, void> {
  try {
    for await (const piece of stream) yield piece as Buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

function keep(stream: NodeJS.ReadableStream): () => string {
  const pieces: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= LARGEST_OUTPUT) pieces.push(piece);
  });
  return () => Buffer.concat(pieces).toString('utf8');
}

/** A text as one word of `sh`. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
