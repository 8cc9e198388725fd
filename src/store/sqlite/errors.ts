import type { ClassifiedError } from '../backend.ts';
import { StoreError, type StoreFailure } from '../failure.ts';

/** Classifies an error of better-sqlite3 or of the file system. `shown` is the address for messages. */
export function classifySqliteError(error: unknown, shown: string): ClassifiedError {
  if (error instanceof StoreError) return { failure: error.failure, retry: 'never' };
  const text = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  const never = (failure: StoreFailure): ClassifiedError => ({ failure, retry: 'never' });

  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    const message = `The database ${shown} is locked by another process (${code}).`;
    const hint = 'Try again; if it stays locked, look for a process with an open transaction, or a backup tool.';
    return { failure: { kind: 'busy', message, hint }, retry: 'transaction' };
  }
  if (/^SQLITE_READONLY|^EROFS$/.test(code)) {
    const hint = 'Make the file and its folder writable for this user (WAL needs both), or open another file.';
    return never({ kind: 'read-only', message: `The database ${shown} cannot be written: ${text}.`, hint });
  }
  if (/^(SQLITE_FULL|SQLITE_IOERR_WRITE|ENOSPC|EDQUOT)$/.test(code)) {
    const hint = 'Free space on the disk of the database; nothing stored was lost.';
    return never({ kind: 'full', message: `There is no disk space for the database ${shown}: ${text}.`, hint });
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) {
    const hint = 'Check the path. If it is right, stop all processes, keep a copy, and restore a backup.';
    return never({ kind: 'corrupt', message: `The file ${shown} is not a valid SQLite database: ${text}.`, hint });
  }
  if (/^(SQLITE_(PERM|AUTH)|EACCES|EPERM)/.test(code)) {
    const hint = 'Give this user read and write access to the file and its folder.';
    return never({
      kind: 'denied',
      message: `The database ${shown} cannot be opened for lack of permission: ${text}.`,
      hint,
    });
  }
  if (/^(SQLITE_(CANTOPEN|IOERR)|ENOENT|ENOTDIR|EISDIR|EEXIST)/.test(code) || /directory does not exist/.test(text)) {
    const hint = 'Check the path: the folder must exist, be writable, and be on a local disk (not NFS).';
    return never({ kind: 'unreachable', message: `The database ${shown} cannot be opened: ${text}.`, hint });
  }
  if (code === 'ERR_DLOPEN_FAILED' || /bindings file/.test(text)) {
    const hint = 'Run npm ci again; if the driver is there but made for another Node.js: npm rebuild better-sqlite3';
    return never({ kind: 'driver-missing', message: 'The native part of better-sqlite3 cannot be loaded.', hint });
  }
  if (/^SQLITE_CONSTRAINT/.test(code)) {
    const hint = 'Read the current state and decide again.';
    return never({ kind: 'conflict', message: `The change contradicts what is stored: ${text}.`, hint });
  }
  const hint = 'This is a defect of Sitewright: please report it with this message.';
  return never({ kind: 'defect', message: `The database ${shown} refused a query: ${text}`, hint });
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';
