import { z } from 'zod';
import { OWNER_KINDS } from '../../words.ts';
import { takesNames } from '../named-ids.ts';
import { anyJson, nameText } from '../primitives.ts';
import { gone, tagged } from '../route.ts';
import type { Wire } from '../wire.ts';
import { idNumber, idParams, idText, namedPartRoutes } from './parts.ts';

const tagName = nameText(1000);

const tagMeta = z
  .looseObject({ has_primary: z.boolean().describe('One of the nodes with the tag is its primary.') })
  .describe('Metadata of the tag; keys not listed here are kept.');

export const tagBody = z
  .strictObject({
    name: tagName,
    meta: tagMeta,
    role: z.string().optional().describe('A role that includes the tag from now on.'),
  })
  .meta({ id: 'NewTag' });

export const tagSchema = z.strictObject({ name: z.string(), meta: anyJson }).meta({ id: 'Tag' });
const tagListSchema = z.array(tagSchema).meta({ id: 'TagList' });

const owner = z.strictObject({ kind: z.enum(OWNER_KINDS), id: z.int() });
export const ownedTagSchema = z
  .strictObject({
    id: z.int().nullable(),
    name: z.string(),
    meta: anyJson,
    owner,
    read_only: z.boolean().describe('It belongs to a package or role, and cannot be changed.'),
  })
  .meta({ id: 'OwnedTag' });
const ownedTagListSchema = z.array(ownedTagSchema).meta({ id: 'OwnedTagList' });

const assignmentSchema = z
  .strictObject({
    node_id: z.int(),
    tag: z.string(),
    source: z.enum(['role', 'user', 'extension']).describe('Who assigned it.'),
    role: z.string().nullable().describe('The role that includes it.'),
  })
  .meta({ id: 'TagAssignment' });
export const assignmentListSchema = z.array(assignmentSchema).meta({ id: 'TagAssignmentList' });

const tagChangeSchema = z
  .strictObject({
    node_id: z.int(),
    role: z.string().describe('The role whose tags have changed.'),
    given: z.array(z.string()).describe('Tags that the node gets.'),
    lost: z.array(z.string()).describe('Tags that it loses, unless another source assigned them.'),
  })
  .meta({ id: 'TagChange' });
export const tagChangeListSchema = z.array(tagChangeSchema).meta({ id: 'TagChangeList' });

const tagNamesBody = z.strictObject({ tags: z.array(tagName).min(1) }).meta({ id: 'TagNames' });

const assignBody = z
  .strictObject({ nodes: z.array(idNumber('node')).min(1), tags: z.array(tagName).min(1) })
  .meta({ id: 'TagsOfNodes' });

/** The query form of the specification: `?cluster_id=1&tag_name=swift&role=swift&meta={"has_primary":true}`. */
const tagQuery = z.strictObject({
  cluster_id: idText('cluster').optional(),
  release_id: idText('release').optional(),
  plugin_id: idText('plugin').optional(),
  node_id: takesNames(z.string().max(10_000), 'node', true).optional().describe('Ids of nodes, separated by commas.'),
  tag_name: z.string().max(1000).optional().describe('Name of a tag; quotes around it are ignored.'),
  tags: z.string().max(10_000).optional().describe("Names of tags: mysql,neutron or ['mysql', 'neutron']."),
  role: z.string().max(1000).optional().describe('A role that includes the tag from now on.'),
  meta: z.string().max(100_000).optional().describe('The metadata as JSON, e.g. {"has_primary": true}.'),
});
export type TagQuery = Wire<typeof tagQuery>;

const tagsOf = (kind: 'release' | 'cluster', list: string) =>
  namedPartRoutes(
    kind,
    'tag',
    kind === 'release' ? 'admin' : 'operator',
    { one: tagSchema, list: tagListSchema, body: tagBody },
    {
      list,
      replace: `Change a user-made tag of a ${kind}`,
      delete: `Delete a user-made tag of a ${kind}, and remove it from all nodes`,
    },
  );

/** Tags of releases and clusters, by path; those of plugins can be read. */
export const TAGS_OF = {
  release: tagsOf('release', 'List the tags of a release'),
  cluster: tagsOf('cluster', 'List the tags of a cluster, with those of its release and plugins'),
};

/** A tag given to a role of a release moves its tasks on all clusters. */
const ofPackages = 'Tags of a release or plugin are changed by admins only.';

const changed = { access: 'operator', answers: { 200: assignmentListSchema } } as const;
const ofNode = { ...changed, params: idParams('node'), body: tagNamesBody, also: [409] } as const;
const ofNodes = { ...changed, body: assignBody, also: [404, 409] } as const;

/** Which nodes have which tags, and the forms of the specification: everything in the query, at `/tags`. */
export const tagRoutes = tagged('tags', {
  'GET /plugins/:id/tags': {
    id: 'listPluginTags',
    access: 'viewer',
    summary: 'List the tags of a plugin',
    params: idParams('plugin'),
    answers: { 200: tagListSchema },
  },
  'GET /clusters/:id/tag_assignments': {
    id: 'listTagAssignments',
    access: 'viewer',
    summary: "List the tags of a cluster's nodes with their sources",
    params: idParams('cluster'),
    answers: { 200: assignmentListSchema },
  },
  'GET /clusters/:id/tag_changes': {
    id: 'listTagChanges',
    access: 'viewer',
    summary: 'List role tag changes that the nodes of a cluster get with the next run',
    params: idParams('cluster'),
    answers: { 200: tagChangeListSchema },
  },
  'POST /clusters/:id/tag_changes': {
    id: 'applyTagChanges',
    access: 'operator',
    summary: 'Apply the pending role tag changes of a cluster now, and list them',
    params: idParams('cluster'),
    answers: { 200: tagChangeListSchema },
  },
  'GET /nodes/:id/tags': {
    id: 'listNodeTags',
    access: 'viewer',
    summary: 'List the tags of a node with their sources',
    params: idParams('node'),
    answers: { 200: assignmentListSchema },
  },
  'POST /nodes/:id/tags': { ...ofNode, id: 'assignNodeTags', summary: 'Assign more tags to a node' },
  'DELETE /nodes/:id/tags': { ...ofNode, id: 'unassignNodeTags', summary: 'Remove tags from a node' },
  'GET /tags': {
    id: 'queryTags',
    access: 'viewer',
    summary: 'List tags of a release, cluster or plugin, or show one',
    query: tagQuery,
    answers: { 200: ownedTagListSchema },
    also: [404],
  },
  'POST /tags': {
    id: 'createTagByQuery',
    access: 'operator',
    summary:
      'Create a tag: ?cluster_id=1&tag_name=swift&meta={"has_primary":true}; or assign some: ?node_id=1&tags=mysql',
    description: ofPackages,
    query: tagQuery,
    answers: { 200: assignmentListSchema, 201: ownedTagSchema },
    also: [404, 409],
  },
  'PUT /tags': {
    id: 'changeTagByQuery',
    access: 'operator',
    summary: 'Change the metadata of a tag, or assign tags to nodes',
    description: ofPackages,
    query: tagQuery,
    answers: { 200: z.union([ownedTagSchema, assignmentListSchema]) },
    also: [404, 409],
  },
  'DELETE /tags': {
    id: 'deleteTagByQuery',
    access: 'operator',
    summary: 'Delete a user-made tag, or remove tags from nodes',
    description: ofPackages,
    query: tagQuery,
    answers: gone,
    also: [404, 409],
  },
  'POST /tags/assign': { ...ofNodes, id: 'assignTags', summary: 'Assign tags to several nodes, all or none' },
  'POST /tags/unassign': { ...ofNodes, id: 'unassignTags', summary: 'Remove tags from several nodes' },
});
