import type { New, Stored } from '../tables.ts';
import type { Page, PageRequest } from './page.ts';

/** Who did what, when and why. */
export type AuditEntry = Stored<'auditEntry'>;

/** Give an id if the call may be repeated: each id is stored once. The time defaults to now. */
export type NewAuditEntry = New<'auditEntry'>;

export interface AuditFilter extends PageRequest {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  /** ISO 8601, inclusive. */
  readonly since?: string;
  /** ISO 8601, exclusive. */
  readonly until?: string;
}

/** Append-only: entries are never changed or removed. */
export interface AuditStore {
  /** Returns what is stored: the first entry if the id existed. */
  append(entry: NewAuditEntry): Promise<AuditEntry>;
  /** Newest first. */
  list(filter?: AuditFilter): Promise<Page<AuditEntry>>;
}
