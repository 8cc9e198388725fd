import { z } from 'zod';
import { nameText } from '../primitives.ts';
import { gone, tagged } from '../route.ts';
import type { Wire } from '../wire.ts';
import { startedTransactionSchema } from './deployments.ts';
import { flagText, idList, idNumber, idParams, idText } from './parts.ts';
import { jsonObjectSchema } from './releases.ts';

const nodeIds = z.array(idNumber('node')).min(1).max(10_000);
const role = nameText(1000);

const configSchema = z
  .strictObject({
    id: z.int(),
    is_active: z.boolean().describe('False once deleted or replaced.'),
    config_type: z.enum(['cluster', 'role', 'node']).describe('Purpose of the configuration.'),
    cluster_id: z.int(),
    node_id: z.int().nullable(),
    node_role: z.string().nullable(),
    created_at: z.string(),
    configuration: jsonObjectSchema.describe('By file: `{"nova_config": {"DEFAULT/debug": {"value": true}}}`.'),
  })
  .meta({ id: 'OpenstackConfig', description: 'OpenStack configuration of a cluster, a role or a node: `$.configs`.' });
export type OpenstackConfigAnswer = Wire<typeof configSchema>;

const configListSchema = z.array(configSchema).meta({ id: 'OpenstackConfigList' });

const target = {
  cluster_id: idNumber('cluster'),
  node_ids: nodeIds.optional().describe('Only for these nodes.'),
  node_role: role.optional().describe('Only for nodes of this role.'),
};

const newConfigBody = z.strictObject({ ...target, configuration: jsonObjectSchema }).meta({ id: 'NewOpenstackConfig' });

const executeConfigBody = z
  .strictObject({
    ...target,
    config_id: idNumber('openstack-config').optional().describe('Accepted and ignored.'),
    force: z.boolean().optional().describe('Treat everything as changed.'),
  })
  .meta({ id: 'ExecuteOpenstackConfig' });

const params = idParams('openstack-config');

/** Fuel's OpenStack configurations. */
export const openstackConfigRoutes = tagged('clusters', {
  'GET /openstack-config/': {
    id: 'listOpenstackConfigs',
    access: 'viewer',
    summary: 'List OpenStack configurations of a cluster, its roles and nodes',
    query: z.strictObject({
      cluster_id: idText('cluster').optional(),
      node_ids: idList('node', 'Only configurations of these nodes'),
      node_role: role.optional().describe('Only configurations of this role.'),
      is_active: flagText.optional().describe('Default: only active ones.'),
    }),
    answers: { 200: configListSchema },
    also: [404],
  },
  'POST /openstack-config/': {
    id: 'createOpenstackConfigs',
    access: 'operator',
    summary: 'Store OpenStack configuration; it replaces an earlier one of the same cluster, role or nodes',
    body: newConfigBody,
    answers: { 201: configListSchema },
    also: [404],
  },
  'GET /openstack-config/:id': {
    id: 'getOpenstackConfig',
    access: 'viewer',
    summary: 'Show an OpenStack configuration',
    params,
    answers: { 200: configSchema },
  },
  'DELETE /openstack-config/:id': {
    id: 'deleteOpenstackConfig',
    access: 'operator',
    summary: 'Deactivate an OpenStack configuration',
    params,
    answers: gone,
  },
  'PUT /openstack-config/execute/': {
    id: 'executeOpenstackConfig',
    access: 'operator',
    summary: 'Run the tasks of the graph `default` whose `refresh_on` names one of the configured files, or `*`',
    body: executeConfigBody,
    answers: { 202: startedTransactionSchema.describe('Started; returns the transaction of the run.') },
    also: [404, 409],
  },
});
