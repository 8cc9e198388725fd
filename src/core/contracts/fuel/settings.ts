import { z } from 'zod';
import { anyJson, timestamp } from '../primitives.ts';
import { diagnosticSchema } from '../problem.ts';
import { LARGE_BODY, tagged } from '../route.ts';
import { flagText, idList, idParams } from './parts.ts';
import { jsonObject, jsonObjectBody, jsonObjectSchema } from './releases.ts';

const settingsBody = z
  .strictObject({
    editable: anyJson.optional().describe('Groups of settings, as returned by GET.'),
    generated: anyJson.optional().describe('Set by the service: refused with a reason.'),
  })
  .meta({ id: 'SettingsChanges' });

const settingsSchema = z
  .strictObject({ editable: z.looseObject({}).describe('Groups of settings by name.') })
  .meta({ id: 'Settings' });

const settingsChange = z
  .strictObject({
    number: z.int().describe('Of the revision, from 1.'),
    at: timestamp,
    by: z.string(),
    changes: z
      .array(z.strictObject({ setting: z.string(), before: anyJson, after: anyJson }))
      .describe('Null where a setting was not, or is no more; values of secrets are hidden.'),
  })
  .meta({ id: 'SettingsRevision' });

const settingsPlanSchema = z
  .strictObject({
    changes: settingsChange.shape.changes,
    findings: z.array(diagnosticSchema).describe('Why it would be refused; empty if it would not.'),
    restricted: z
      .array(
        z.strictObject({
          setting: z.string().describe('`group.setting`, or a group as a whole.'),
          choice: anyJson.optional().describe('Only this of its values.'),
          action: z.string().describe('What a form does: disable, hide or none.'),
          message: z.string().optional(),
        }),
      )
      .describe('What the conditions of release and plugins restrict with these settings.'),
    digest: z.string().describe('Of what is stored and what was sent; sent back, it is stored as shown or not at all.'),
  })
  .meta({ id: 'SettingsPlan' });

const settingsHistorySchema = z.strictObject({ items: z.array(settingsChange) }).meta({ id: 'SettingsHistory' });

const forceQuery = z.strictObject({
  digest: z.string().max(100).optional().describe('Of the plan that was shown; refused if it has changed since.'),
  force: flagText
    .optional()
    .describe('Keep also settings that no release, plugin or task reads; they are refused otherwise.'),
});

const factsQuery = z.strictObject({
  nodes: idList('node', 'Ids of nodes. Default: all'),
  split: flagText
    .optional()
    .describe('Return common data as a separate entry `common`. Default: merged into each node.'),
});

const fact = z.record(z.string(), anyJson);

const deploymentFactsBody = z
  .array(fact)
  .min(1)
  .meta({ id: 'DeploymentFacts', description: 'An entry for each node by its `uid`, and one of uid `common`.' });

const deploymentFactsSchema = z.array(z.looseObject({ uid: z.string() })).meta({ id: 'DeploymentFactList' });

const provisioningFactsBody = z
  .strictObject({ engine: jsonObject.nullable().optional(), nodes: z.array(fact) })
  .meta({ id: 'NewProvisioningFacts' });

/** Nothing uploaded: `{}`, which clients take for nothing. */
const provisioningFactsSchema = z
  .strictObject({ engine: z.looseObject({}), nodes: z.array(z.looseObject({})) })
  .partial()
  .meta({ id: 'ProvisioningFacts' });

const params = idParams('cluster');
const revisionParams = params.extend({ number: z.coerce.number().int().min(1).describe('Of the revision.') });
const settings = { access: 'viewer', params, answers: { 200: settingsSchema } } as const;
const changed = {
  ...settings,
  access: 'operator',
  query: forceQuery,
  body: settingsBody,
  also: [409],
  ...LARGE_BODY,
} as const;
export const networkParams = params.extend({
  provider: z.enum(['neutron', 'nova_network']).describe("The cluster's network provider."),
});
const object = { access: 'viewer', answers: { 200: jsonObjectSchema } } as const;
const changedObject = { ...object, access: 'operator', body: jsonObjectBody, ...LARGE_BODY } as const;

export const settingsRoutes = tagged('clusters', {
  'GET /clusters/:id/attributes': {
    ...settings,
    id: 'getClusterSettings',
    summary: 'Show the settings of a cluster, without generated passwords',
  },
  'PUT /clusters/:id/attributes': {
    ...changed,
    id: 'replaceClusterSettings',
    summary: 'Replace the settings of a cluster',
  },
  'PATCH /clusters/:id/attributes': {
    ...changed,
    id: 'changeClusterSettings',
    summary: 'Change settings of a cluster; omitted ones keep their values',
  },
  'POST /clusters/:id/attributes/plan': {
    id: 'planClusterSettings',
    access: 'viewer',
    summary: 'Show what these settings would change, and what they restrict; nothing is stored',
    params,
    query: z.strictObject({
      force: forceQuery.shape.force,
      merge: flagText.optional().describe('As PATCH takes them: omitted ones keep their values.'),
    }),
    body: settingsBody,
    ...LARGE_BODY,
    answers: { 200: settingsPlanSchema },
  },
  'GET /clusters/:id/attributes/defaults': {
    ...settings,
    id: 'getDefaultClusterSettings',
    summary: 'Show the default settings of a cluster, from its release',
  },
  'PUT /clusters/:id/attributes/defaults': {
    ...settings,
    id: 'resetClusterSettings',
    access: 'operator',
    summary: 'Reset the settings of a cluster to those of its release',
  },
  'GET /clusters/:id/attributes/history': {
    id: 'listSettingsRevisions',
    access: 'viewer',
    summary: 'List the revisions of the settings of a cluster, newest first, each with what it changed',
    params,
    answers: { 200: settingsHistorySchema },
  },
  'GET /clusters/:id/attributes/history/:number': {
    id: 'compareSettings',
    access: 'viewer',
    summary: 'Compare the settings of a cluster with an earlier revision',
    params: revisionParams,
    answers: { 200: settingsChange },
  },
  'POST /clusters/:id/attributes/history/:number/revert': {
    id: 'revertSettings',
    access: 'operator',
    summary: 'Take the settings of a cluster back to an earlier revision, as a new one',
    params: revisionParams,
    answers: { 200: settingsSchema },
  },
  'GET /clusters/:id/vmware_attributes': {
    ...settings,
    id: 'getVmwareSettings',
    summary: 'Show the VMware settings of a cluster',
  },
  'PUT /clusters/:id/vmware_attributes': {
    ...settings,
    id: 'replaceVmwareSettings',
    access: 'operator',
    summary: 'Replace the VMware settings of a cluster',
    body: z.strictObject({ editable: z.record(z.string(), z.unknown()) }).meta({ id: 'VmwareSettingsChanges' }),
    ...LARGE_BODY,
  },
  'GET /clusters/:id/network_configuration/:provider': {
    ...object,
    id: 'getNetworkConfiguration',
    summary: 'Show the network configuration of a cluster',
    params: networkParams,
  },
  'PUT /clusters/:id/network_configuration/:provider': {
    ...changedObject,
    id: 'changeNetworkConfiguration',
    summary: 'Replace the given parts of the network configuration of a cluster',
    params: networkParams,
  },
  'GET /clusters/:id/network_configuration/template': {
    ...object,
    id: 'getNetworkTemplate',
    summary: 'Show the network template of a cluster',
    params,
  },
  'PUT /clusters/:id/network_configuration/template': {
    ...changedObject,
    id: 'replaceNetworkTemplate',
    summary: 'Upload the network template of a cluster',
    params,
  },
  'DELETE /clusters/:id/network_configuration/template': {
    id: 'deleteNetworkTemplate',
    access: 'operator',
    summary: 'Delete the network template of a cluster',
    params,
    answers: { 204: z.undefined().describe('Deleted.') },
  },
});

const factsAnswer = { access: 'viewer', params, query: factsQuery } as const;
/** Facts of some 300 nodes: recorded ones have 700 to 1,000 values each. More are sent in portions, by `PATCH`. */
const upload = { access: 'operator', params, bodyLimit: 32 * 1024 * 1024, maxValues: 300_000 } as const;
const deleted = {
  access: 'operator',
  params,
  answers: { 204: z.undefined().describe('The computed ones are used again.') },
} as const;

export const factsRoutes = tagged('clusters', {
  'GET /clusters/:id/orchestrator/deployment': {
    ...factsAnswer,
    id: 'getDeploymentFacts',
    summary: 'Show uploaded deployment facts; an empty list when there are none',
    answers: { 200: deploymentFactsSchema },
  },
  'GET /clusters/:id/orchestrator/deployment/defaults': {
    ...factsAnswer,
    id: 'getDefaultDeploymentFacts',
    summary: 'Show the deployment facts computed from settings and nodes',
    answers: { 200: deploymentFactsSchema },
  },
  'PUT /clusters/:id/orchestrator/deployment': {
    ...upload,
    id: 'uploadDeploymentFacts',
    summary: 'Upload deployment facts, which override computed ones',
    body: deploymentFactsBody,
    answers: { 200: deploymentFactsSchema },
  },
  'PATCH /clusters/:id/orchestrator/deployment': {
    ...upload,
    id: 'changeDeploymentFacts',
    summary: 'Replace the uploaded deployment facts of some nodes only',
    body: deploymentFactsBody,
    answers: { 204: z.undefined().describe('Replaced.') },
  },
  'DELETE /clusters/:id/orchestrator/deployment': {
    ...deleted,
    id: 'deleteDeploymentFacts',
    summary: 'Delete uploaded deployment facts',
  },
  'GET /clusters/:id/orchestrator/provisioning': {
    ...factsAnswer,
    id: 'getProvisioningFacts',
    summary: 'Show uploaded provisioning facts; an empty object when there are none',
    answers: { 200: provisioningFactsSchema },
  },
  'GET /clusters/:id/orchestrator/provisioning/defaults': {
    ...factsAnswer,
    id: 'getDefaultProvisioningFacts',
    summary: 'Show the provisioning facts computed from nodes',
    answers: { 200: provisioningFactsSchema },
  },
  'PUT /clusters/:id/orchestrator/provisioning': {
    ...upload,
    id: 'uploadProvisioningFacts',
    summary: 'Upload provisioning facts',
    body: provisioningFactsBody,
    answers: { 200: provisioningFactsSchema },
  },
  'DELETE /clusters/:id/orchestrator/provisioning': {
    ...deleted,
    id: 'deleteProvisioningFacts',
    summary: 'Delete uploaded provisioning facts',
  },
});
