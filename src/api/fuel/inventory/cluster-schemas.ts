import { z } from 'zod';
import { anyJson } from '../../../core/contracts/primitives.js';
import type { Wire } from '../../../core/contracts/wire.js';
import { idNumber } from '../request-parts.js';
import { jsonObject } from './release-schemas.js';

export const CLUSTER_STATUSES = [
  'new',
  'deployment',
  'stopped',
  'operational',
  'partially_deployed',
  'error',
  'remove',
  'update',
  'update_error',
] as const;

const name = z.string().trim().min(1).max(50).describe('Unique among clusters.');
const siteName = z.string().min(1).max(63).describe('Site whose machines its nodes are.');
const segmentation = z.enum(['vlan', 'gre', 'tun']);

export const newClusterBody = z
  .strictObject({
    name,
    release_id: idNumber('release').optional(),
    release: idNumber('release').optional().describe('The same as `release_id`.'),
    site: siteName.optional(),
    mode: z.enum(['ha_compact', 'multinode']).optional(),
    net_provider: z.enum(['neutron', 'nova_network']).optional(),
    net_segment_type: segmentation.optional(),
    components: z.array(z.string()).optional(),
    nodes: z.array(idNumber('node')).optional().describe('Nodes to take in at once.'),
    tasks: z.array(z.never()).optional().describe('Always empty; older clients send it.'),
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
    site: z.string().nullable().describe('Site whose machines its nodes are.'),
    is_customized: z.boolean().describe('Whether deployment facts were uploaded in place of its own.'),
    is_locked: z.boolean().describe('Whether a run works on it now.'),
    changes: z.array(changeSchema).describe('What the next deployment would do to nodes.'),
    components: z.array(z.string()),
    tags: z.array(z.string()).describe('Names of its own tags; `/clusters/ID/tags` has all, with what they are.'),
    extensions: z.array(z.string()),
    ui_settings: anyJson,
  })
  .meta({ id: 'Cluster' });

export const clusterListSchema = z.array(clusterSchema).meta({ id: 'ClusterList' });

/** A cluster as it was answered may be sent back, changed in what can be changed. */
export const clusterChangesBody = z
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

export const assignmentBody = z
  .array(
    z.strictObject({
      id: idNumber('node'),
      roles: z.array(z.string().min(1).max(1000)).min(1).describe('Roles the node is to have.'),
    }),
  )
  .min(1)
  .meta({ id: 'Assignment' });

export const unassignmentBody = z
  .array(z.strictObject({ id: idNumber('node') }))
  .min(1)
  .meta({ id: 'Unassignment' });

export type ClusterAnswer = Wire<typeof clusterSchema>;
