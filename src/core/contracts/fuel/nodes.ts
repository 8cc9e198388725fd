import { z } from 'zod';
import { NODE_STATUSES } from '../../words.ts';
import { takesNames } from '../named-ids.ts';
import { anyJson, maintenanceSchema, nameText } from '../primitives.ts';
import { LARGE_BODY, tagged } from '../route.ts';
import type { Wire } from '../wire.ts';
import { commaList, flagText, idList, idNumber, idParams, idText } from './parts.ts';
import { jsonObject, jsonObjectBody, jsonObjectSchema } from './releases.ts';

const roleList = z.array(nameText(1000));
const labels = z
  .record(nameText(100), z.string().max(100).nullable())
  .describe('Name → text of at most 100 characters, or null.');
const mac = z.string().regex(/^([0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}$/, 'must be a MAC address as 52:54:00:12:34:56');
const hostname = z
  .string()
  .max(63)
  .regex(/^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$/, 'must be a host name: letters, digits, hyphens inside');

/** Fields of a node that clients may set. */
const nodeFields = {
  name: nameText(100),
  hostname,
  mac,
  ip: z.union([z.ipv4(), z.ipv6()]).nullable(),
  meta: jsonObject.describe('Its hardware, as discovered.'),
  labels,
  os_platform: z.string().nullable(),
  manufacturer: z.string().nullable(),
  platform_name: z.string().nullable(),
  kernel_params: z.string().nullable(),
  online: z.boolean(),
  status: z.enum(NODE_STATUSES),
  error_type: z.string().nullable(),
  error_msg: z.string().nullable(),
  progress: z.int().min(0).max(100),
  group_id: idNumber('node group').nullable(),
  cluster: idNumber('cluster').nullable().describe('Cluster to assign it to; null removes it.'),
  cluster_id: idNumber('cluster').nullable().describe('Alias of `cluster`.'),
  roles: roleList,
  pending_roles: roleList,
  pending_addition: z.boolean(),
  pending_deletion: z.boolean(),
};

const newNodeBody = z
  .strictObject({ ...z.object(nodeFields).partial().shape, site: nameText(63).optional() })
  .meta({ id: 'NewNode' });

/** A returned node may be sent back with changes to its mutable fields. */
const nodeChangesBody = z
  .strictObject({
    ...z.object(nodeFields).partial().shape,
    ...z
      .object({
        id: z.int(),
        site: z.string().nullable(),
        uuid: z.string(),
        fqdn: z.string().nullable(),
        tags: z.array(z.string()),
        primary_tags: z.array(z.string()),
        network_data: z.array(anyJson),
        extensions: z.array(z.string()),
        agent_checksum: z.string().nullable(),
        kernel_params: z.string().nullable(),
        maintenance: maintenanceSchema,
      })
      .partial().shape,
  })
  .meta({ id: 'NodeChanges' });

const nodeListChangesBody = z
  .array(nodeChangesBody.extend({ id: idNumber('node') }))
  .min(1)
  .meta({ id: 'NodeListChanges' });

export const nodeSchema = z
  .strictObject({
    id: idNumber('node'),
    name: z.string(),
    hostname: z.string().nullable(),
    fqdn: z.string().nullable(),
    site: z.string().nullable().describe('Site that its machine belongs to.'),
    cluster: z.int().nullable(),
    uuid: z.string(),
    mac: z.string().nullable(),
    ip: z.string().nullable(),
    status: z.string().describe(NODE_STATUSES.join(', ')),
    online: z.boolean(),
    progress: z.int(),
    error_type: z.string().nullable(),
    error_msg: z.string().nullable(),
    roles: z.array(z.string()),
    pending_roles: z.array(z.string()),
    pending_addition: z.boolean(),
    pending_deletion: z.boolean(),
    tags: z.array(z.string()),
    primary_tags: z.array(z.string()),
    labels: z.record(z.string(), z.string().nullable()),
    meta: anyJson,
    group_id: z.int().nullable(),
    os_platform: z.string().nullable(),
    platform_name: z.string().nullable(),
    manufacturer: z.string().nullable(),
    kernel_params: z.string().nullable(),
    network_data: z.array(anyJson),
    extensions: z.array(z.string()),
    agent_checksum: z.string().nullable(),
    maintenance: maintenanceSchema.optional().describe('People work on it: runs leave it out.'),
  })
  .meta({ id: 'FuelNode', description: "A node of the inventory, in Fuel's format." });

const nodeListSchema = z.array(nodeSchema).meta({ id: 'FuelNodeList' });

export type NodeAnswer = Wire<typeof nodeSchema>;

const nodesQuery = z.strictObject({
  cluster_id: takesNames(z.string().regex(/^([1-9]\d{0,8})?$/, 'must be an id, a name, or empty'), 'cluster')
    .optional()
    .describe('Only nodes of this cluster; empty: only nodes in no cluster.'),
  group_id: idText('node group').optional(),
  roles: commaList('Only nodes with one of these roles, assigned or pending'),
  status: commaList('Statuses'),
  ids: idList('node', 'Ids'),
  online: flagText.optional().describe('Only nodes that are online, or only offline ones.'),
});

const deletedNodesQuery = z.strictObject({
  ids: takesNames(z.string().min(1).max(100_000).describe('Ids of nodes, separated by commas.'), 'node', true),
  force: flagText.optional().describe('Include deployed nodes of a cluster.'),
});

/** Interfaces or disks: opaque lists. */
const nodePartsBody = z.array(jsonObject).meta({ id: 'NodePartsChanges' });
const nodePartsSchema = z.array(anyJson).meta({ id: 'NodeParts' });

const params = idParams('node');
const forgotten = { 204: z.undefined().describe('Gone.') };
const one = { access: 'viewer', params, answers: { 200: nodeSchema } } as const;
const changed = { ...one, access: 'operator', body: nodeChangesBody, also: [409] } as const;
const settings = { access: 'viewer', params, answers: { 200: jsonObjectSchema } } as const;
const parts = { access: 'viewer', params, answers: { 200: nodePartsSchema } } as const;

/** A node's agent: the names by which it is started, and whether it asks Temporal for work. */
const nodeAgentSchema = z
  .object({
    id: z.int().describe('Of the node.'),
    name: z.string().nullable(),
    cluster: z.int(),
    site: z.string().describe('`--site` of its agent.'),
    node: z.string().describe('`--node` of its agent.'),
    online: z.boolean().describe('It polled for work within the last 90 seconds.'),
    temporal_url: z.string().nullable().describe("The queue of its tasks in Temporal's Web UI; null if unknown."),
  })
  .meta({ id: 'NodeAgent' });

const agentsQuery = z.strictObject({ cluster_id: idText('cluster').optional() });

export const inventoryNodeRoutes = tagged('inventory', {
  'GET /nodes': {
    id: 'listInventoryNodes',
    access: 'viewer',
    summary: 'List nodes of the inventory, of a cluster or of none',
    query: nodesQuery,
    answers: { 200: nodeListSchema },
  },
  'POST /nodes': {
    id: 'registerNode',
    access: 'operator',
    summary: 'Add a machine to the inventory',
    body: newNodeBody,
    answers: { 201: nodeSchema },
    also: [409],
  },
  'PUT /nodes': {
    id: 'changeNodes',
    access: 'operator',
    summary: 'Change several nodes, all or none',
    body: nodeListChangesBody,
    ...LARGE_BODY,
    answers: { 200: nodeListSchema },
    also: [409],
  },
  'DELETE /nodes': {
    id: 'deleteNodes',
    access: 'operator',
    summary: 'Delete several nodes from the inventory, all or none',
    query: deletedNodesQuery,
    answers: forgotten,
    also: [404, 409],
  },
  'GET /agents': {
    id: 'listAgents',
    access: 'viewer',
    summary: 'List the nodes of clusters with the current state of their agents in Temporal',
    query: agentsQuery,
    answers: { 200: z.array(nodeAgentSchema) },
  },
  'GET /nodes/:id': { ...one, id: 'getInventoryNode', summary: 'Show a node of the inventory' },
  'PUT /nodes/:id': { ...changed, id: 'changeNode', summary: 'Change the given fields of a node' },
  'PATCH /nodes/:id': { ...changed, id: 'patchNode', summary: 'Change the given fields of a node' },
  'DELETE /nodes/:id': {
    id: 'deleteNode',
    access: 'operator',
    summary: 'Delete a node from the inventory',
    params,
    query: deletedNodesQuery.pick({ force: true }),
    answers: forgotten,
    also: [409],
  },
  'GET /nodes/:id/attributes': { ...settings, id: 'getNodeSettings', summary: 'Show the settings of a node' },
  'PUT /nodes/:id/attributes': {
    ...settings,
    id: 'replaceNodeSettings',
    access: 'operator',
    summary: 'Replace the settings of a node',
    body: jsonObjectBody,
  },
  'PATCH /nodes/:id/attributes': {
    ...settings,
    id: 'changeNodeSettings',
    access: 'operator',
    summary: 'Change settings of a node; omitted ones keep their values',
    body: jsonObjectBody,
  },
  'GET /nodes/:id/interfaces': {
    ...parts,
    id: 'getNodeInterfaces',
    summary: 'Show the interfaces of a node, as set or as discovered',
  },
  'PUT /nodes/:id/interfaces': {
    ...parts,
    id: 'replaceNodeInterfaces',
    access: 'operator',
    summary: 'Set the interfaces of a node',
    body: nodePartsBody,
    also: [409],
  },
  'GET /nodes/:id/interfaces/default_assignment': {
    ...parts,
    id: 'getFoundNodeInterfaces',
    summary: 'Show the discovered interfaces of a node',
  },
  'GET /nodes/:id/disks': {
    ...parts,
    id: 'getNodeDisks',
    summary: 'Show the disks of a node, as set or as discovered',
  },
  'PUT /nodes/:id/disks': {
    ...parts,
    id: 'replaceNodeDisks',
    access: 'operator',
    summary: 'Set the disks of a node',
    body: nodePartsBody,
    also: [409],
  },
  'GET /nodes/:id/disks/defaults': {
    ...parts,
    id: 'getFoundNodeDisks',
    summary: 'Show the discovered disks of a node',
  },
});
