import type { Json, Page, PageRequest } from './page.js';

/** Who did what, when and why. */
export interface AuditEntry {
  /** ULID, or what the caller gave. */
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  /** Verb, e.g. `run.pause`. */
  readonly action: string;
  /** What it was done to, e.g. `site/dc1`. */
  readonly target: string;
  readonly reason: string | null;
  readonly details: Json;
}

export interface NewAuditEntry {
  /** Give one when the call may be repeated: the same id is stored once. */
  readonly id?: string;
  /** Now, when absent. */
  readonly at?: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly reason?: string;
  /** Any JSON. */
  readonly details?: unknown;
}

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
