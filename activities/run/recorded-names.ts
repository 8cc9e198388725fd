import { given } from '../../src/core/data/given.ts';
import { rejectionIn } from '../../src/core/run/approval.ts';
import { claimedName } from '../../src/core/run/claimed-name.ts';
import { refusedId } from '../../src/core/run/passed-on.ts';
import type { AnyRunReport, AnyRunStatus } from '../../src/core/run/status.ts';
import type { AuditEntry, Store } from '../../src/store/index.ts';
import type { ApprovalAsked } from '../contract.ts';

/** How long an entry of the audit trail may be on its way, from an API that could not reach the store. */
const ON_ITS_WAY_MS = 30_000;
/** As long as an order for an agent is valid. */
const APPROVAL_VALID_MS = 15 * 60_000;

interface Action {
  readonly action: string;
  readonly at: string;
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  readonly before?: string | undefined;
  readonly entry?: string | undefined;
}

/** Id of the entry of an action that no API has passed on. */
const claimId = (run: string, { action, at }: Action): string => `temporal-${run}-${action}-${at}`;

const isEntryOf = (entry: AuditEntry | undefined, run: string, { action, by }: Action): boolean =>
  entry !== undefined && entry.target === `run/${run}` && entry.action === `run.${action}` && entry.actor === by;

/**
 * The actions of operators on a run, each under a name that can be believed: that of an entry which an API wrote to the audit trail
 * before, once, or one that says where it comes from. Actions that came another way get their entry here.
 *
 * @param isLast nothing will ask again: no entry is waited for
 */
async function withBelievedNames<A extends Action>(
  store: Pick<Store, 'audit'>,
  run: string,
  actions: readonly A[],
  isLast: boolean,
): Promise<A[]> {
  // A cancellation reaches a workflow without a name; `withCanceller` finds it.
  const named = actions.filter(({ action }) => action !== 'cancel');
  if (named.length === 0) return [...actions];
  const ids = named.flatMap((one) => [...(one.entry === undefined ? [] : [one.entry]), claimId(run, one)]);
  const entries = new Map((await store.audit.find(ids)).map((entry) => [entry.id, entry]));
  const used = new Set<string>();
  const believed: A[] = [];
  for (const action of actions) {
    const { entry, by, reason, before, at } = action;
    if (action.action === 'cancel') believed.push(action);
    else if (entry !== undefined && !used.has(entry) && isEntryOf(entries.get(entry), run, action)) {
      used.add(entry);
      believed.push(action);
    } else {
      const { entry: _unknown, ...rest } = action;
      believed.push({ ...rest, ...(by !== undefined && { by: claimedName(by) }) } as A);
      const id = claimId(run, action);
      const isOnItsWay = entry !== undefined && !isLast && Date.now() - Date.parse(at) < ON_ITS_WAY_MS;
      if (entries.has(id) || isOnItsWay) continue;
      await store.audit.append({
        ...{ id, at, actor: claimedName(by), action: `run.${action.action}`, target: `run/${run}` },
        ...given({ reason }),
        ...(before !== undefined && { details: { before } }),
      });
    }
  }
  return believed;
}

/** A report with names that can be believed. @param isLast as of `withBelievedNames` */
export async function believedReport<R extends AnyRunReport>(
  store: Pick<Store, 'audit'>,
  run: string,
  report: R,
  isLast: boolean,
): Promise<R> {
  const operator = await withBelievedNames(store, run, report.operator as readonly Action[], isLast);
  if (report.holds === undefined) return { ...report, operator };
  const holds = report.holds.map((hold) => {
    const decided = operator.find(({ action, at }) => at === hold.decided_at && VERDICTS.includes(action));
    return decided?.by === undefined ? hold : { ...hold, by: decided.by };
  });
  const isRejected = report.reason !== undefined && report.reason === rejectionIn(report.holds);
  return { ...report, operator, holds, ...(isRejected && { reason: rejectionIn(holds) }) };
}

const VERDICTS: readonly string[] = ['approve', 'reject'];

/** The status that goes with such a report. */
export function believedStatus<S extends AnyRunStatus>(status: S, { operator }: AnyRunReport): S {
  const { paused } = status;
  if (paused === null) return status;
  const by = (operator as readonly Action[]).find(({ action, at }) => action === 'pause' && at === paused.since)?.by;
  return by === undefined ? status : { ...status, paused: { ...paused, by } };
}

/** Whether an API has written this approval to the audit trail, lately, and no run has refused it. */
export async function isApprovalRecorded(
  { audit }: Pick<Store, 'audit'>,
  { run_id, entry, by, before }: ApprovalAsked,
): Promise<boolean> {
  const found = await audit.find([entry, refusedId(entry)]);
  const recorded = found.find(({ id }) => id === entry);
  if (recorded === undefined || found.length > 1) return false;
  const { before: about } = (recorded.details ?? {}) as { readonly before?: string };
  return (
    isEntryOf(recorded, run_id, { action: 'approve', at: recorded.at, by }) &&
    about === before &&
    Date.now() - Date.parse(recorded.at) < APPROVAL_VALID_MS
  );
}
