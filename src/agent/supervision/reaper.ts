import { existsSync } from 'node:fs';
import { type ProcessMoment, readProcess } from '../../platform/processes/process-identity.ts';
import { supervisorEnvironment } from './supervisor-environment.ts';

/** Number of the prctl call, which Node.js does not offer. It makes a process adopt its orphaned descendants. */
const PRCTL: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  x64: 157,
  arm64: 167,
  riscv64: 167,
  loong64: 167,
  ppc64: 171,
  s390x: 172,
  ia32: 172,
  arm: 172,
};
const PERL = '/usr/bin/perl';

/** Set for a supervisor whose parent is its reaper. */
const VARIABLE = 'SITEWRIGHT_REAPER';

/**
 * 36 is PR_SET_CHILD_SUBREAPER. The reaper waits for its children, so that none stays a zombie, and exits with a
 * supervisor that ends normally. If the supervisor is killed, the reaper stays until all processes left have ended, so
 * that they can be found.
 */
const PROGRAM = `syscall(0 + shift, 36, 1, 0, 0, 0);
my $own = fork;
exit 126 unless defined $own;
if (!$own) { exec { $ARGV[0] } @ARGV; exit 127 }
chdir '/';
open STDIN, '<', '/dev/null';
open STDOUT, '>', '/dev/null';
while ((my $ended = waitpid(-1, 0)) > 0) { exit 0 if $ended == $own && $? == 0 }`;

/**
 * Wraps a supervisor's command in a parent process that adopts all orphans of the task. For machines without cgroups,
 * where a process could otherwise hide by clearing its environment and starting a session.
 *
 * @returns undefined without perl (every Debian and Ubuntu has it), or on an unknown processor architecture
 */
export function underReaper(
  command: readonly [string, ...string[]],
): { readonly command: readonly [string, ...string[]]; readonly environment: NodeJS.ProcessEnv } | undefined {
  const call = PRCTL[process.arch];
  if (call === undefined || !existsSync(PERL)) return undefined;
  return {
    command: [PERL, '-e', PROGRAM, String(call), ...command],
    environment: { ...supervisorEnvironment(), [VARIABLE]: '1' },
  };
}

/** The reaper of this process, if it is a supervisor under one. */
export function ownReaper(): ProcessMoment | undefined {
  const parent = process.env[VARIABLE] === undefined ? undefined : readProcess(process.ppid);
  return parent === undefined ? undefined : { pid: parent.pid, startTime: parent.startTime };
}
