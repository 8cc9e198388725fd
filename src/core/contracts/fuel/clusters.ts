import { z } from 'zod';
import { CLUSTER_STATUSES } from '../../words.ts';
import { anyJson, nameText } from '../primitives.ts';
import { diagnosticSchema } from '../problem.ts';
import { gone, tagged } from '../route.ts';
import type { Wire } from '../wire.ts';
import { idList, idNumber, idParams, idText } from './parts.ts';
import { jsonObject, jsonObjectSchema } from './releases.ts';

const name = nameText(50).trim().describe('Unique among clusters.');
const siteName = nameText(63).describe('Site that the machines of its nodes belong to.');
const segmentation = z.enum(['vlan', 'gre', 'tun']);

export const newClusterBody = z
  .strictObject({
    name,
    release_id: idNumber('release').optional(),
    release: idNumber('release').optional().describe('Alias of `release_id`.'),
    site: siteName.optional(),
    mode: z.enum(['ha_compact', 'multinode']).optional(),
    net_provider: z.enum(['neutron', 'nova_network']).optional(),
    net_segment_type: segmentation.optional(),
    networks: z
      .record(z.string().min(1), z.string().min(1))
      .optional()
      .describe('Networks in MAAS: a subnet (by CIDR or name) or a space for each network name.'),
    components: z.array(z.string()).optional(),
    nodes: z.array(idNumber('node')).optional().describe('Nodes to add on creation.'),
    tasks: z.array(z.never()).optional().describe('Always empty; sent by older clients.'),
  })
  .meta({ id: 'NewCluster' });

const changeSchema = z.strictObject({ name: z.string(), node_id: z.int().nullable() });

export const clusterSchema = z
  .strictObject({
    id: idNumber('cluster'),
    name: z.string(),
    status: z.string().describe(CLUSTER_STATUSES.join(', ')),
    release_id: idNumber('release'),
    fuel_version: z.string(),
    mode: z.string(),
    net_provider: z.string(),
    site: z.string().nullable().describe('Site that the machines of its nodes belong to.'),
    is_customized: z.boolean().describe('Whether uploaded deployment facts replace the computed ones.'),
    is_locked: z.boolean().describe('Whether a run is in progress on it.'),
    changes: z.array(changeSchema).describe('Changes that the next deployment would make to nodes.'),
    components: z.array(z.string()),
    tags: z
      .array(z.string())
      .describe('Names of its own tags; `/clusters/ID/tags` lists all tags with their metadata.'),
    extensions: z.array(z.string()),
    ui_settings: anyJson,
  })
  .meta({ id: 'Cluster' });

const clusterListSchema = z.array(clusterSchema).meta({ id: 'ClusterList' });

/** A returned cluster may be sent back with changes to its mutable fields. */
const clusterChangesBody = z
  .strictObject({
    name: name.optional(),
    site: siteName.nullable().optional(),
    ui_settings: jsonObject.optional(),
    components: z.array(z.string()).optional(),
    release_id: idNumber('release').optional(),
    ...z
      .object({
        id: z.int(),
        status: z.string(),
        fuel_version: z.string(),
        mode: z.string(),
        net_provider: z.string(),
        is_customized: z.boolean(),
        is_locked: z.boolean(),
        changes: z.array(anyJson),
        tags: z.array(z.string()),
        extensions: z.array(z.string()),
      })
      .partial().shape,
  })
  .meta({ id: 'ClusterChanges' });

const assignmentBody = z
  .array(
    z.strictObject({
      id: idNumber('node'),
      roles: z.array(nameText(1000)).min(1).describe('Roles to assign to the node.'),
    }),
  )
  .min(1)
  .meta({ id: 'Assignment' });

const unassignmentBody = z
  .array(z.strictObject({ id: idNumber('node') }))
  .min(1)
  .meta({ id: 'Unassignment' });

export type ClusterAnswer = Wire<typeof clusterSchema>;

const findingSchema = diagnosticSchema
  .extend({
    nodes: z.array(z.int()).optional().describe('Ids of the affected nodes.'),
    role: z.string().optional(),
    tags: z.array(z.string()).optional(),
  })
  .meta({ id: 'ClusterFinding' });

const checksSchema = z
  .strictObject({
    ok: z.boolean().describe('No error: a run may start.'),
    findings: z.array(findingSchema),
  })
  .meta({ id: 'ClusterChecks' });

const stateSchema = z
  .strictObject({
    common: z.record(z.string(), z.unknown()).describe('Data common to all nodes.'),
    node: z.record(z.string(), z.unknown()).nullable().describe('Additional data of the requested node.'),
    nodes: z.record(z.string(), z.record(z.string(), z.unknown())).describe('Additional data of every node, by id.'),
    facts: z
      .strictObject({
        common: z.record(z.string(), z.unknown()),
        nodes: z.record(z.string(), z.record(z.string(), z.unknown())),
      })
      .describe('Statuses, labels …: expressions read them by name; changes to them are not tracked.'),
  })
  .meta({ id: 'State' });

const statesSchema = z
  .strictObject({
    now: stateSchema,
    before: stateSchema.nullable().describe('Data at the last success of a task; null before the first.'),
  })
  .meta({ id: 'ClusterStates' });

const params = idParams('cluster');

export const clusterRoutes = tagged('clusters', {
  'GET /clusters': {
    id: 'listClusters',
    access: 'viewer',
    summary: 'List clusters (environments in Fuel)',
    answers: { 200: clusterListSchema },
  },
  'POST /clusters': {
    id: 'createCluster',
    access: 'operator',
    summary: 'Create a cluster from a release',
    body: newClusterBody,
    answers: { 201: clusterSchema },
    also: [409],
  },
  'GET /clusters/:id': {
    id: 'getCluster',
    access: 'viewer',
    summary: 'Show a cluster',
    params,
    answers: { 200: clusterSchema },
  },
  'PUT /clusters/:id': {
    id: 'changeCluster',
    access: 'operator',
    summary: 'Change name, site, components or page settings of a cluster',
    params,
    body: clusterChangesBody,
    answers: { 200: clusterSchema },
    also: [409],
  },
  'DELETE /clusters/:id': {
    id: 'deleteCluster',
    access: 'admin',
    summary: 'Delete a cluster with its graphs and history; its nodes stay in the inventory',
    params,
    answers: gone,
    also: [409],
  },
  'POST /clusters/:id/assignment': {
    id: 'assignNodes',
    access: 'operator',
    summary: 'Add nodes to a cluster with roles, all or none; one whose removal is pending stays',
    params,
    body: assignmentBody,
    answers: { 200: jsonObjectSchema },
    also: [409],
  },
  'POST /clusters/:id/unassignment': {
    id: 'unassignNodes',
    access: 'operator',
    summary:
      'Remove nodes from a cluster, all or none; deployed ones have `pending_deletion` until the next deployment',
    params,
    body: unassignmentBody,
    answers: { 200: jsonObjectSchema },
    also: [409],
  },
  'GET /clusters/:id/checks': {
    id: 'checkCluster',
    access: 'viewer',
    summary: 'Check a cluster before a run: nodes, roles, settings, limits, tags left over',
    params,
    query: z.strictObject({ nodes: idList('node', 'Ids of the nodes of the run') }),
    answers: { 200: checksSchema },
  },
  'GET /clusters/:id/states': {
    id: 'getClusterStates',
    access: 'viewer',
    summary: 'Show the data that task expressions read: current, and at the last success of a task',
    params,
    query: z.strictObject({ node: idText('node').optional() }),
    answers: { 200: statesSchema },
    tag: 'graphs',
  },
});
