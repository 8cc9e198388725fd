import {
  aliveSchema,
  auditPageSchema,
  auditQuery,
  healthSchema,
  jsonSchemaSchema,
  maasCheckSchema,
  schemaFileListSchema,
  schemaFileParams,
  versionSchema,
} from '../../core/contracts/service.js';
import { didYouMean } from '../../core/did-you-mean.js';
import { exportJsonSchemas } from '../../documents/index.js';
import { problem } from '../../ops/index.js';
import { viewAuditPage } from '../views/run.js';
import { viewHealth, viewMaasCheck } from '../views/service.js';
import { problems, type RouteGroup } from './route-group.js';

const tags = ['service'];

export const healthRoutes: RouteGroup = async (app, { operations: { health } }) => {
  // The same two paths are there without the prefix; describing them once is enough.
  const hide = app.prefix === '';

  app.get('/health', {
    schema: {
      hide,
      operationId: 'getHealth',
      summary: 'Look at everything the service needs',
      tags,
      response: {
        200: healthSchema.describe('Runs can be started; `status` is `degraded` when a worker or MAAS is away.'),
        503: healthSchema.describe('The store or Temporal is away.'),
      },
    },
    handler: async (_request, reply) => {
      const shown = viewHealth(await health.check());
      return reply.code(shown.status === 'unavailable' ? 503 : 200).send(shown);
    },
  });

  app.get('/health/live', {
    schema: {
      hide,
      operationId: 'getLiveness',
      summary: 'Whether this process answers; looks at nothing else',
      tags,
      response: { 200: aliveSchema },
    },
    handler: async () => ({ status: 'ok' as const }),
  });
};

export const serviceRoutes: RouteGroup = async (app, { operations: { health, audit }, version, tokensOn = false }) => {
  app.get('/version', {
    schema: {
      operationId: 'getVersion',
      summary: 'Name and version of the service',
      tags,
      response: { 200: versionSchema },
    },
    handler: async () => ({
      name: 'sitewright',
      version,
      auth_required: tokensOn,
      release: version,
      api: '1.0',
      feature_groups: [],
    }),
  });

  app.get('/maas/check', {
    schema: {
      operationId: 'checkMaas',
      summary: 'Prove address, key and permissions at MAAS, and count its machines by state',
      tags,
      response: { 200: maasCheckSchema, ...problems(502, 503) },
    },
    handler: async () => viewMaasCheck(await health.maas()),
  });

  const schemas = exportJsonSchemas();

  app.get('/schemas', {
    schema: {
      operationId: 'listSchemas',
      summary: 'List the JSON Schemas of documents, for editors',
      tags,
      response: { 200: schemaFileListSchema },
    },
    handler: async () => ({
      items: Object.entries(schemas).map(([file, { title }]) => ({
        file,
        title: String(title ?? file),
        url: `/api/v1/schemas/${file}`,
      })),
    }),
  });

  app.get('/schemas/:file', {
    schema: {
      operationId: 'getSchema',
      summary: 'Read a JSON Schema',
      tags,
      params: schemaFileParams,
      response: { 200: jsonSchemaSchema, ...problems(400, 404) },
    },
    handler: async (request) => {
      const { file } = request.params;
      const schema = Object.hasOwn(schemas, file) ? schemas[file] : undefined;
      if (schema) return schema;
      const hint = didYouMean(file, Object.keys(schemas)) ?? 'GET /api/v1/schemas lists them.';
      throw problem('not-found', `there is no schema '${file}'`, { hint });
    },
  });

  app.get('/audit', {
    schema: {
      operationId: 'listAudit',
      summary: 'List who did what, when and why, newest first',
      tags,
      querystring: auditQuery,
      response: { 200: auditPageSchema, ...problems(400, 503) },
    },
    handler: async (request) => viewAuditPage(await audit.list(request.query)),
  });
};
