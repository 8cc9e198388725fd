import { z } from 'zod';
import { MAX } from '../run/description.ts';
import { SITE_NAME } from '../site-run/site-name.ts';
import { takesNames } from './named-ids.ts';
import type { Wire } from './wire.ts';

export const timestamp = z.string().meta({ format: 'date-time' });

export const pausedSchema = z
  .strictObject({ since: timestamp, by: z.string().optional(), reason: z.string().optional() })
  .nullable()
  .describe('Null when it is not paused.');

export const maasSilentSince = timestamp
  .optional()
  .describe('Since when MAAS has not answered this run. Absent while it answers.');

export const expectedEnd = z
  .strictObject({
    ends_at: timestamp,
    earlier_runs: z
      .int()
      .describe('Number of earlier runs whose median duration the estimate uses; 0: it is of the model of rehearsals.'),
  })
  .optional()
  .describe(
    'Estimated end, from earlier successful runs of the same kind, or of a first run on a site from the durations that a rehearsal assumes. Absent if unknown or while the run waits.',
  );

/** Names of people, things and files: one line without control characters. */
export const nameText = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not have control characters');

/** Name of a site or a schedule. */
export const plainName = z
  .string()
  .regex(
    SITE_NAME,
    'must begin with a lower-case letter or digit and have only those, dot, underscore and hyphen, 63 at most',
  )
  .describe('Lower-case letters, digits, `.`, `_`, `-`; 63 at most.');

/** Stored with a run and shown in Temporal. */
export const actorName = nameText(MAX.actor).describe(
  'Name of the user. Default: the header X-Sitewright-User, or else `api`.',
);

export const reasonText = z
  .string()
  .max(MAX.reason)
  .describe('Why; kept in the audit trail and in the report of the run.');

/** Problems with one of these are reported by the run's own check of its input, with all others. */
export const runDescription = {
  title: z
    .string()
    .optional()
    .describe('One line shown in lists of runs instead of the default title; 200 characters.'),
  description: z.string().optional().describe('Any text, as Markdown; 10,000 characters.'),
  labels: z
    .record(z.string(), z.string())
    .optional()
    .describe('Names and values to find the run by; 50. `cluster` and `transaction` are set by the service.'),
};

export const siteParams = z.strictObject({
  site: z.string().min(1).max(1000).describe('Name of the site.'),
});

export const revisionParams = siteParams.extend({
  ref: z
    .string()
    .min(1)
    .max(1000)
    .describe('A number, at least seven digits of a hash, `latest`, or `last-good` (last deployed successfully).'),
});

export const siteNodeParams = siteParams.extend({
  node: z.string().min(1).max(1000).describe('The node: its name, its id or its host name.'),
});

export const runParams = z.strictObject({
  run: takesNames(
    z
      .string()
      .min(1)
      .max(1000)
      .describe('The run: its id, its number, or the id of its workflow for the newest of it.'),
    'run',
  ),
});

export const runNodeParams = runParams.extend({
  node: z.string().min(1).max(1000).describe('The node: its name, its id or its host name.'),
});

export const runTaskParams = runNodeParams.extend({
  node: z.string().min(1).max(1000).describe('The node of the task: its id, name or host name.'),
  task: z.string().min(1).max(1000).describe('Name of the task.'),
});

/** A task on a node: names of both may contain any character. */
export const taskOnNode = z.strictObject({ task: z.string(), node: z.string() });

export const rootCause = z
  .strictObject({ task: z.string().nullable(), node: z.string() })
  .describe('The failed task; `task` is null if the agent of the node was unreachable.');

export const pageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).optional().describe('Maximum number of items. Default: 50.'),
  before: z.string().min(1).max(4000).optional().describe('`next` of the previous page. Default: the first page.'),
});

/** Query parameters are text: `true` or `false`. */
export const flagQuery = z.enum(['true', 'false']);

/** Newest first. `next` goes back as `before`; null on the last page. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.strictObject({
    items: z.array(item),
    next: z.string().nullable().describe('Pass it as `before` for the next page; null on the last page.'),
  });

/** Why a node is in maintenance. */
export const maintenanceSchema = z.strictObject({ reason: z.string(), since: timestamp, by: z.string() });

/** Any JSON, as a user gave it. */
export const anyJson = z.unknown().describe('Any JSON.');

/** Since when, by whom and why a run is paused. */
export type Paused = NonNullable<Wire<typeof pausedSchema>>;
