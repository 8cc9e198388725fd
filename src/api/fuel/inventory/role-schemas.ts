import { z } from 'zod';
import { anyJson } from '../../../core/contracts/primitives.js';
import type { Wire } from '../../../core/contracts/wire.js';

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
