import { z } from 'zod';
import { idParams } from './fuel/parts.ts';
import { maintenanceSchema, reasonText, siteNodeParams } from './primitives.ts';
import { tagged } from './route.ts';
import type { Wire } from './wire.ts';

const nodeInMaintenance = maintenanceSchema.extend({
  node: z.string().describe('Its name in the documents of its site, or in the inventory.'),
  site: z.string().nullable(),
  id: z.int().nullable().describe('In the inventory; null for a machine that it does not have yet.'),
  cluster: z.int().nullable(),
  locked: z.boolean().describe('This maintenance has locked its machine in MAAS, and unlocks it at its end.'),
});

const maintenanceListSchema = z
  .strictObject({ items: z.array(nodeInMaintenance) })
  .meta({ id: 'MaintenanceList', description: 'The nodes that people work on: runs leave them out.' });

const maintenanceBody = z
  .strictObject({
    reason: reasonText.min(1),
    lock: z.boolean().optional().describe('Also lock its machine in MAAS until the maintenance ends.'),
  })
  .meta({ id: 'NewMaintenance' });

const begunSchema = z
  .strictObject({
    maintenance: nodeInMaintenance,
    runs: z
      .array(z.strictObject({ id: z.string(), number: z.int().nullable(), kind: z.string() }))
      .describe('Runs under way on its site or cluster: they keep their plans, which may have the node.'),
    notes: z.array(z.string()),
  })
  .meta({ id: 'MaintenanceBegun' });

const missedTask = z.strictObject({
  task: z.string(),
  first_time: z.boolean(),
  changed: z.array(z.string()).describe('As in the plan of a cluster.'),
});

const missedSchema = z
  .strictObject({
    machine: z
      .strictObject({
        does: z.enum(['deploy', 'leave', 'refuse', 'unknown']),
        why: z.string(),
        fields: z.array(z.string()).describe('Fields of its documents that have changed since it was deployed.'),
      })
      .nullable()
      .describe('What a run of its site would do with its machine now; null without a site.'),
    graphs: z
      .array(
        z.strictObject({
          type: z.string(),
          tasks: z.array(missedTask),
          problem: z.string().optional().describe('Why there is no plan for it.'),
        }),
      )
      .describe('What a deployment of changes would run on it now, graph by graph; empty without a cluster.'),
  })
  .meta({ id: 'Missed', description: 'What a node missed while it was in maintenance, as plans. Nothing is started.' });

const endedSchema = z
  .strictObject({ maintenance: nodeInMaintenance, unlocked: z.boolean(), missed: missedSchema })
  .meta({ id: 'MaintenanceEnded' });

export type NodeInMaintenance = Wire<typeof nodeInMaintenance>;
export type MaintenanceBegun = Wire<typeof begunSchema>;
export type MaintenanceEnded = Wire<typeof endedSchema>;
export type Missed = Wire<typeof missedSchema>;

const begin = {
  access: 'operator',
  body: maintenanceBody,
  answers: { 200: begunSchema },
  also: [409],
  description: 'Runs, plans and deployments of changes leave it out and say so.',
} as const;
const end = {
  access: 'operator',
  answers: { 200: endedSchema },
  also: [409],
} as const;

export const maintenanceRoutes = tagged('nodes', {
  'GET /maintenance': {
    id: 'listMaintenance',
    access: 'viewer',
    summary: 'List the nodes in maintenance',
    answers: { 200: maintenanceListSchema },
  },
  'PUT /nodes/:id/maintenance': {
    ...begin,
    id: 'beginMaintenance',
    summary: 'Put a node of the inventory into maintenance',
    params: idParams('node'),
  },
  'DELETE /nodes/:id/maintenance': {
    ...end,
    id: 'endMaintenance',
    summary: 'End the maintenance of a node of the inventory, and show what it missed',
    params: idParams('node'),
  },
  'PUT /sites/:site/nodes/:node/maintenance': {
    ...begin,
    id: 'beginSiteMaintenance',
    summary: "Put a node of a site's documents into maintenance",
    params: siteNodeParams,
  },
  'DELETE /sites/:site/nodes/:node/maintenance': {
    ...end,
    id: 'endSiteMaintenance',
    summary: "End the maintenance of a node of a site's documents, and show what it missed",
    params: siteNodeParams,
  },
});
