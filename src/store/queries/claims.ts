import type { Kysely, Transaction } from 'kysely';
import type { RunSubject } from '../../core/run/subject.ts';
import { conflict } from '../failure.ts';
import { InputCheck } from '../input.ts';
import type { Session } from '../session.ts';
import type { Tables } from '../tables.ts';
import { assertRow, lockRow } from './identified-row.ts';
import { CLOSING, generationAfter } from './run-sequence.ts';
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
  /** From 1; higher with each take-over, and than all with which the run has recorded anything before. */
  readonly generation: number;
}

type ClaimResult<Holder = Claim> = { readonly claimed: true } | { readonly claimed: false; readonly holder: Holder };

/**
 * One run per subject at a time, however many processes ask. A claim has no time limit: Temporal knows when its holder
 * has ended, and `takeClaim` takes the claim over then. Every call fails with `not-found` for an unknown subject.
 *
 * Every change of a claim locks the subject's row first, so that changes are serialized.
 */
export class ClaimStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Claims the subject, or returns its holder. Claiming again as the same execution of the same run is a success. A run that
   * has closed itself claims nothing any more, and nor does a late try of it: `holder` is null.
   */
  async claim(subject: RunSubject, holder: Claimant): Promise<ClaimResult<Claim | null>> {
    const wanted = checkedExecution('', holder);
    return this.#session.write(async (transaction) => {
      await holdSubject(transaction, subject);
      const present = await readClaim(transaction, subject);
      if (present !== null && !isSame(present, wanted)) return { claimed: false, holder: present } as const;
      if (present !== null) return { claimed: true } as const;
      const generation = await nextGeneration(transaction, wanted, 0);
      if (generation === null) return { claimed: false, holder: null } as const;
      await writeClaim(transaction, subject, wanted, generation);
      return { claimed: true } as const;
    });
  }

  /**
   * Compare and swap: the claim goes to `next` only if `expected` still holds it. Otherwise `holder` is the run that
   * holds it, or null; null, too, if the run of `next` has closed itself. Repeating a take-over that succeeded succeeds.
   */
  async takeOver(subject: RunSubject, expected: Claimant, next: Claimant): Promise<ClaimResult<Claim | null>> {
    const from = checkedExecution('expected.', expected);
    const to = checkedExecution('next.', next);
    return this.#session.write(async (transaction) => {
      await holdSubject(transaction, subject);
      const present = await readClaim(transaction, subject);
      if (present !== null && isSame(present, to)) return { claimed: true } as const;
      if (present === null || !isSame(present, from)) return { claimed: false, holder: present } as const;
      const generation = await nextGeneration(transaction, to, present.generation);
      if (generation === null) return { claimed: false, holder: null } as const;
      await writeClaim(transaction, subject, to, generation);
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

/** As `release`, within a transaction. @param generation only a claim with this one */
export async function releaseClaim(
  transaction: Transaction<Tables>,
  subject: RunSubject,
  { workflowId, runId }: ClaimHolder,
  generation?: number,
): Promise<boolean> {
  await holdSubject(transaction, subject);
  const { table, key, id } = placeOf(subject);
  const ofRun = claimsIn(transaction)
    .deleteFrom(table)
    .where(key, '=', id)
    .where('workflowId', '=', workflowId)
    .where('runId', '=', runId);
  const { numDeletedRows } = await (generation === undefined
    ? ofRun
    : ofRun.where('generation', '=', generation)
  ).executeTakeFirstOrThrow();
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

const holdSubject = (transaction: Transaction<Tables>, subject: RunSubject): Promise<unknown> =>
  'site' in subject ? holdSite(transaction, subject.site) : lockRow(transaction, 'cluster', subject.cluster);

async function readClaim(db: Kysely<Tables>, subject: RunSubject): Promise<Claim | null> {
  const { table, key, id } = placeOf(subject);
  const columns = ['workflowId', 'runId', 'executionId', 'generation', 'claimedAt'] as const;
  const found = await claimsIn(db).selectFrom(table).select(columns).where(key, '=', id).executeTakeFirst();
  return found ?? null;
}

/** The generation of a claim that a run takes over from one with the generation `before`; null: the run has closed itself. */
async function nextGeneration(db: Transaction<Tables>, { runId }: ClaimHolder, before: number): Promise<number | null> {
  const row = await db.selectFrom('run').select('sequence').where('id', '=', runId).executeTakeFirst();
  if (row === undefined) return before + 1;
  return row.sequence >= CLOSING ? null : Math.max(before + 1, generationAfter(row.sequence));
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
