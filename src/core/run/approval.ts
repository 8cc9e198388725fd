import type { AwaitingApproval, Hold } from '../contracts/approval.ts';
import { given } from '../data/given.ts';
import { isMapping } from '../data/plain-value.ts';
import { unknownName } from '../text/did-you-mean.ts';
import type { Decision } from '../words.ts';
import type { ApprovalRequest, OperatorNote } from './operator.ts';

/** In `hold_before`: before anything is changed. */
export const BEFORE_CHANGES = '*';

/** A run, as far as approvals go. */
interface HeldRun {
  readonly input: { readonly started_by?: string; readonly responsible?: readonly string[] };
  readonly holds: readonly Hold[];
  readonly stopping: boolean;
  readonly outcome?: string;
  readonly approved_by_another?: boolean;
  readonly operator?: readonly unknown[];
}

export const startHolds = (names: readonly string[] = []): Hold[] => names.map((before) => ({ before }));

const isUndecided = ({ decision }: Hold): boolean => decision === undefined;

/** Names that no one has decided about yet. */
export const undecided = (holds: readonly Hold[]): string[] => holds.filter(isUndecided).map(({ before }) => before);

/** Groups or tasks waiting for approval now. */
export function awaitingOf({ holds, stopping, outcome }: HeldRun): AwaitingApproval {
  if (stopping || outcome !== undefined) return [];
  return holds.flatMap(({ before, since, decision }) =>
    since === undefined || decision !== undefined ? [] : [{ before, since }],
  );
}

/** The same for a status, which has no empty list. */
export function awaitingShown(run: HeldRun): { readonly awaiting_approval?: AwaitingApproval } {
  const awaiting_approval = awaitingOf(run);
  return awaiting_approval.length === 0 ? {} : { awaiting_approval };
}

/** The holds when exactly these names wait. Whatever a failure made unreachable waits no longer. */
export function reach(holds: readonly Hold[], names: readonly string[], now: string): Hold[] {
  return holds.map((hold) => {
    if (!isUndecided(hold) || names.includes(hold.before) === (hold.since !== undefined)) return hold;
    return hold.since === undefined ? { ...hold, since: now } : { before: hold.before };
  });
}

/** The names that a request is about. */
export const namesOf = (run: HeldRun, { before }: ApprovalRequest): string[] =>
  before === undefined ? awaitingOf(run).map((one) => one.before) : [before];

/** Why a request must be refused, or null. Only waiting entries can be rejected: before that, stop the run. */
export function whyNotDecide(run: HeldRun, decision: Decision, { before, by, entry }: ApprovalRequest): string | null {
  const names = run.holds.map((hold) => hold.before);
  if (names.length === 0) return 'the run was started without hold_before: it needs no approval';
  if (run.stopping) return 'the run is stopping';
  const named = run.holds.find((hold) => hold.before === before);
  if (before !== undefined && named === undefined) return unknownName('hold', before, names);
  if (named?.decision !== undefined)
    return `'${before}' was ${named.decision} already${named.by === undefined ? '' : ` by ${named.by}`}`;
  const waits = before === undefined ? awaitingOf(run).length > 0 : named?.since !== undefined;
  if (!waits && (before === undefined || decision === 'rejected')) {
    const later = undecided(run.holds);
    return `${before === undefined ? 'nothing' : `'${before}' does not wait for approval: nothing`} can be ${decision} now${later.length === 0 ? '' : `; to come: ${later.join(', ')}`}`;
  }
  if (decision === 'approved' && run.approved_by_another) {
    if (by === undefined) return 'name the approver (`by`), who must not be the person who started the run';
    if (by === run.input.started_by) return `${by} started the run: another person must approve`;
    if (run.input.responsible?.includes(by))
      return `${by} made or triggered the schedule that started the run: another person must approve`;
    const used = (run.operator ?? []).some((action) => isMapping(action) && action.entry === entry);
    if (entry === undefined || used)
      return 'another person must approve, and a name counts only if an API has verified it: use `sitewright run approve RUN`, the page or the API';
  }
  return null;
}

/** The holds after a decision about `names`. */
export const decide = (
  holds: readonly Hold[],
  names: readonly string[],
  decision: Decision,
  { by, reason }: OperatorNote,
  decided_at: string,
): Hold[] =>
  holds.map((hold) =>
    isUndecided(hold) && names.includes(hold.before)
      ? {
          ...hold,
          decision,
          decided_at,
          ...given({ by, reason }),
        }
      : hold,
  );

/** That an operator rejected the run, with who and why. */
export function rejectionIn(holds: readonly Hold[]): string | undefined {
  const rejected = holds.find(({ decision }) => decision === 'rejected');
  if (rejected === undefined) return undefined;
  const { before, by, reason } = rejected;
  return `rejected ${pointOf(before)}${by === undefined ? '' : ` by ${by}`}${reason === undefined ? '' : `: ${reason}`}`;
}

const pointOf = (before: string): string => (before === BEFORE_CHANGES ? 'before any change' : `before ${before}`);

/** The waiting entries, in short. */
export const describeAwaiting = (awaiting: AwaitingApproval): string =>
  `waiting for approval ${awaiting.map(({ before }) => pointOf(before)).join(', ')}`;
