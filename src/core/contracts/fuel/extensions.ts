import { z } from 'zod';
import { tagged } from '../route.ts';
import { idParams } from './parts.ts';

const extensionSchema = z
  .strictObject({
    name: z.string(),
    version: z.string().nullable().describe('As declared by the extension.'),
    description: z.string(),
    provides: z.array(z.string()).describe('What it extends: `tags`.'),
  })
  .meta({ id: 'Extension' });

/** Extensions are modules of the service; they act on all clusters. */
export const extensionRoutes = tagged('service', {
  'GET /extensions': {
    id: 'listExtensions',
    access: 'viewer',
    summary: 'List the extensions of the service, from the modules in the setting `tags.extensions`',
    answers: { 200: z.array(extensionSchema).meta({ id: 'ExtensionList' }) },
    also: [400],
  },
  'GET /clusters/:id/extensions': {
    id: 'listClusterExtensions',
    access: 'viewer',
    summary: 'List the names of the extensions that act on a cluster (always all of them)',
    params: idParams('cluster'),
    answers: { 200: z.array(z.string()) },
  },
});
