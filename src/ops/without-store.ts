/** Use cases while the store is unreachable: runs are controlled with Temporal alone. */
import { setTimeout as delay } from 'node:timers/promises';
import { ulid } from 'ulid';
import { type NewAuditEntry, type Store, StoreError } from '../store/index.ts';

/** A store that works answers in milliseconds; one whose machine is down may not answer at all. */
const LIMIT_MS = 2_000;
const AGAIN_AFTER_MS = 5_000;

/**
 * Uses the store; while it cannot be reached, answers without it.
 *
 * @param otherwise undefined: there is no other answer
 * @throws StoreError if there is no other answer
 */
export async function orWithoutStore<T>(
  withStore: () => Promise<T>,
  otherwise: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(silent), LIMIT_MS);
  });
  try {
    return await Promise.race([withStore(), limit]);
  } catch (error) {
    if (!(error instanceof StoreError) || !error.passing) throw error;
    const answer = await otherwise();
    if (answer === undefined) throw error;
    return answer;
  } finally {
    clearTimeout(timer);
  }
}

/** What the store says; null while it cannot be reached. */
export const ifReachable = <T>(withStore: () => Promise<T>): Promise<T | null> =>
  orWithoutStore<T | null>(withStore, () => null);

const silent = new StoreError({
  kind: 'unreachable',
  message: `The store did not answer within ${LIMIT_MS / 1000} s.`,
  hint: "Check the database server. 'sitewright doctor' checks the store.",
});

/** Appends to the audit trail; while the store is unreachable, as soon as it is back. The entry has the time of the call. @returns its id */
export async function appendAudit(store: Pick<Store, 'audit'>, entry: NewAuditEntry): Promise<string> {
  const whole = { id: ulid(), at: new Date().toISOString(), ...entry };
  const append = async (): Promise<true> => {
    await store.audit.append(whole);
    return true;
  };
  const later = async (): Promise<void> => {
    do await delay(AGAIN_AFTER_MS, undefined, { ref: false });
    while (!(await orWithoutStore<boolean>(append, () => false)));
  };
  await orWithoutStore(append, () => {
    // The process may end before, and the store may be closed: the run's report has the request, too.
    later().catch(() => undefined);
    return true;
  });
  return whole.id;
}
