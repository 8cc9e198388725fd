import { z } from 'zod';
import { CHECK_VERDICTS } from '../checks/judge.ts';
import { HOLD_REASONS } from '../rollout/next-wave.ts';
import { ROLLOUT_STATES } from '../words.ts';
import { timestamp } from './primitives.ts';
import type { Wire } from './wire.ts';

export const checkResult = z.strictObject({
  name: z.string(),
  verdict: z.enum(CHECK_VERDICTS).describe('`unknown`: there was no answer, or nobody could ask.'),
  nodes: z.int().optional().describe('Nodes for which it is not well; absent if it is asked once for all.'),
  text: z.string().optional().describe('The answer, of one of them.'),
});

export const rolloutStatus = z.strictObject({
  state: z.enum(ROLLOUT_STATES),
  wave: z.int().describe('Number of opened waves.'),
  waves: z.int().describe('Number of waves; 0 until the turn of the group comes.'),
  failed: z.int().describe('Nodes of the waves that are not well.'),
  limit: z.int().describe('So many of them stop the rollout.'),
  until: timestamp.optional().describe('End of the soak.'),
  why: z
    .enum(HOLD_REASONS)
    .optional()
    .describe(
      'Why it is held. `limit`: as many nodes have failed as `stop_at` says. `unproven`: no node is well yet. `unseen`: nobody could look at the nodes after their soak. `checks`: a check of the wave failed or has no answer, or nobody could ask one. `operator`: someone asked for it; until the open wave has ended, it is not held yet.',
    ),
  unseen: z.string().optional().describe('Why nobody could look at the nodes.'),
  checks: z
    .array(checkResult)
    .optional()
    .describe('The last answers to the checks of the rollout; absent until there are any.'),
  unwell: z
    .array(z.string())
    .optional()
    .describe('In a run of graphs: nodes whose checks were not well when they were asked last, ten at most.'),
});

const amount = z.union([z.int(), z.string()]);

/** As it applied, with what holds where the documents say nothing. */
export const rolloutPolicy = z
  .strictObject({
    first: amount.describe('Nodes of the first wave, or a percentage of those that the run changes.'),
    growth: z
      .union([z.enum(['all', 'double']), z.strictObject({ add: amount }), z.strictObject({ by: amount })])
      .describe('In documents `then`.'),
    soak: z.number().describe('Seconds.'),
    stop_at: z.union([z.strictObject({ failed: z.int() }), z.strictObject({ percent: z.int() })]),
  })
  .meta({ id: 'RolloutPolicy', description: 'The policy of a rollout as it applied.' });

export type AppliedRollout = Wire<typeof rolloutPolicy>;

/** How the rollout of a group or a role stands. */
export type RolloutStatus = Wire<typeof rolloutStatus>;
