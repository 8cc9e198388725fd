import type { ClassifiedError } from '../backend.ts';
import { StoreError, type StoreFailure } from '../failure.ts';
import { redact } from '../store-url.ts';

/**
 * Classifies an error of pg: by SQLSTATE if the server answered, else by the socket's code. Passwords of the address
 * are removed from every message.
 */
export function classifyPostgresError(
  error: unknown,
  address: { readonly shown: string; readonly secrets: readonly string[] },
): ClassifiedError {
  if (error instanceof StoreError) return { failure: error.failure, retry: 'never' };
  const code = codeOf(error);
  const text = redact(textOf(error), address.secrets);
  const where = address.shown;
  const never = (failure: StoreFailure): ClassifiedError => ({ failure, retry: 'never' });

  // 40001 serialization failure, 40P01 deadlock, 55P03 lock timeout.
  if (code === '40001' || code === '40P01' || code === '55P03') {
    const hint = 'Try again; if it stays busy, look for a long transaction in pg_stat_activity.';
    return {
      failure: { kind: 'busy', message: `The database ${where} is busy: ${text}.`, hint },
      retry: 'transaction',
    };
  }
  // 57014: statement_timeout.
  if (code === '57014') {
    const hint = 'Check pg_stat_activity for the cause, then try again.';
    return never({ kind: 'busy', message: `The database ${where} took too long: ${text}.`, hint });
  }
  if (/^28/.test(code)) {
    const hint = 'Check the user and password in the store address, and pg_hba.conf on the server.';
    return never({ kind: 'denied', message: `The database ${where} refused the login: ${text}.`, hint });
  }
  if (code === '42501') {
    const hint = 'Grant this user its own database, or CREATE and all table rights in the schema.';
    return never({ kind: 'denied', message: `Permission denied on ${where}: ${text}.`, hint });
  }
  if (code === '3D000') {
    const hint = 'Create it first as a user with permission: createdb DATABASE';
    return never({ kind: 'unreachable', message: `There is no such database at ${where}: ${text}.`, hint });
  }
  if (code === '25006') {
    const hint = 'Connect to the primary, not to a standby, or lift default_transaction_read_only.';
    return never({ kind: 'read-only', message: `The database ${where} is read-only: ${text}.`, hint });
  }
  if (code === '53100') {
    const hint = 'Free space on the disk of the PostgreSQL server; nothing stored was lost.';
    return never({ kind: 'full', message: `The server of ${where} has no disk space left: ${text}.`, hint });
  }
  // Data or index corrupted; a file that is missing, or that the disk does not give.
  if (['XX001', 'XX002', '58P01', '58030'].includes(code)) {
    const hint =
      "Look into the server's log and at its disk. To restore a backup, stop every Sitewright process, name the new database in store.url, and run: createdb restored && psql restored <BACKUP";
    return never({ kind: 'corrupt', message: `The database ${where} is damaged: ${text}.`, hint });
  }
  // Class 08: connection; 53: out of connections or memory; 57P0x: shutting down or starting.
  if (/^(08|53|57P)/.test(code) || isSocketError(code, text)) {
    const hint =
      'Check that the server is running and that host, port and TLS settings in the store address are right.';
    return {
      failure: { kind: 'unreachable', message: `The database ${where} cannot be reached: ${text}.`, hint },
      retry: 'connection',
    };
  }
  if (/^23/.test(code)) {
    const hint = 'Read the current state and decide again.';
    return never({ kind: 'conflict', message: `The change contradicts stored data: ${text}.`, hint });
  }
  const hint = 'This is a defect of Sitewright: please report it with this message.';
  return never({ kind: 'defect', message: `The database ${where} refused a query: ${text}`, hint });
}

/** Errors without SQLSTATE: from the socket, from TLS, or from pg itself, which has only a text. */
const isSocketError = (code: string, text: string): boolean =>
  /^(E[A-Z]{3,}|EAI_[A-Z]+|ERR_(SSL|TLS|SOCKET)\w*|CERT_\w+|DEPTH_ZERO\w*|SELF_SIGNED\w*|UNABLE_TO\w*)$/.test(code) ||
  /connection terminated|timeout (exceeded|expired)|not queryable|connection error|does not support SSL|query read timeout/i.test(
    text,
  );

/** For a host with several addresses, Node throws an AggregateError without a message. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map((one) => (one instanceof Error ? one.message : String(one))).join(', ');
  }
  return error instanceof Error ? error.message : String(error);
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';
