import { z } from 'zod';
import { anyJson, pageOf, pageQuery, revisionParams, siteNodeParams, siteParams, timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import { selectBody, selectedSchema } from './strategy.ts';
import type { Wire } from './wire.ts';

const nodeStatusesSchema = z
  .strictObject({
    site: z.string(),
    revision: z.int(),
    stale: z.boolean().describe('True when MAAS did not answer: these are the facts seen last.'),
    reason: z.string().optional().describe('Why MAAS did not answer.'),
    nodes: z.array(
      z.strictObject({
        node: z.string(),
        system_id: z.string().nullable(),
        hostname: z.string().nullable(),
        status: z.string().nullable().describe('The state in the words of MAAS; null for a node it does not know.'),
        power: z.string().nullable(),
        tags: z.array(z.string()),
        zone: z.string().nullable(),
        owner: z.string().nullable().optional(),
        seen_at: timestamp.nullable(),
        deployment: z
          .strictObject({ does: z.enum(['deploy', 'leave', 'refuse']), why: z.string() })
          .optional()
          .describe(
            'What a deployment of the revision would do to its machine as it is now; not given while MAAS is away.',
          ),
      }),
    ),
  })
  .meta({ id: 'NodeStatuses', description: 'The nodes of a site as MAAS knows them.' });

const nodesStatusQuery = z.strictObject({
  revision: z.string().min(1).max(100).optional().describe('Whose nodes; `latest` when not given.'),
});

const nodeInRun = {
  node: z.string(),
  state: z.string(),
  group: z.string().nullable(),
  step: z.string().nullable().describe('What is being done, or was done last: `prepare`, `deploy` …'),
  attempts: z.int().nullable(),
  started_at: timestamp.nullable(),
  ended_at: timestamp.nullable(),
  reason: z.string().nullable(),
  system_id: z.string().nullable(),
  late_result: anyJson.describe('A result that came after its call had timed out; it changed nothing.'),
};

export const runNodeSchema = z.strictObject(nodeInRun).meta({ id: 'RunNode' });
export const runNodeListSchema = z.strictObject({ items: z.array(runNodeSchema) }).meta({ id: 'RunNodeList' });

const nodeHistoryEntrySchema = z
  .strictObject({
    ...nodeInRun,
    run: z.strictObject({
      id: z.string(),
      workflow_id: z.string(),
      kind: z.string(),
      site: z.string().nullable(),
      revision: z.int().nullable(),
      phase: z.string(),
      outcome: z.string().nullable(),
      started_at: timestamp,
      ended_at: timestamp.nullable(),
    }),
  })
  .meta({ id: 'NodeHistoryEntry', description: "A node's part in one run, with the run." });

export const nodeHistoryPageSchema = pageOf(nodeHistoryEntrySchema).meta({ id: 'NodeHistoryPage' });

export type NodeStatuses = Wire<typeof nodeStatusesSchema>;

export const siteNodeRoutes = tagged('nodes', {
  'POST /sites/:site/revisions/:ref/select': {
    id: 'selectNodes',
    access: 'viewer',
    summary: 'Name the nodes of a revision that selectors select',
    params: revisionParams,
    body: selectBody,
    answers: { 200: selectedSchema },
    also: [409],
  },
  'GET /sites/:site/nodes/status': {
    id: 'getNodeStatuses',
    access: 'viewer',
    summary: "Show a site's nodes as MAAS knows them now, or as it knew them last",
    params: siteParams,
    query: nodesStatusQuery,
    answers: { 200: nodeStatusesSchema },
    also: [409],
  },
  'GET /sites/:site/nodes/:node/history': {
    id: 'getNodeHistory',
    access: 'viewer',
    summary: 'Show what runs did to a node, newest first',
    params: siteNodeParams,
    query: pageQuery,
    answers: { 200: nodeHistoryPageSchema },
  },
});
