import { z } from 'zod';
import type { Wire } from '../../../core/contracts/wire.js';
import { idNumber } from '../request-parts.js';

export const pluginSchema = z
  .looseObject({
    id: idNumber('plugin'),
    name: z.string(),
    version: z.string(),
    title: z.string(),
    package_version: z.string(),
    releases: z.array(z.looseObject({})).describe('Releases it extends: os, version, mode, folders.'),
  })
  .meta({ id: 'Plugin', description: 'A plugin, with all that its package says of it.' });

export const pluginListSchema = z.array(pluginSchema).meta({ id: 'PluginList' });

export const pluginChangesBody = z
  .looseObject({
    name: z.string().min(1).optional().describe('As it is: a plugin is not renamed.'),
    version: z.string().min(1).max(32).optional(),
    title: z.string().min(1).optional(),
    package_version: z.string().min(1).optional(),
    releases: z.array(z.looseObject({ version: z.string() })).optional(),
  })
  .meta({ id: 'PluginChanges' });

export type PluginAnswer = Wire<typeof pluginSchema>;
