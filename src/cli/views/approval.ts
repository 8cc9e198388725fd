import type { AwaitingApproval, Hold } from '../../core/contracts/approval.ts';
import { describeAwaiting } from '../../core/run/approval.ts';
import { keptByWaiting } from '../../core/run/kept-plan.ts';
import { printable } from '../../core/text/control-characters.ts';
import type { Paint } from './paint.ts';

interface MayWait {
  readonly awaiting_approval?: AwaitingApproval | undefined;
}

/** Pending approvals of a run, with its next commands. @param run how commands name it */
export function awaitingLines(status: MayWait, run: string | number, paint: Paint): string[] {
  const { awaiting_approval: awaiting } = status;
  if (awaiting === undefined) return [];
  const [first] = awaiting;
  const kept = keptByWaiting(run, 'site' in status);
  return [
    `${paint.busy(printable(describeAwaiting(awaiting)))} since ${first?.since}; choose one:`,
    ...['approve', 'reject'].map((verb) => `  sitewright run ${verb} ${run}`),
    `${kept.text}; for a new one:`,
    ...kept.commands.map((command) => `  ${command}`),
  ];
}

/** The same when it has just started to wait, and a line when no longer. */
export function awaitingChanges(status: MayWait, last: MayWait | undefined, run: string | number, paint: Paint) {
  const [now, before] = [status, last].map((one) => (one?.awaiting_approval ?? []).map((waits) => waits.before).join());
  if (now === before) return [];
  return now === '' ? ['no longer waits for approval'] : awaitingLines(status, run, paint);
}

/** One line for each hold of a report: who decided, when and why. */
export function holdLines(holds: readonly Hold[] = []): string[] {
  return holds.map(({ before, since, decision, decided_at, by, reason }) => {
    const decided =
      decision === undefined
        ? since === undefined
          ? 'not reached'
          : 'not decided'
        : `${decision} ${decided_at}${by === undefined ? '' : ` by ${printable(by)}`}${reason === undefined ? '' : `: ${printable(reason)}`}`;
    return `hold before ${printable(before)}${since === undefined ? '' : `, waiting since ${since}`}: ${decided}`;
  });
}
