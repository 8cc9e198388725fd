import { z } from 'zod';
import { gone, LARGE_BODY, tagged } from '../route.ts';
import type { Wire } from '../wire.ts';
import { idNumber, idParams } from './parts.ts';
import { jsonObject } from './releases.ts';

const pluginSchema = z
  .looseObject({
    id: idNumber('plugin'),
    name: z.string(),
    version: z.string(),
    title: z.string(),
    package_version: z.string(),
    releases: z.array(z.looseObject({})).describe('Releases it extends: os, version, mode, folders.'),
    tags_metadata: jsonObject.describe('Tag → `{has_primary}`: tags it adds to clusters that enable it.'),
  })
  .meta({ id: 'Plugin', description: 'A plugin, with the metadata of its package.' });

const pluginListSchema = z.array(pluginSchema).meta({ id: 'PluginList' });

const pluginChangesBody = z
  .looseObject({
    name: z.string().min(1).optional().describe('Must equal the current name: a plugin cannot be renamed.'),
    version: z.string().min(1).max(32).optional(),
    title: z.string().min(1).optional(),
    package_version: z.string().min(1).optional(),
    releases: z.array(z.looseObject({ version: z.string() })).optional(),
  })
  .meta({ id: 'PluginChanges' });

export type PluginAnswer = Wire<typeof pluginSchema>;

const params = idParams('plugin');

export const pluginRoutes = tagged('plugins', {
  'GET /plugins': {
    id: 'listPlugins',
    access: 'viewer',
    summary: 'List installed plugins',
    answers: { 200: pluginListSchema },
  },
  'GET /plugins/:id': {
    id: 'getPlugin',
    access: 'viewer',
    summary: 'Show a plugin',
    params,
    answers: { 200: pluginSchema },
  },
  'PUT /plugins/:id': {
    id: 'changePlugin',
    access: 'admin',
    summary: 'Change the given fields of a plugin',
    params,
    body: pluginChangesBody,
    ...LARGE_BODY,
    answers: { 200: pluginSchema },
    also: [409],
  },
  'DELETE /plugins/:id': {
    id: 'deletePlugin',
    access: 'admin',
    summary: 'Delete a plugin that no cluster has enabled',
    params,
    answers: gone,
    also: [409],
  },
});
