import { z } from 'zod';
import { anyJson } from '../../../core/contracts/primitives.js';
import type { Wire } from '../../../core/contracts/wire.js';
import { idNumber, idText } from '../request-parts.js';

const tagName = z.string().min(1).max(1000);

const tagMeta = z
  .looseObject({ has_primary: z.boolean().describe('One of the nodes that have the tag is its primary.') })
  .describe('What the tag is; keys that are not named here are kept.');

export const tagBody = z
  .strictObject({
    name: tagName,
    meta: tagMeta,
    role: z.string().optional().describe('A role that brings it from now on.'),
  })
  .meta({ id: 'NewTag' });

export const tagSchema = z.strictObject({ name: z.string(), meta: anyJson }).meta({ id: 'Tag' });
export const tagListSchema = z.array(tagSchema).meta({ id: 'TagList' });

const owner = z.strictObject({ kind: z.enum(['release', 'cluster', 'plugin']), id: z.int() });
export const ownedTagSchema = z
  .strictObject({
    id: z.int().nullable(),
    name: z.string(),
    meta: anyJson,
    owner,
    read_only: z.boolean().describe('It came with a package or role, and cannot be changed.'),
  })
  .meta({ id: 'OwnedTag' });
export const ownedTagListSchema = z.array(ownedTagSchema).meta({ id: 'OwnedTagList' });

export const assignmentSchema = z
  .strictObject({
    node_id: z.int(),
    tag: z.string(),
    source: z.enum(['role', 'user', 'extension']).describe('Who gave it.'),
    role: z.string().nullable().describe('The role it came with.'),
  })
  .meta({ id: 'TagAssignment' });
export const assignmentListSchema = z.array(assignmentSchema).meta({ id: 'TagAssignmentList' });

export const tagNamesBody = z.strictObject({ tags: z.array(tagName).min(1) }).meta({ id: 'TagNames' });

export const assignBody = z
  .strictObject({ nodes: z.array(idNumber('node')).min(1), tags: z.array(tagName).min(1) })
  .meta({ id: 'TagsOfNodes' });

/** The query form of the specification: `?cluster_id=1&tag_name=swift&role=swift&meta={"has_primary":true}`. */
export const tagQuery = z.strictObject({
  cluster_id: idText('cluster').optional(),
  release_id: idText('release').optional(),
  plugin_id: idText('plugin').optional(),
  node_id: z.string().max(10_000).optional().describe('Ids of nodes, with commas between.'),
  tag_name: z.string().max(1000).optional().describe('Name of a tag; quotes around it do not count.'),
  tags: z.string().max(10_000).optional().describe("Names of tags: mysql,neutron or ['mysql', 'neutron']."),
  role: z.string().max(1000).optional().describe('A role that brings the tag from now on.'),
  meta: z.string().max(100_000).optional().describe('The metadata as JSON, e.g. {"has_primary": true}.'),
});
export type TagQuery = Wire<typeof tagQuery>;
