import { z } from 'zod';
import { diagnosticSchema } from '../problem.ts';
import { gone, media, tagged } from '../route.ts';
import { flagText, idParams } from './parts.ts';

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

const packageListSchema = z.array(packageSchema).meta({ id: 'PackageList' });

export const installedSchema = packageSchema
  .extend({
    created: z.boolean(),
    replaced: z.string().nullable().describe('The version it replaced, if different.'),
    warnings: z.array(diagnosticSchema),
  })
  .meta({ id: 'InstalledPackage' });

const syncBody = z
  .strictObject({ ids: z.array(z.int().min(1)).optional().describe('Ids of plugins. Default: all.') })
  .meta({ id: 'SyncPlugins' });

/** No setting takes larger ones; a package of data has one hundredth of it. */
const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;

const params = idParams('package');

export const packageRoutes = tagged('packages', {
  'GET /packages': {
    id: 'listPackages',
    access: 'viewer',
    summary: 'List installed packages',
    answers: { 200: packageListSchema },
  },
  'POST /packages': {
    id: 'installPackage',
    access: 'admin',
    summary: 'Install or update a package; the body is the archive',
    description:
      'Completely or not at all. 201 if it is new, 200 if it replaced an installed version. An older version than the installed one requires force.',
    query: z.strictObject({
      force: flagText.optional().describe('Allow an older version, or replace manually created objects.'),
      beside: flagText
        .optional()
        .describe('Keep other versions of its series; otherwise it replaces one with the same first two numbers.'),
    }),
    upload: true,
    bodyLimit: MAX_ARCHIVE_BYTES,
    answers: { 200: installedSchema, 201: installedSchema },
    also: [409],
  },
  'GET /packages/:id': {
    id: 'getPackage',
    access: 'viewer',
    summary: 'Show an installed package',
    params,
    answers: { 200: packageSchema },
  },
  'GET /packages/:id/archive': {
    id: 'getPackageArchive',
    budget: 'transfer',
    access: 'viewer',
    summary: 'Download the archive of an installed package',
    params,
    answers: { 200: media('application/octet-stream', 'The archive, a .tar.gz.') },
  },
  'DELETE /packages/:id': {
    id: 'removePackage',
    access: 'admin',
    summary: 'Remove a package with its releases and plugin; refused while a cluster uses them',
    params,
    answers: gone,
    also: [409],
  },
  'POST /packages/sync': {
    id: 'syncPackages',
    access: 'admin',
    summary: 'Read packages again, from the package folder or the store, and update everything to match',
    body: syncBody,
    answers: { 200: packageListSchema },
    also: [404, 409],
  },
  'POST /plugins/sync': {
    id: 'syncPlugins',
    access: 'admin',
    summary: "The same, on the path that Fuel's clients use",
    body: syncBody.nullable(),
    answers: { 200: z.strictObject({}).describe('Done.') },
    also: [404, 409],
    tag: 'plugins',
  },
});
