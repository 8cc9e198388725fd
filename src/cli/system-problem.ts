import type { CliProblem } from './problem.ts';

/** What to do about errors of the operating system: the user's to mend, no defect of ours. */
const ERRORS: Readonly<Record<string, readonly [why: string, hint: string]>> = {
  EACCES: ['permission denied', 'Name a place that this user may use, or change its owner or mode.'],
  EPERM: ['permission denied', 'Name a place that this user may use, or change its owner or mode.'],
  EROFS: ['the file system is read-only', 'Name a place on another file system, or mount this one writable.'],
  ENOSPC: ['no space left on the disk', "Free some space: 'df -h' and 'df -i' show what is full."],
  EDQUOT: ['the quota of the disk is used up', 'Free some space, or ask for a larger quota.'],
  ENOENT: ['it does not exist', 'Correct its name.'],
  ENOTDIR: ['a part of its path is not a folder', 'Correct its path.'],
  EISDIR: ['it is a folder', 'Name a file.'],
  EEXIST: ['it exists already', 'Choose another name, or remove it first.'],
  EMFILE: ['too many open files', "Raise the limit: 'ulimit -n 65536'."],
  EADDRINUSE: ['the port is already in use', 'Choose another port, or stop the process that has it.'],
  EADDRNOTAVAIL: ['this machine does not have that address', 'Choose an address of this machine.'],
};

/** An error of the operating system as a problem with its next step; undefined for every other error. */
export function systemProblem(error: unknown): CliProblem | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, path, address, port, syscall } = error as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  const known = code === undefined ? undefined : ERRORS[code];
  if (code === undefined || known === undefined) return undefined;
  const [why, hint] = known;
  const where = path ?? (address === undefined ? undefined : `${address}:${port}`);
  const what = where === undefined ? (syscall ?? 'a file') : where;
  return { code: 'system', message: `${what}: ${why} (${code})`, hint };
}
