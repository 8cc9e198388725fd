import { z } from 'zod';
import { stepTimeSchema } from './site-run.ts';
import type { Wire } from './wire.ts';

const names = z.array(z.string());

export const strategySchema = z
  .strictObject({
    name: z.string().nullable().describe('Null: the site has no strategy, all nodes are one critical group.'),
    order: names.describe('The order of the groups.'),
    groups: z.array(
      z.strictObject({
        name: z.string(),
        critical: z.boolean(),
        depends_on: names,
        nodes: names,
        success_criteria: z.record(z.string(), z.number()),
        successes_needed: z
          .int()
          .nullable()
          .describe('Minimum number of nodes that must succeed; null if the criteria cannot be met.'),
        waves: z
          .array(z.int())
          .optional()
          .describe('Sizes of the waves of its rollout if all of its nodes have work. Absent if it has none.'),
        soak: z
          .number()
          .optional()
          .describe('Of a rollout: seconds for which each wave is left alone before it is judged.'),
        stop_at: z
          .int()
          .optional()
          .describe('Of a rollout: so many failed nodes stop it if all of its nodes have work.'),
      }),
    ),
    warnings: names,
    times: z
      .array(stepTimeSchema)
      .optional()
      .describe('How long steps took on the hardware of its nodes. Absent: too few runs tell.'),
  })
  .meta({ id: 'Strategy', description: 'A deployment strategy with its groups resolved over the nodes.' });

const texts = z.array(z.string().min(1)).max(10_000).optional();

export const selectBody = z
  .strictObject({
    selectors: z
      .array(
        z.strictObject({
          node_names: texts,
          node_tags: texts,
          node_labels: z
            .array(z.union([z.string().min(1), z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))]))
            .max(10_000)
            .optional()
            .describe('`key:value`, or a mapping of keys to values.'),
          rack_names: texts,
        }),
      )
      .max(1000)
      .describe(
        'A node matches a selector if it meets all of its criteria; any selector may match. Without selectors, every node matches.',
      ),
    known: z.boolean().optional().describe('True: refuse a name, tag, label or rack that no node of the revision has.'),
  })
  .meta({ id: 'Selection' });

export const selectedSchema = z.strictObject({ revision: z.int(), nodes: names }).meta({ id: 'SelectedNodes' });

export type Strategy = Wire<typeof strategySchema>;

const changes = z.array(
  z.strictObject({
    name: z.string(),
    change: z.enum(['added', 'changed', 'removed']),
    fields: names.describe('The changed fields.'),
    values: z
      .array(z.strictObject({ field: z.string(), before: z.unknown(), after: z.unknown() }))
      .describe('Value by value, as `layout.disks[0].size`; `null` where there was none, or is none any more.'),
  }),
);

export const siteDifferenceSchema = z
  .strictObject({
    site: z.string(),
    revision: z.int().describe('The revision.'),
    since: z.int().nullable().describe('The revision it is compared with; null: none has been deployed successfully.'),
    nodes: changes,
    groups: changes,
    checks: changes,
    configuration: names.describe('Fields of the DeploymentConfiguration that changed.'),
    unchanged_nodes: z.int(),
  })
  .meta({ id: 'SiteDifference', description: 'Differences in meaning between two revisions.' });

export const differenceQuery = z.strictObject({
  since: z
    .string()
    .min(1)
    .max(1000)
    .optional()
    .describe('The other revision: a number, a hash, `latest`, or `last-good` (default).'),
});

export type SiteDifference = Wire<typeof siteDifferenceSchema>;
