import type { ClassifiedError } from '../backend.ts';
import { StoreError, type StoreFailure } from '../failure.ts';
import { mountingWritable, permitting, restoring } from './steps.ts';

/** SQLite's result codes (https://sqlite.org/rescode.html); the higher bytes of an extended code have details. */
const RESULT = {
  perm: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  denied: 23,
  notDatabase: 26,
} as const;
/** Such as a write beyond a quota. */
const IO_ERROR_WRITE = RESULT.ioError | (3 << 8);

const SCHEME = 'sqlite:';

/** Classifies an error of node:sqlite or of the file system. `shown` is the address for messages. */
export function classifySqliteError(error: unknown, shown: string): ClassifiedError {
  if (error instanceof StoreError) return { failure: error.failure, retry: 'never' };
  const text = error instanceof Error ? error.message : String(error);
  const file = shown.startsWith(SCHEME) ? shown.slice(SCHEME.length) : shown;
  const { code, result } = codesOf(error);
  const never = (failure: StoreFailure): ClassifiedError => ({ failure, retry: 'never' });
  const isOne = (results: readonly number[], codes: readonly string[] = []): boolean =>
    results.includes(result & 0xff) || codes.includes(code);

  if (isOne([RESULT.busy, RESULT.locked])) {
    const message = `The database ${shown} is locked by another process.`;
    const hint = 'Try again; if it stays locked, look for a process with an open transaction, or a backup tool.';
    return { failure: { kind: 'busy', message, hint }, retry: 'transaction' };
  }
  if (isOne([RESULT.readOnly], ['EROFS'])) {
    const hint = code === 'EROFS' ? mountingWritable(file) : permitting(file);
    return never({ kind: 'read-only', message: `The database ${shown} cannot be written: ${text}.`, hint });
  }
  if (result === IO_ERROR_WRITE || isOne([RESULT.full], ['ENOSPC', 'EDQUOT'])) {
    const hint = 'Free space on the disk of the database; nothing stored was lost.';
    return never({ kind: 'full', message: `There is no disk space for the database ${shown}: ${text}.`, hint });
  }
  if (isOne([RESULT.corrupt, RESULT.notDatabase])) {
    const message = `The file ${shown} is not a valid SQLite database: ${text}.`;
    return never({ kind: 'corrupt', message, hint: restoring(file) });
  }
  if (isOne([RESULT.perm, RESULT.denied], ['EACCES', 'EPERM'])) {
    const message = `The database ${shown} cannot be opened for lack of permission: ${text}.`;
    return never({ kind: 'denied', message, hint: permitting(file) });
  }
  if (isOne([RESULT.cannotOpen, RESULT.ioError], ['ENOENT', 'ENOTDIR', 'EISDIR', 'EEXIST'])) {
    const hint = 'Check the path: the folder must exist, be writable, and be on a local disk (not NFS).';
    return never({ kind: 'unreachable', message: `The database ${shown} cannot be opened: ${text}.`, hint });
  }
  if (isOne([RESULT.constraint])) {
    const hint = 'Read the current state and decide again.';
    return never({ kind: 'conflict', message: `The change contradicts stored data: ${text}.`, hint });
  }
  const hint = 'This is a defect of Sitewright: please report it with this message.';
  return never({ kind: 'defect', message: `The database ${shown} refused a query: ${text}`, hint });
}

/** The code of Node's errors, and SQLite's extended result code: 0 where it is none of its errors. */
function codesOf(error: unknown): { readonly code: string; readonly result: number } {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  return { code: typeof code === 'string' ? code : '', result: typeof errcode === 'number' ? errcode : 0 };
}
