import { z } from 'zod';
import type { Need } from '../../access.ts';
import { anyJson } from '../primitives.ts';
import type { Wire } from '../wire.ts';
import { roleRolloutSchema } from '../written-rollout.ts';
import { namedPartRoutes } from './parts.ts';

const identifier = z
  .string()
  .max(1000)
  .regex(/^[a-zA-Z0-9_-]+$/, 'must have letters, digits, _ and - only');

const expression = z.union([z.string(), z.looseObject({})]);

/** A role as package authors write it: keys listed here are checked, others are kept. */
const roleMeta = z.looseObject({
  name: z.string().min(1).describe('Display name.'),
  description: z.string(),
  tags: z.array(identifier).optional().describe('Tags it adds. Default: one tag with the name of the role.'),
  conflicts: z.union([z.literal('*'), z.array(z.string())]).optional(),
  has_primary: z.boolean().optional(),
  public_ip_required: z.boolean().optional(),
  public_for_dvr_required: z.boolean().optional(),
  weight: z.int().optional(),
  update_required: z.array(z.string()).optional(),
  update_once: z.array(z.string()).optional(),
  limits: z.looseObject({}).optional(),
  restrictions: z.array(expression).optional(),
  rollout: roleRolloutSchema.nullable().optional(),
});

const roleBody = z
  .strictObject({
    name: identifier,
    meta: roleMeta,
    volumes_roles_mapping: z
      .array(z.strictObject({ id: z.string().min(1), allocate_size: z.enum(['all', 'min', 'full-disk']) }))
      .describe('Volumes of its nodes; at least one, unless the role has none.'),
  })
  .meta({ id: 'NewRole' });

const roleSchema = z
  .strictObject({ name: z.string(), meta: anyJson, volumes_roles_mapping: anyJson })
  .meta({ id: 'Role' });

const roleListSchema = z.array(roleSchema).meta({ id: 'RoleList' });

export type RoleBody = Wire<typeof roleBody>;

/** Roles of releases, and of clusters: there also those of its release and plugins, which can only be read. */
const rolesOf = (kind: 'release' | 'cluster', write: Need) =>
  namedPartRoutes(
    kind,
    'role',
    write,
    { one: roleSchema, list: roleListSchema, body: roleBody },
    {
      list: `List the roles of a ${kind}`,
      replace: `Replace a role of a ${kind}`,
      delete: `Delete a role of a ${kind} that no node has`,
    },
  );

export const ROLES_OF = {
  release: rolesOf('release', 'admin'),
  cluster: rolesOf('cluster', 'operator'),
};
