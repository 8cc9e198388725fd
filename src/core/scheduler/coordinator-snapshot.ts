import type { Coordinator } from './coordinator.js';
import { createCoordinator } from './coordinator.js';
import { earlyMessages } from './message-order.js';
import type { FromPart } from './part-messages.js';
import type { Coordination } from './partition.js';
import type { PermitsSnapshot } from './permits.js';
import { createPermits } from './permits.js';

/** A coordinator between two events, as plain JSON. */
export interface CoordinatorSnapshot {
  readonly v: 1;
  readonly permits: PermitsSnapshot;
  readonly failing: readonly number[];
  /** By join that was received of: what each giver saved, and the sum saved to the takers. */
  readonly joins: readonly {
    readonly join: number;
    readonly received: readonly { readonly bits: number; readonly cause: string }[];
    readonly bits: number;
    readonly cause: string;
  }[];
  readonly sent: readonly number[];
  readonly seen: readonly number[];
  readonly quiet: readonly boolean[];
  /** By part: number of the last message taken in, and those that came early. */
  readonly inboxes: readonly { readonly last: number; readonly early: readonly FromPart[] }[];
  readonly flags: Pick<
    Coordinator,
    'started' | 'paused' | 'stopped' | 'announced' | 'closing' | 'closed' | 'undone' | 'finished'
  >;
}

/** Between two `coordinate` calls. */
export function takeCoordinatorSnapshot(c: Coordinator): CoordinatorSnapshot {
  const { started, paused, stopped, announced, closing, closed, undone, finished } = c;
  return {
    v: 1,
    permits: c.permits.snapshot,
    failing: [...c.failing].sort((a, b) => a - b),
    joins: [...c.joins].flatMap(([join, { received, bits, cause }]) =>
      received.some((giver) => giver.bits !== 0)
        ? [{ join, received: received.map((giver) => ({ ...giver })), bits, cause }]
        : [],
    ),
    sent: [...c.sent],
    seen: [...c.seen],
    quiet: [...c.quiet],
    inboxes: c.inboxes.map((inbox) => ({ last: inbox.last, early: earlyMessages(inbox) })),
    flags: { started, paused, stopped, announced, closing, closed, undone, finished },
  };
}

/** The coordinator that the snapshot was taken of. */
export function restoreCoordinator(plan: Coordination, snapshot: CoordinatorSnapshot): Coordinator {
  const c = createCoordinator(plan);
  c.permits = createPermits(plan, snapshot.permits);
  for (const node of snapshot.failing) {
    c.failing.add(node);
    c.tolerance.set(node, true);
  }
  for (const saved of snapshot.joins) {
    const join = c.joins.get(saved.join)!;
    saved.received.forEach((giver, at) => {
      join.received[at] = { ...giver };
    });
    join.bits = saved.bits;
    join.cause = saved.cause;
  }
  for (let part = 0; part < plan.parts; part++) {
    c.sent[part] = snapshot.sent[part]!;
    c.seen[part] = snapshot.seen[part]!;
    c.quiet[part] = snapshot.quiet[part]!;
    const { last, early } = snapshot.inboxes[part]!;
    c.inboxes[part]!.last = last;
    for (const message of early) c.inboxes[part]!.early.set(message.seq, message);
  }
  return Object.assign(c, snapshot.flags);
}
