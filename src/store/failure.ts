import type { Diagnostic } from '../core/problems/diagnostic.ts';

/** Common fields of all variants: a sentence for people, and the next step. Neither contains a password. */
interface Explained {
  readonly message: string;
  readonly hint: string;
}

/** Who holds a site or cluster, as reported to the caller that wanted it. */
interface ConflictHolder {
  readonly workflowId: string;
  readonly runId: string;
}

/** Something that prevents a removal. */
export interface ConflictUser {
  readonly kind: 'cluster' | 'release' | 'plugin' | 'node';
  readonly id: number;
  readonly name: string;
}

/**
 * Every way a call to the store can fail.
 *
 * The caller's fault: `invalid` (nothing was read or written; with all problems), `not-found`, `conflict`.
 * Temporary, worth a retry: `unreachable`, `busy`. For an operator: the rest.
 */
export type StoreFailure =
  | (Explained & { readonly kind: 'invalid'; readonly problems: readonly Diagnostic[] })
  | (Explained & { readonly kind: 'not-found'; readonly what: string; readonly id: string })
  | (Explained & {
      readonly kind: 'conflict';
      readonly holder?: ConflictHolder;
      /** The transaction that causes the conflict. */
      readonly transaction?: number;
      /** Users of the object to be removed. */
      readonly users?: readonly ConflictUser[];
    })
  | (Explained & { readonly kind: 'unreachable' })
  | (Explained & { readonly kind: 'busy' })
  | (Explained & { readonly kind: 'denied' })
  | (Explained & { readonly kind: 'read-only' })
  | (Explained & { readonly kind: 'full' })
  /** The file was removed or replaced under the process that has it open. */
  | (Explained & { readonly kind: 'removed' })
  | (Explained & { readonly kind: 'corrupt' })
  | (Explained & { readonly kind: 'closed' })
  | (Explained & { readonly kind: 'schema-too-new'; readonly found: number; readonly known: number })
  | (Explained & { readonly kind: 'schema-behind'; readonly found: number; readonly known: number })
  | (Explained & { readonly kind: 'schema-foreign' })
  | (Explained & { readonly kind: 'defect' });

/** The one error class the store throws. Decide by `failure.kind`; `message` may be shown to users. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly failure: StoreFailure;

  constructor(failure: StoreFailure, options?: { cause?: unknown }) {
    super(failure.message, options);
    this.failure = failure;
  }

  /** True when the same call may succeed a little later with no one stepping in. */
  get passing(): boolean {
    return this.failure.kind === 'unreachable' || this.failure.kind === 'busy';
  }
}

export const notFound = (what: string, id: string, hint: string): StoreError =>
  new StoreError({ kind: 'not-found', what, id, message: `There is no ${what} "${id}".`, hint });

export const conflict = (message: string, hint: string, holder?: ConflictHolder): StoreError =>
  new StoreError({ kind: 'conflict', message, hint, ...(holder && { holder }) });

/** Refuses a removal and names the users. */
export const inUse = (what: string, users: readonly ConflictUser[], hint: string): StoreError =>
  new StoreError({
    kind: 'conflict',
    users,
    message: `${what} is used by ${users.map((user) => `${user.kind} "${user.name}" (${user.id})`).join(', ')}.`,
    hint,
  });

/** Refuses the caller's values; the message lists every problem. */
export const invalid = (problems: readonly Diagnostic[]): StoreError =>
  new StoreError({
    kind: 'invalid',
    problems,
    message: problems.map((problem) => problem.message).join(' '),
    hint: problems.find((problem) => problem.hint)?.hint ?? 'Correct the values named and try again.',
  });

export function unlessNotFound(error: unknown): undefined {
  if (!(error instanceof StoreError) || error.failure.kind !== 'not-found') throw error;
  return undefined;
}
