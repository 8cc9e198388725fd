import { z } from 'zod';
import { ORDER_KEYS, orderProblem, PERCENTAGE, secondsIn, TIME } from '../../core/rollout/policy.ts';

const names = (what: string) => z.array(z.string()).describe(what);
const label = z.union([z.string(), z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]))]);

/** docs/explain/design.md#spec-5 "Selectors". A selector without criteria selects all nodes. */
const selectorSchema = z.strictObject({
  node_names: names('Names of nodes; any may match.').optional(),
  node_tags: names('Tags; a node with any of them matches.').optional(),
  node_labels: z
    .array(label)
    .describe('Labels; a node with any of them matches. Each is "key: value", "key:value" or a mapping.')
    .optional(),
  rack_names: names('Racks; a node in any of them matches.').optional(),
});

const count = z.int().min(0);

/** Each is an activity of each wave, in the history of the run. */
const MAX_CHECKS = 10;

/** docs/explain/design.md#spec-5 "Success Criteria": each is checked alone, all must be met. */
const successCriteriaSchema = z
  .strictObject({
    percent_successful_nodes: z.int().min(0).max(100).describe('Share of the nodes that must succeed.').optional(),
    minimum_successful_nodes: count.describe('This many nodes must succeed.').optional(),
    maximum_failed_nodes: count.describe('The group fails with more failed nodes than this.').optional(),
  })
  .refine((criteria) => Object.keys(criteria).length > 0, {
    error: 'must name at least one criterion',
    params: { hint: 'Remove success_criteria if nothing is to be checked.' },
  })
  .meta({ description: 'When the group counts as successful. Without it, nothing is checked.', minProperties: 1 });

const amount = (what: string) =>
  z
    .union([z.int().min(1), z.string().regex(PERCENTAGE)], {
      error: 'must be a number of nodes above 0, or a percentage from "1%" to "100%"',
    })
    .describe(what);

const rolloutSchema = z
  .strictObject({
    first: amount('Size of the first wave: a number of nodes, or a percentage of those that the run changes.'),
    // biome-ignore lint/suspicious/noThenProperty: the word of the document
    then: z
      .union(
        [
          z.enum(['double', 'all']),
          z.strictObject({ add: amount('Each wave is larger than the one before it by so many nodes.') }),
          z.strictObject({ by: amount('Each wave has so many nodes.') }),
        ],
        { error: 'must be double, all, {add: …} or {by: …}' },
      )
      .describe('Size of each further wave. Default: double.')
      .optional(),
    soak: z
      .string()
      .regex(TIME, { error: 'must be a time such as "90s", "10m" or "2h"' })
      .refine((text) => !TIME.test(text) || secondsIn(text) !== undefined, { error: 'must be a week at most' })
      .describe(
        'How long a wave is left alone before its machines are looked at and the next one opens. Default: not at all.',
      )
      .optional(),
    stop_at: z
      .strictObject({
        failed: z.int().min(1).describe('So many failed nodes, over all waves.').optional(),
        percent: z.int().min(1).max(100).describe('So large a part of the nodes that the run changes.').optional(),
      })
      .refine((stop) => Object.keys(stop).length === 1, { error: 'must have either failed or percent' })
      .meta({
        description: 'Failed nodes that stop the rollout at once. Default: {failed: 1}.',
        minProperties: 1,
        maxProperties: 1,
      })
      .optional(),
    order: z
      .array(z.enum(ORDER_KEYS))
      .min(1)
      .superRefine((keys, context) => {
        const problem = orderProblem(keys);
        if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
      })
      .describe(
        'The order of the nodes. `rack`: one rack after the other. `spread`: one node of each rack in turn. `name`: by name, at the end. Default: as the documents have them.',
      )
      .optional(),
    checks: z
      .array(z.string().min(1))
      .min(1)
      .max(MAX_CHECKS)
      .refine((checks) => new Set(checks).size === checks.length, { error: 'must not have an entry twice' })
      .describe('Names of checks (sitewright/Check/v1) that must be well after each wave. Default: none.')
      .optional(),
  })
  .meta({ description: 'Waves in which the nodes are deployed. Without it, all nodes are deployed at once.' });

const groupSchema = z.looseObject({
  name: z.string().min(1).describe('Name of the group, unique in the strategy.'),
  critical: z.boolean().describe('True: if this group fails, the run halts after the bare-metal step.'),
  depends_on: names('Groups that must succeed before this one starts; [] for none.'),
  selectors: z.array(selectorSchema).describe('Union of the selectors; [] means all nodes.'),
  success_criteria: successCriteriaSchema.optional(),
  rollout: rolloutSchema.optional(),
});

/** `data` of shipyard/DeploymentStrategy/v1. */
export const deploymentStrategySchema = z.looseObject({
  groups: z.array(groupSchema).max(10_000).describe('Groups of nodes, deployed one after the other.'),
});
