import type { GraphRunStatus } from '../../core/contracts/graph-run.ts';
import type { AppliedRollout, RolloutStatus } from '../../core/contracts/rollout.ts';
import type { RunStatus } from '../../core/contracts/site-run.ts';
import { nextOfHeldRollout } from '../../core/rollout/rollout-steps.ts';
import { rolloutText } from '../../core/rollout/rollout-text.ts';
import { taskText } from '../../core/task-on-node.ts';
import { printable } from '../../core/text/control-characters.ts';
import type { Paint } from './paint.ts';

/** A rollout of a run, and how commands name the run and retry what failed. */
interface Shown {
  /** Of its group or role. */
  readonly name: string;
  readonly rollout: RolloutStatus;
  readonly run: string | number;
  readonly retry: string | undefined;
}

type Group = RunStatus['groups'][number];

/** How the rollout of a group stands; one that is held with its next commands. @param run how commands name it */
export const rolloutLines = (group: Group, status: Pick<RunStatus, 'failed'>, run: string, paint: Paint): string[] =>
  ofGroup(group, status, run).flatMap((one) => linesOf(one, paint));

/** The same when its wave or its state has changed. */
export function rolloutChanges(status: RunStatus, last: RunStatus | undefined, paint: Paint): string[] {
  const site = printable(status.site);
  const ofRun = (of: RunStatus) => of.groups.flatMap((group) => ofGroup(group, of, site));
  return changesOf(ofRun(status), last === undefined ? [] : ofRun(last), paint);
}

/** How the rollouts of the roles of a graph stand; those that are held with their next commands. */
export const roleRolloutLines = (
  status: GraphRunStatus,
  graph: GraphRunStatus['graphs'][number],
  paint: Paint,
): string[] => ofGraph(status, graph).flatMap((one) => linesOf(one, paint));

/** The same when a wave or a state has changed. */
export function roleRolloutChanges(status: GraphRunStatus, last: GraphRunStatus | undefined, paint: Paint): string[] {
  const ofRun = (of: GraphRunStatus) => of.graphs.flatMap((graph) => ofGraph(of, graph));
  return changesOf(ofRun(status), last === undefined ? [] : ofRun(last), paint);
}

function ofGroup({ name, rollout }: Group, { failed }: Pick<RunStatus, 'failed'>, run: string): Shown[] {
  const node = failed.find(({ group }) => group === name)?.node;
  const retry = node && `sitewright run retry ${run} ${printable(node)}`;
  return rollout === undefined ? [] : [{ name, rollout, run, retry }];
}

function ofGraph(
  { transaction, failed: [first] }: GraphRunStatus,
  { rollouts = [], offline }: GraphRunStatus['graphs'][number],
): Shown[] {
  const run = transaction ?? 'RUN';
  const ofTask = first && `sitewright run retry-task ${run} ${printable(taskText(first))}`;
  return rollouts.map(({ role, ...rollout }) => {
    const [node = first === undefined ? offline[0] : undefined] = rollout.unwell ?? [];
    const retry = node === undefined ? ofTask : `sitewright run retry ${run} ${printable(node)}`;
    return { name: role, rollout, run, retry };
  });
}

function linesOf({ name, rollout, run, retry }: Shown, paint: Paint): string[] {
  // Its waves are cut when its turn comes.
  if (rollout.wave === 0) return [];
  const line = `rollout of ${printable(name)}: ${printable(rolloutText(rollout))}`;
  if (rollout.state !== 'held') return [line];
  return [
    `${paint.busy(line)}; choose one:`,
    ...nextOfHeldRollout(run, printable(name), rollout, retry).map((command) => `  ${command}`),
  ];
}

function changesOf(now: readonly Shown[], last: readonly Shown[], paint: Paint): string[] {
  const before = new Map(last.map(({ name, rollout }) => [name, keyOf(rollout)]));
  return now.flatMap((one) => (keyOf(one.rollout) === before.get(one.name) ? [] : linesOf(one, paint)));
}

const keyOf = ({ wave, state, why }: RolloutStatus): string => `${wave} ${state} ${why}`;

/** The policy of a rollout, in one line. */
export function policyText({ first, growth: then, soak, stop_at }: AppliedRollout): string {
  const grows = typeof then === 'string' ? then : 'add' in then ? `add ${then.add}` : `by ${then.by}`;
  const stops = 'failed' in stop_at ? `${stop_at.failed}` : `${stop_at.percent} %`;
  return `first ${first}, then ${grows}${soak > 0 ? `, soak ${soak} s` : ''}, stops at ${stops} failed`;
}
