import { z } from 'zod';
import { RELEASE_STATES } from '../../words.ts';
import { anyJson, nameText } from '../primitives.ts';
import { gone, LARGE_BODY, tagged } from '../route.ts';
import type { Wire } from '../wire.ts';
import { idNumber, idParams } from './parts.ts';

/** Any object. */
export const jsonObject = z.record(z.string(), anyJson);

/** The parts of a release, except its name; each is the package's own data. */
const releaseParts = {
  roles_metadata: jsonObject.describe('Role → its name, description, tags, conflicts, limits.'),
  tags_metadata: jsonObject.describe('Tag → `{has_primary}`.'),
  networks_metadata: jsonObject,
  network_roles_metadata: z.array(jsonObject),
  volumes_metadata: jsonObject.describe('`volumes` and `volumes_roles_mapping`.'),
  attributes_metadata: jsonObject.describe('Initial settings of clusters: `editable` and `generated`.'),
  vmware_attributes_metadata: jsonObject,
  node_attributes: jsonObject,
  nic_attributes: jsonObject,
  bond_attributes: jsonObject,
  modes_metadata: jsonObject,
  components_metadata: z.array(jsonObject),
  required_component_types: z.array(z.string()),
  modes: z.array(z.string()),
};

const name = nameText(255);
const version = nameText(255).describe('As `newton-10.0`.');

const newReleaseBody = z
  .strictObject({
    name,
    version,
    operating_system: nameText(255),
    description: z.string().nullable().optional(),
    state: z.enum(RELEASE_STATES).optional(),
    deployment_tasks: z.array(jsonObject).optional().describe('Tasks of its graph of type `default`.'),
    ...z.object(releaseParts).partial().shape,
  })
  .meta({ id: 'NewRelease' });

/** Read-only fields: they may be sent back unchanged. */
const readOnlyParts = {
  id: idNumber('release').optional(),
  is_deployable: z.boolean().optional(),
  roles: z.array(z.string()).optional(),
};

const releaseChangesBody = newReleaseBody.partial().extend(readOnlyParts).meta({ id: 'ReleaseChanges' });

export const releaseSchema = z
  .strictObject({
    id: idNumber('release'),
    name: z.string(),
    version: z.string(),
    operating_system: z.string(),
    description: z.string().nullable(),
    state: z.enum(RELEASE_STATES),
    is_deployable: z.boolean().describe('Whether clusters can be created from it.'),
    modes: z.array(z.string()),
    modes_metadata: anyJson,
    roles: z.array(z.string()).describe('Names of its roles.'),
    roles_metadata: anyJson,
    tags_metadata: anyJson,
    network_roles_metadata: anyJson,
    volumes_metadata: anyJson,
    components_metadata: anyJson,
    required_component_types: anyJson,
    vmware_attributes_metadata: anyJson,
    node_attributes: anyJson,
    nic_attributes: anyJson,
    bond_attributes: anyJson,
  })
  .meta({ id: 'Release' });

const releaseListSchema = z.array(releaseSchema).meta({ id: 'ReleaseList' });

export type ReleaseAnswer = Wire<typeof releaseSchema>;

/** Any object, as a body: opaque to the API. */
export const jsonObjectBody = jsonObject.meta({ id: 'JsonFields', description: 'Any JSON object.' });

/** Any object, as an answer. */
export const jsonObjectSchema = z.looseObject({}).meta({ id: 'JsonObject', description: 'Any JSON object.' });

const componentListSchema = z.array(z.looseObject({})).meta({ id: 'ComponentList' });

const params = idParams('release');
const part = { access: 'viewer', params, answers: { 200: jsonObjectSchema } } as const;
const changedPart = { ...part, access: 'admin', body: jsonObjectBody, ...LARGE_BODY } as const;

export const releaseRoutes = tagged('releases', {
  'GET /releases': {
    id: 'listReleases',
    access: 'viewer',
    summary: 'List releases, from which clusters are created',
    answers: { 200: releaseListSchema },
  },
  'POST /releases': {
    id: 'createRelease',
    access: 'admin',
    summary: 'Create a release by hand; packages bring theirs',
    body: newReleaseBody,
    ...LARGE_BODY,
    answers: { 201: releaseSchema },
    also: [409],
  },
  'GET /releases/:id': {
    id: 'getRelease',
    access: 'viewer',
    summary: 'Show a release',
    params,
    answers: { 200: releaseSchema },
  },
  'PUT /releases/:id': {
    id: 'changeRelease',
    access: 'admin',
    summary: 'Change the given fields of a release',
    params,
    body: releaseChangesBody,
    ...LARGE_BODY,
    answers: { 200: releaseSchema },
    also: [409],
  },
  'DELETE /releases/:id': {
    id: 'deleteRelease',
    access: 'admin',
    summary: 'Delete an unused release with its graphs',
    params,
    answers: gone,
    also: [409],
  },
  'GET /releases/:id/networks': {
    ...part,
    id: 'getReleaseNetworks',
    summary: "Show the initial networks of a release's clusters",
  },
  'PUT /releases/:id/networks': {
    ...changedPart,
    id: 'replaceReleaseNetworks',
    summary: "Replace the initial networks of a release's clusters",
  },
  'GET /releases/:id/attributes_metadata': {
    ...part,
    id: 'getReleaseSettings',
    summary: "Show the initial settings of a release's clusters",
  },
  'PUT /releases/:id/attributes_metadata': {
    ...changedPart,
    id: 'replaceReleaseSettings',
    summary: "Replace the initial settings of a release's clusters",
  },
  'GET /releases/:id/components': {
    id: 'listReleaseComponents',
    access: 'viewer',
    summary: 'List the components of a release and of compatible plugins',
    params,
    answers: { 200: componentListSchema },
  },
});
