import { z } from 'zod';
import { ORDER_KEYS, orderProblem, PERCENTAGE, secondsIn, TIME } from '../rollout/policy.ts';

/** Each is an activity of each wave, in the history of the run. */
const MAX_CHECKS = 10;

const amount = (what: string) =>
  z
    .union([z.int().min(1), z.string().regex(PERCENTAGE)], {
      error: 'must be a number of nodes above 0, or a percentage from "1%" to "100%"',
    })
    .describe(what);

/** `rollout` of a deployment group. */
export const rolloutSchema = z
  .strictObject({
    first: amount(
      'Size of the first wave: a number of nodes, or a percentage of those that the run changes. Default: all nodes, in one wave.',
    ).optional(),
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

/** `rollout` of a role, for the nodes of graph runs. */
export const roleRolloutSchema = rolloutSchema.meta({
  description: 'Waves in which graph runs reach the nodes of the role. Without it, all nodes at once.',
});
