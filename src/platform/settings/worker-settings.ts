import { z } from 'zod';

const slots = z.int().min(2).max(100_000);
const pollers = z.int().min(2).max(1_000);

/** How much a worker does at the same time. Its queues: docs/explain/scale.md. */
export const workerSettings = z.strictObject({
  activity_slots: slots
    .default(500)
    .describe(
      'Activities at the same time, except calls to machines: bookkeeping, planning, aborts. Applies separately to runs and to parts of large runs.',
    ),
  machine_slots: slots
    .default(2_000)
    .describe(
      'Machines that are prepared, deployed or released at the same time, of all sites together. A waiting machine costs a few kilobytes.',
    ),
  workflow_slots: slots.default(40).describe('Workflow tasks of runs at the same time.'),
  part_slots: slots
    .default(4)
    .describe(
      "Workflow tasks of parts of large runs at the same time. Excess work waits here instead of filling the server's queues, which would delay other runs.",
    ),
  activity_pollers: pollers
    .default(10)
    .describe('Polls for activities at the same time, of each of the three task queues.'),
  workflow_pollers: pollers
    .default(10)
    .describe(
      'Polls for workflow tasks at the same time, of runs and of parts; at most `worker.workflow_slots` and `worker.part_slots`.',
    ),
  cached_workflows: z
    .int()
    .min(2)
    .max(100_000)
    .default(200)
    .describe(
      'Workflows kept in memory; others are replayed from their history when they continue. Applies separately to runs and to parts of large runs.',
    ),
});
