import { z } from 'zod';
import { diagnosticSchema } from '../../../core/contracts/problem.js';

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
    releases: z.array(made),
    plugins: z.array(made),
  })
  .meta({ id: 'Package' });

export const packageListSchema = z.array(packageSchema).meta({ id: 'PackageList' });

export const installedSchema = packageSchema
  .extend({
    created: z.boolean(),
    replaced: z.string().nullable().describe('The version that was replaced, if another one.'),
    warnings: z.array(diagnosticSchema),
  })
  .meta({ id: 'InstalledPackage' });

export const syncBody = z
  .strictObject({ ids: z.array(z.int().min(1)).optional().describe('Ids of plugins; none: all.') })
  .meta({ id: 'SyncPlugins' });
