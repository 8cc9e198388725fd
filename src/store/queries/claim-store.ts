import type { Kysely, Transaction } from 'kysely';
import type { RunSubject } from '../../core/run/subject.ts';
import { conflict } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { Tables } from '../tables.ts';
import { assertRow, holdRow } from './identified-row.ts';
import { holdSite, readSite } from './site-row.ts';

/** The run that has a subject, by its workflow id and the run id of its first execution. */
export interface ClaimHolder {
  readonly workflowId: string;
  readonly runId: string;
}

/** The execution of a run that claims a subject. */
export interface Claimant extends ClaimHolder {
  /** Run id of the execution that the run has now: a reset changes it. */
  readonly executionId: string;
}

export interface Claim extends Claimant {
  readonly claimedAt: string;
  /** From 1; one more with each take-over. */
  readonly generation: number;
}

type ClaimResult<Holder = Claim> = { readonly claimed: true } | { readonly claimed: false; readonly holder: Holder };

/**
 * One run per subject at a time, however many processes ask. A claim has no time limit: Temporal knows when its holder
 * has ended, and `claimFor` takes the claim over then. Every call fails with `not-found` for an unknown subject.
 *
 * Every change of a claim locks the subject's row first, so that changes are serialized.
 */
export class ClaimStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Claims the subject, or returns its holder. Claiming again as the same execution of the same run is a success. */
  async claim(subject: RunSubject, holder: Claimant): Promise<ClaimResult> {
    const wanted = checkedExecution('', holder);
    return this.#session.write(async (transaction) => {
      await holdSubject(transaction, subject);
      const present = await readClaim(transaction, subject);
      if (present !== null && !isSame(present, wanted)) return { claimed: false, holder: present } as const;
      if (present === null) await writeClaim(transaction, subject, wanted, 1);
      return { claimed: true } as const;
    });
  }

  /**
   * Compare and swap: the claim goes to `next` only if `expected` still holds it. Otherwise `holder` is the run that
   * holds it, or null. Repeating a take-over that succeeded succeeds.
   */
  async takeOver(subject: RunSubject, expected: Claimant, next: Claimant): Promise<ClaimResult<Claim | null>> {
    const from = checkedExecution('expected.', expected);
    const to = checkedExecution('next.', next);
    return this.#session.write(async (transaction) => {
      await holdSubject(transaction, subject);
      const present = await readClaim(transaction, subject);
      if (present !== null && isSame(present, to)) return { claimed: true } as const;
      if (present === null || !isSame(present, from)) return { claimed: false, holder: present } as const;
      await writeClaim(transaction, subject, to, present.generation + 1);
      return { claimed: true } as const;
    });
  }

  /** Releases the claim of a run. False, and nothing happens, when this run does not have it. */
  async release(subject: RunSubject, holder: ClaimHolder): Promise<boolean> {
    const check = new InputCheck();
    const checked = checkedHolder(check, '', holder);
    check.done();
    return this.#session.write((transaction) => releaseClaim(transaction, subject, checked));
  }

  /** Who holds the subject; null when no run does. */
  holder(subject: RunSubject): Promise<Claim | null> {
    return this.#session.read(async (db) => {
      await ('site' in subject ? readSite(db, subject.site) : assertRow(db, 'cluster', subject.cluster));
      return readClaim(db, subject);
    });
  }
}

/** As `release`, within a transaction. */
export async function releaseClaim(
  transaction: Transaction<Tables>,
  subject: RunSubject,
  { workflowId, runId }: ClaimHolder,
): Promise<boolean> {
  await holdSubject(transaction, subject);
  const { table, key, id } = placeOf(subject);
  const { numDeletedRows } = await claimsIn(transaction)
    .deleteFrom(table)
    .where(key, '=', id)
    .where('workflowId', '=', workflowId)
    .where('runId', '=', runId)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** @throws StoreError of kind `conflict` naming the run that holds the subject */
export async function assertUnclaimed(db: Kysely<Tables>, subject: RunSubject, name: string): Promise<void> {
  const claim = await readClaim(db, subject);
  if (claim === null) return;
  const { workflowId, runId } = claim;
  const what = 'site' in subject ? 'site' : 'cluster';
  const hint = `Stop or cancel that run, or wait until it ends, then delete the ${what}.`;
  throw conflict(`The run ${workflowId} is working on the ${what} "${name}".`, hint, { workflowId, runId });
}

/**
 * Both claim tables under one name, with one name for the subject's column: Kysely does not accept a union of names.
 */
interface ClaimTables {
  claim: Claim & { subject: string | number };
}

const claimsIn = (db: Kysely<Tables>): Kysely<ClaimTables> => db as unknown as Kysely<ClaimTables>;

const placeOf = (subject: RunSubject) =>
  'site' in subject
    ? { table: 'siteClaim' as 'claim', key: 'site' as 'subject', id: subject.site }
    : { table: 'clusterClaim' as 'claim', key: 'clusterId' as 'subject', id: subject.cluster };

const holdSubject = (transaction: Transaction<Tables>, subject: RunSubject): Promise<object> =>
  'site' in subject ? holdSite(transaction, subject.site) : holdRow(transaction, 'cluster', subject.cluster);

async function readClaim(db: Kysely<Tables>, subject: RunSubject): Promise<Claim | null> {
  const { table, key, id } = placeOf(subject);
  const columns = ['workflowId', 'runId', 'executionId', 'generation', 'claimedAt'] as const;
  const found = await claimsIn(db).selectFrom(table).select(columns).where(key, '=', id).executeTakeFirst();
  return found ?? null;
}

async function writeClaim(
  db: Transaction<Tables>,
  subject: RunSubject,
  holder: Claimant,
  generation: number,
): Promise<void> {
  const { table, key, id } = placeOf(subject);
  const claim = { ...holder, generation, claimedAt: new Date().toISOString() };
  await claimsIn(db)
    .insertInto(table)
    .values({ [key]: id, ...claim })
    .onConflict((on) => on.column(key).doUpdateSet(claim))
    .execute();
}

const isSame = (one: Claimant, other: Claimant): boolean =>
  one.workflowId === other.workflowId && one.runId === other.runId && one.executionId === other.executionId;

const checkedHolder = (check: InputCheck, path: string, { workflowId, runId }: ClaimHolder): ClaimHolder => ({
  workflowId: check.key(`${path}workflowId`, workflowId),
  runId: check.key(`${path}runId`, runId),
});

/** The execution as stored. @throws StoreError of kind `invalid` */
function checkedExecution(path: string, execution: Claimant): Claimant {
  const check = new InputCheck();
  const holder = checkedHolder(check, path, execution);
  const executionId = check.key(`${path}executionId`, execution.executionId);
  check.done();
  return { ...holder, executionId };
}
