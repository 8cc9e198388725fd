import { z } from 'zod';
import { rolloutSchema } from '../../core/contracts/written-rollout.ts';

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
