import { z } from 'zod';
import { pageOf, pageQuery, timestamp } from '../../core/contracts/primitives.js';
import type { Wire } from '../../core/contracts/wire.js';
import { graphType } from '../fuel/graphs/graph-schemas.js';
import { commaList } from '../fuel/request-parts.js';

const TASK_STATUSES = [
  'waiting',
  'running',
  'retrying',
  'successful',
  'failed',
  'dep_failed',
  'skipped',
  'ignored',
] as const;

const counts = z.record(z.string(), z.int()).describe('Tasks by status.');
const countsBy = (what: string) => z.record(z.string(), counts).describe(`The same by ${what}.`);

export const runCountsSchema = z
  .strictObject({
    graphs: z.array(
      z.strictObject({
        transaction: z.int(),
        type: z.string(),
        status: z.string(),
        message: z.string().nullable(),
        planned: z.boolean(),
        nodes: countsBy('node'),
        tasks: countsBy('task'),
      }),
    ),
    node_names: z.record(z.string(), z.string()).describe('Names of nodes by their ids.'),
  })
  .meta({ id: 'RunCounts', description: 'How many tasks of a run of graphs stand how.' });

export const runTasksQuery = pageQuery.extend({
  graph: graphType.optional(),
  nodes: commaList('Only these nodes'),
  statuses: z
    .string()
    .max(1000)
    .regex(new RegExp(`^(${TASK_STATUSES.join('|')})(,(${TASK_STATUSES.join('|')}))*$`), {
      error: `must be of ${TASK_STATUSES.join(', ')}, with commas between`,
    })
    .optional()
    .describe(`Only these of ${TASK_STATUSES.join(', ')}, with commas between.`),
  name: z.string().max(1000).optional().describe('Only tasks whose names hold this.'),
});

export const runTaskSchema = z
  .strictObject({
    graph: z.string(),
    transaction: z.int(),
    task: z.string(),
    node: z.string().describe('Id of the node; `master`, or `null` for what is on none.'),
    status: z.enum(TASK_STATUSES),
    attempts: z.int(),
    time_start: timestamp.nullable(),
    time_end: timestamp.nullable(),
    root_cause: z.string().nullable().describe('`task@node` or `offline:NODE`: what it was lost with.'),
    message: z.string().nullable(),
  })
  .meta({ id: 'RunTask', description: 'How a task of a run of graphs stands on a node.' });

export const runTaskPageSchema = pageOf(runTaskSchema).meta({ id: 'RunTaskPage' });

export const pictureQuery = z.strictObject({ graph: graphType.optional().describe('Type; not given: the first.') });

export type RunTaskAnswer = Wire<typeof runTaskSchema>;
export type TaskStatus = (typeof TASK_STATUSES)[number];
