import { z } from 'zod';

const filter = z.looseObject({});

const asset = z
  .looseObject({
    type: z.enum(['unit', 'file', 'pkg_list']),
    path: z.string().regex(/^\/.+/, 'must be a path that begins with /').optional(),
    permissions: z.union([z.string().regex(/\d{3}/, 'must be three digits, such as 644'), z.int()]).optional(),
    data: z.unknown().optional(),
    location: z.string().optional(),
  })
  .refine(({ type, data, location }) => type !== 'pkg_list' || isPackages(data) || location !== undefined, {
    error: 'must have data, a mapping of packages, or a location',
  });

const isPackages = (data: unknown): boolean => typeof data === 'object' && data !== null && !Array.isArray(data);

/** `data` of drydock/BootAction/v1, as far as Drydock checks it: boot actions are not run here. */
export const bootActionSchema = z.looseObject({
  signaling: z.boolean().optional(),
  assets: z.array(asset).min(1),
  node_filter: z
    .looseObject({
      filter_set_type: z.enum(['intersection', 'union']),
      filter_set: z.array(filter),
    })
    .optional(),
});

/** `data` of drydock/Region/v1. */
export const regionSchema = z.strictObject({
  tag_definitions: z
    .array(z.looseObject({ tag: z.string(), definition_type: z.enum(['lshw_xpath']), definition: z.string() }))
    .optional(),
  authorized_keys: z.array(z.string()).optional(),
  repositories: z.record(z.string(), z.unknown()).optional(),
});

export type BootActionData = z.infer<typeof bootActionSchema>;
export type RegionData = z.infer<typeof regionSchema>;
