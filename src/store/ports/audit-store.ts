import type { New, Stored } from '../tables.js';
import type { Page, PageRequest } from './page.js';

/** Who did what, when and why. */
export type AuditEntry = Stored<'auditEntry'>;

/** Give an id when the call may be repeated: the same one is stored once. The time is now, when absent. */
export type NewAuditEntry = New<'auditEntry'>;

export interface AuditFilter extends PageRequest {
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
  /** ISO 8601; from this moment on. */
  readonly since?: string;
  /** ISO 8601; before this moment. */
  readonly until?: string;
}

/** Entries are added and read; none is changed or removed. */
export interface AuditStore {
  /** Answers with what is stored: the first entry, when the id was there already. */
  append(entry: NewAuditEntry): Promise<AuditEntry>;
  /** Newest first. */
  list(filter?: AuditFilter): Promise<Page<AuditEntry>>;
}
