import { z } from 'zod';
import { CHECK_VERDICTS } from '../checks/judge.ts';
import { takesNames } from './named-ids.ts';
import { siteParams, timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import type { Wire } from './wire.ts';

const verdict = z.enum(CHECK_VERDICTS).describe('`unknown`: there was no answer, or nobody could ask.');

export const keptResultSchema = z
  .strictObject({
    check: z.string(),
    node: z.string().nullable().describe('Null: the check was asked once.'),
    verdict,
    text: z.string().describe('The last answer in one line.'),
    output: z
      .string()
      .nullable()
      .describe(
        'The end of what a command wrote, or the task of a graph that says most: 2,000 characters at most. Null of other checks.',
      ),
    seconds: z.number().describe('From the first question to the verdict.'),
    at: timestamp.describe('When the verdict came.'),
    run: z.string().describe('Id of the run that asked.'),
  })
  .meta({ id: 'CheckResult', description: 'What came of a check, for one node or asked once.' });

const summarySchema = z
  .strictObject({
    check: z.string(),
    verdict: verdict.describe('`failed` if any has failed; `well` if all are.'),
    counts: z.strictObject({ well: z.int(), failed: z.int(), unknown: z.int() }).describe('Number of nodes.'),
    seconds: z.number().describe('The longest time that one of them took.'),
    at: timestamp.describe('When the last verdict came.'),
    unwell: z.array(keptResultSchema).describe('Those that are not well: a hundred at most, failed ones first.'),
  })
  .meta({ id: 'CheckSummary', description: 'The newest results of a check.' });

export type KeptResult = Wire<typeof keptResultSchema>;
export type CheckSummary = Wire<typeof summarySchema>;

export const checkRoutes = tagged('sites', {
  'GET /sites/:site/checks': {
    id: 'listChecks',
    access: 'viewer',
    summary: 'List the checks of a site with their newest results, by name',
    description: 'Of checks and nodes that the documents had when a check was asked last.',
    params: siteParams,
    answers: { 200: z.strictObject({ items: z.array(summarySchema) }).meta({ id: 'CheckList' }) },
  },
  'GET /sites/:site/checks/results': {
    id: 'listCheckResults',
    access: 'viewer',
    summary: 'List what came of checks, newest first',
    description: 'The last twenty results of each check and node are kept.',
    params: siteParams,
    query: z.strictObject({
      check: z.string().min(1).max(1000).optional().describe('Only of this check.'),
      node: z.string().min(1).max(1000).optional().describe('Only of this node.'),
      run: takesNames(
        z.string().min(1).max(1000).optional().describe('Only of this run: its id or its number.'),
        'run',
      ),
      limit: z.coerce.number().int().min(1).max(1000).optional().describe('Maximum number of items. Default: 50.'),
    }),
    answers: { 200: z.strictObject({ items: z.array(keptResultSchema) }).meta({ id: 'CheckResultList' }) },
  },
});
