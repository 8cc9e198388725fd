import { given } from '../data/given.ts';
import { type Coordinator, createCoordinator } from './coordinator.ts';
import { earlyMessages, newInbox } from './inbox.ts';
import type { Change, Count, FromPart, ToPart } from './part-messages.ts';
import type { Coordination } from './partition.ts';
import { createPermits, type KeptPermits } from './permits.ts';

/** A coordinator between two events, as JSON: of joins and tasks, only what has changed. */
export interface CoordinatorSnapshot {
  readonly v: 1;
  readonly losses: readonly Count[];
  readonly permits: KeptPermits;
  /** `[giver, change]` of tasks. */
  readonly changed: readonly (readonly [number, Change])[];
  /** The state of a join, and by index of its givers what each has told. */
  readonly joins: readonly (readonly [Change, readonly Change[]])[];
  /** By part. Of messages to it that it has not acknowledged, what the coordinator may have to say again. */
  readonly parts: readonly {
    readonly sent: number;
    readonly unseen: readonly Pick<ToPart, 'seq' | 'stamp' | 'retry' | 'skip'>[];
    readonly seen: Coordinator['seen'][number];
    readonly quiet: boolean;
    readonly last: number;
    readonly early: readonly FromPart[];
  }[];
  readonly strangers: readonly number[];
  readonly forgetful: readonly number[];
  readonly ended: readonly number[];
  readonly approved: readonly string[];
  readonly offline: readonly number[];
  readonly flags: Pick<
    Coordinator,
    'started' | 'paused' | 'stopped' | 'announced' | 'closing' | 'undone' | 'finished' | 'hold'
  >;
}

/** Takes a snapshot between two `coordinate` calls. */
export function keepCoordinator(c: Coordinator): CoordinatorSnapshot {
  const { started, paused, stopped, announced, closing, undone, finished, hold } = c;
  return {
    v: 1,
    losses: c.tolerance.losses(),
    permits: c.permits.keep(),
    changed: [...c.changed.values()].map(({ giver, change }) => [giver, change]),
    joins: [...c.joins].flatMap(([join, { received, bits, cause }]) => {
      const told = received.flatMap((one, at) => (one.bits === 0 ? [] : [[at, one.bits, one.cause] as const]));
      return told.length === 0 ? [] : [[[join, bits, cause], told] as const];
    }),
    parts: c.sent.map((sent, part) => ({
      sent,
      unseen: c.unseen[part]!.map(({ seq, stamp, retry, skip }) => ({ seq, stamp, ...given({ retry, skip }) })),
      seen: { seq: c.seen[part]!.seq, stamp: c.seen[part]!.stamp },
      quiet: c.quiet[part]!,
      last: c.inboxes[part]!.last,
      early: earlyMessages(c.inboxes[part]!),
    })),
    strangers: [...c.strangers],
    forgetful: [...c.forgetful],
    ended: [...c.ended],
    approved: [...c.approved],
    offline: c.offline,
    flags: { started, paused, stopped, announced, closing, undone, finished, hold },
  };
}

/** Restores a coordinator from a snapshot. It returns the same commands for the same events. */
export function restoreCoordinator(plan: Coordination, kept: CoordinatorSnapshot, stamp: () => number): Coordinator {
  const c = createCoordinator(plan, stamp);
  Object.assign(c, kept.flags);
  for (const [node, loss] of kept.losses) c.tolerance.set(node, loss);
  c.permits = createPermits(plan, kept.permits);
  for (const [giver, change] of kept.changed) c.changed.set(change[0], { giver, change });
  for (const [[number, bits, cause], told] of kept.joins) {
    const join = c.joins.get(number)!;
    Object.assign(join, { bits, cause });
    for (const [at, ...[had, of]] of told) join.received[at] = { bits: had, cause: of };
  }
  for (const [part, { sent, unseen, seen, quiet, last, early }] of kept.parts.entries()) {
    c.sent[part] = sent;
    c.unseen[part] = [...unseen];
    c.seen[part] = seen;
    c.quiet[part] = quiet;
    c.inboxes[part] = newInbox(last, early);
  }
  for (const part of kept.strangers) c.strangers.add(part);
  for (const part of kept.forgetful) c.forgetful.add(part);
  for (const part of kept.ended) c.ended.add(part);
  for (const name of kept.approved) c.approved.add(name);
  c.offline = kept.offline;
  return c;
}
