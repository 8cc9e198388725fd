import { z } from 'zod';
import { listOf } from '../../schemas/primitives.js';
import { diagnosticSchema } from '../../schemas/problem.js';

const made = z.strictObject({ id: z.int(), name: z.string(), version: z.string() });

export const packageSchema = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    version: z.string(),
    package_version: z.string().describe('Version of the format.'),
    kind: z.string().describe('release or extension'),
    checksum: z.string().describe('SHA-256 of the archive.'),
    size: z.int().describe('Bytes of the archive.'),
    installed_at: z.string(),
    updated_at: z.string(),
    releases: listOf(made),
    plugins: listOf(made),
  })
  .meta({ id: 'Package' });

export const packageListSchema = listOf(packageSchema).meta({ id: 'PackageList' });

export const installedSchema = packageSchema
  .extend({
    created: z.boolean(),
    replaced: z.string().nullable().describe('The version that was replaced, if another one.'),
    warnings: listOf(diagnosticSchema),
  })
  .meta({ id: 'InstalledPackage' });

export const syncBody = z
  .strictObject({ ids: z.array(z.int().min(1)).optional().describe('Ids of plugins; none: all.') })
  .meta({ id: 'SyncPlugins' });
