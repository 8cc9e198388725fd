import { z } from 'zod';
import { OUT_OF_SERVICE } from '../node-system.ts';
import {
  maintenanceSchema,
  pageOf,
  pageQuery,
  revisionParams,
  siteNodeParams,
  siteParams,
  timestamp,
} from './primitives.ts';
import { tagged } from './route.ts';
import { nodeReportSchema } from './site-run-report.ts';
import { selectBody, selectedSchema } from './strategy.ts';
import type { Wire } from './wire.ts';

const nodeStatusesSchema = z
  .strictObject({
    site: z.string(),
    revision: z.int(),
    stale: z.boolean().describe('True if MAAS did not answer: these are the last known facts.'),
    reason: z.string().optional().describe('Why MAAS did not answer.'),
    nodes: z.array(
      z.strictObject({
        node: z.string(),
        system_id: z.string().nullable(),
        hostname: z.string().nullable(),
        status: z.string().nullable().describe('The state, as MAAS names it; null for an unknown node.'),
        health: z
          .enum(OUT_OF_SERVICE)
          .optional()
          .describe('Why it does not serve, as the inventory and the drift say it; absent: it serves, or is about to.'),
        reason: z.string().optional().describe('Of its health: what happened, and the next step.'),
        maintenance: maintenanceSchema.optional().describe('People work on it: runs leave it out.'),
        power: z.string().nullable(),
        tags: z.array(z.string()),
        zone: z.string().nullable(),
        owner: z.string().nullable().optional(),
        seen_at: timestamp.nullable(),
        deployment: z
          .strictObject({ does: z.enum(['deploy', 'leave', 'refuse']), why: z.string() })
          .optional()
          .describe(
            'What a deployment of the revision would do to the machine in its current state; absent while MAAS is unreachable.',
          ),
      }),
    ),
  })
  .meta({ id: 'NodeStatuses', description: 'The nodes of a site with their state in MAAS.' });

const nodesStatusQuery = z.strictObject({
  revision: z.string().min(1).max(100).optional().describe('Revision whose nodes to list. Default: `latest`.'),
});

export const runNodeListSchema = z.strictObject({ items: z.array(nodeReportSchema) }).meta({ id: 'RunNodeList' });

export const runOfNodeSchema = z.strictObject({
  id: z.string(),
  workflow_id: z.string(),
  kind: z.string(),
  site: z.string().nullable(),
  revision: z.int().nullable(),
  phase: z.string(),
  outcome: z.string().nullable(),
  started_at: timestamp,
  ended_at: timestamp.nullable(),
});

const nodeHistoryEntrySchema = z
  .strictObject({
    node: nodeReportSchema,
    run: runOfNodeSchema,
  })
  .meta({ id: 'NodeHistoryEntry', description: "A node's part in one run, with the run." });

export const nodeHistoryPageSchema = pageOf(nodeHistoryEntrySchema).meta({ id: 'NodeHistoryPage' });

export type NodeStatuses = Wire<typeof nodeStatusesSchema>;

export const siteNodeRoutes = tagged('nodes', {
  'POST /sites/:site/revisions/:ref/select': {
    id: 'selectNodes',
    budget: 'reading',
    access: 'viewer',
    summary: 'List the nodes of a revision that match selectors',
    params: revisionParams,
    body: selectBody,
    answers: { 200: selectedSchema },
    also: [409],
  },
  'GET /sites/:site/nodes/status': {
    id: 'getNodeStatuses',
    access: 'viewer',
    summary: "Show a site's nodes with their current or last known state in MAAS",
    params: siteParams,
    query: nodesStatusQuery,
    answers: { 200: nodeStatusesSchema },
    also: [409],
  },
  'GET /sites/:site/nodes/:node/history': {
    id: 'getNodeHistory',
    access: 'viewer',
    summary: 'List the runs of a node, newest first',
    params: siteNodeParams,
    query: pageQuery,
    answers: { 200: nodeHistoryPageSchema },
  },
});
