import type { RunStatus } from '../../core/contracts/index.ts';
import type { AppliedRollout } from '../../core/contracts/site-run-report.ts';
import { nextOfHeldRollout } from '../../core/site-run/rollout-steps.ts';
import { rolloutText } from '../../core/site-run/rollout-text.ts';
import { printable } from '../../core/text/control-characters.ts';
import type { Paint } from './paint.ts';

type Group = RunStatus['groups'][number];

/** How the rollout of a group stands; one that is held with its next commands. @param run how commands name it */
export function rolloutLines(
  { name, rollout }: Group,
  { failed }: Pick<RunStatus, 'failed'>,
  run: string,
  paint: Paint,
): string[] {
  // Its waves are cut when its turn comes.
  if (rollout === undefined || rollout.wave === 0) return [];
  const line = `rollout of ${printable(name)}: ${printable(rolloutText(rollout))}`;
  if (rollout.state !== 'held') return [line];
  const node = failed.find(({ group }) => group === name)?.node;
  return [
    `${paint.busy(line)}; choose one:`,
    ...nextOfHeldRollout(run, printable(name), rollout, node && printable(node)).map((command) => `  ${command}`),
  ];
}

/** The same when its wave or its state has changed. */
export function rolloutChanges(status: RunStatus, last: RunStatus | undefined, paint: Paint): string[] {
  const before = new Map(last?.groups.map(({ name, rollout }) => [name, keyOf(rollout)]));
  return status.groups.flatMap((group) =>
    keyOf(group.rollout) === before.get(group.name) ? [] : rolloutLines(group, status, printable(status.site), paint),
  );
}

const keyOf = (rollout: Group['rollout']): string =>
  rollout === undefined ? '' : `${rollout.wave} ${rollout.state} ${rollout.why}`;

/** The policy of a rollout, in one line. */
export function policyText({ first, growth: then, soak, stop_at }: AppliedRollout): string {
  const grows = typeof then === 'string' ? then : 'add' in then ? `add ${then.add}` : `by ${then.by}`;
  const stops = 'failed' in stop_at ? `${stop_at.failed}` : `${stop_at.percent} %`;
  return `first ${first}, then ${grows}${soak > 0 ? `, soak ${soak} s` : ''}, stops at ${stops} failed`;
}
