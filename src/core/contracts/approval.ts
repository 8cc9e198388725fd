import { z } from 'zod';
import { PERMIT_WAITS } from '../permits/answer.ts';
import { MAX } from '../run/description.ts';
import { DECISIONS } from '../words.ts';
import { expectedEnd, maasSilentSince, pausedSchema, timestamp } from './primitives.ts';
import type { Wire } from './wire.ts';

const before = z.string().describe('A group or a task; `*`: before any change.');

/** In requests that start runs. Its problems are reported by the run's own check of its input, with all others. */
export const holdBefore = z
  .array(z.string())
  .optional()
  .describe(
    `Groups of a site run, or tasks of a run of graphs, before which it waits until an operator approves; \`*\`: before anything is changed. At most ${MAX.holds}.`,
  );

/** In statuses. */
export const awaitingApproval = z
  .array(z.strictObject({ before, since: timestamp }))
  .optional()
  .describe('Groups or tasks waiting for approval. Absent: none.');

const hold = z.strictObject({
  before,
  since: timestamp.optional().describe('When the run reached it. Absent: it has not.'),
  decision: z.enum(DECISIONS).optional(),
  decided_at: timestamp.optional(),
  by: z.string().optional(),
  reason: z.string().optional(),
});

/** In reports. */
export const holdReports = z
  .array(hold)
  .optional()
  .describe('Approvals of the run: since when it waited, who decided, and why. Absent: none.');

const permitWaits = z
  .array(
    z.strictObject({
      kind: z.enum(PERMIT_WAITS),
      limit: z.string().describe('The limit, in words.'),
      machines: z.int().describe('How many machines wait for it.'),
      behind: z.array(z.string()).describe('The first machines and runs that have what they wait for.'),
      since: timestamp,
      until: timestamp.optional().describe('When it is over, where that is known.'),
    }),
  )
  .optional()
  .describe('The limits that keep the run from touching machines now. Absent: none.');

/** A point at which a run waits until an operator approves. */
export type Hold = Wire<typeof hold>;
/** State of a run, of a site or of graphs: the fields of either status. */
export const runStanding = {
  paused: pausedSchema,
  stopping: z.boolean(),
  awaiting_approval: awaitingApproval,
  expected: expectedEnd,
  maas_silent_since: maasSilentSince,
  waits: permitWaits,
  as_of: timestamp
    .optional()
    .describe(
      'When the run showed this status; nothing has changed since. It is at most two seconds behind the run while a worker looks after it. Absent: the run has answered now.',
    ),
};

export type AwaitingApproval = NonNullable<Wire<typeof awaitingApproval>>;
