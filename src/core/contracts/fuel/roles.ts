import { z } from 'zod';
import type { Need } from '../../access-role.js';
import { anyJson } from '../primitives.js';
import { gone, tagged } from '../route.js';
import type { Wire } from '../wire.js';
import { idParams, namedParams } from './parts.js';

const identifier = z
  .string()
  .max(1000)
  .regex(/^[a-zA-Z0-9_-]+$/, 'must have letters, digits, _ and - only');

const expression = z.union([z.string(), z.looseObject({})]);

/** A role as package authors write it: what is named here is checked, other keys are kept. */
const roleMeta = z.looseObject({
  name: z.string().min(1).describe('What people call it.'),
  description: z.string(),
  tags: z.array(identifier).optional().describe('Tags it brings; none given: one tag, its own name.'),
  conflicts: z.union([z.literal('*'), z.array(z.string())]).optional(),
  has_primary: z.boolean().optional(),
  public_ip_required: z.boolean().optional(),
  public_for_dvr_required: z.boolean().optional(),
  weight: z.int().optional(),
  update_required: z.array(z.string()).optional(),
  update_once: z.array(z.string()).optional(),
  limits: z.looseObject({}).optional(),
  restrictions: z.array(expression).optional(),
});

export const roleBody = z
  .strictObject({
    name: identifier,
    meta: roleMeta,
    volumes_roles_mapping: z
      .array(z.strictObject({ id: z.string().min(1), allocate_size: z.enum(['all', 'min', 'full-disk']) }))
      .describe('Volumes its nodes get; at least one, but for a role that has none.'),
  })
  .meta({ id: 'NewRole' });

export const roleSchema = z
  .strictObject({ name: z.string(), meta: anyJson, volumes_roles_mapping: anyJson })
  .meta({ id: 'Role' });

export const roleListSchema = z.array(roleSchema).meta({ id: 'RoleList' });

export type RoleBody = Wire<typeof roleBody>;

/** Roles of releases, and of clusters: there also those of its release and plugins, which can only be read. */
const rolesOf = <const Id extends string>(kind: 'release' | 'cluster', id: Id, write: Need) =>
  tagged('roles', {
    'GET /roles': {
      id: `list${id}Roles`,
      access: 'viewer',
      summary: `List the roles of a ${kind}`,
      params: idParams(kind),
      answers: { 200: roleListSchema },
    },
    'POST /roles': {
      id: `create${id}Role`,
      access: write,
      summary: `Create a role of a ${kind}`,
      params: idParams(kind),
      body: roleBody,
      answers: { 201: roleSchema },
      also: [409],
    },
    'GET /roles/:name': {
      id: `get${id}Role`,
      access: 'viewer',
      summary: `Show a role of a ${kind}`,
      params: namedParams(kind, 'role'),
      answers: { 200: roleSchema },
    },
    'PUT /roles/:name': {
      id: `replace${id}Role`,
      access: write,
      summary: `Replace a role of a ${kind}`,
      params: namedParams(kind, 'role'),
      body: roleBody,
      answers: { 200: roleSchema },
      also: [409],
    },
    'DELETE /roles/:name': {
      id: `delete${id}Role`,
      access: write,
      summary: `Delete a role of a ${kind} that no node has`,
      params: namedParams(kind, 'role'),
      answers: gone,
      also: [409],
    },
  });

export const ROLES_OF = {
  release: rolesOf('release', 'Release', 'admin'),
  cluster: rolesOf('cluster', 'Cluster', 'operator'),
};
