import { spawn } from 'node:child_process';

/** A machine as ssh reaches it. */
export interface SshTarget {
  /** Name or address, without options or user. */
  readonly host: string;
  readonly user?: string;
  readonly port?: number;
  /** Private key. Default: ssh's own choice. */
  readonly identityFile?: string;
  /** Known hosts. Default: the user's file. An unknown host is refused, never added. */
  readonly knownHostsFile?: string;
}

interface SshEnd {
  /** Of the remote command; 255 is an error of ssh itself. */
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const LARGEST_OUTPUT = 256 * 1024;

/** The error in a target's syntax; undefined if it is valid. */
export function sshTargetProblem({ host, user }: SshTarget): string | undefined {
  if (!/^[A-Za-z0-9[:_][A-Za-z0-9.:_%\]-]*$/.test(host))
    return `${JSON.stringify(host)} is not the name or address of a host`;
  if (user !== undefined && !/^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(user))
    return `${JSON.stringify(user)} is not a user name`;
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
    // A known host would add its other keys to the file, and signed DNS records would stand for the file.
    ...option('UpdateHostKeys', 'no'),
    ...option('VerifyHostKeyDNS', 'no'),
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
 * Runs a script on another machine with its `sh`. The script and all its data go through stdin, never through
 * arguments: ssh joins those and the remote shell splits them again.
 */
export function runOverSsh(target: SshTarget, script: string, program = 'ssh'): Promise<SshEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...sshArguments(target), 'exec sh -s'], { stdio: 'pipe' });
    const [stdout, stderr] = [keep(child.stdout), keep(child.stderr)];
    child.on('error', reject);
    child.on('close', (code) => resolve({ exitCode: code ?? 255, stdout: stdout(), stderr: stderr() }));
    // It may end before it has read everything.
    child.stdin.on('error', () => undefined);
    child.stdin.end(script);
  });
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
