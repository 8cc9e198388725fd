import { z } from 'zod';
import { anyJson, pageOf, pageQuery, timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import type { Wire } from './wire.ts';

const healthSchema = z
  .strictObject({
    status: z
      .enum(['ok', 'degraded', 'unavailable'])
      .describe('degraded: the API works, but a worker or MAAS is away. unavailable: runs cannot be started.'),
    ok: z.boolean().describe('True when every check is ok.'),
    checks: z.array(
      z.strictObject({
        name: z.enum(['store', 'temporal', 'namespace', 'worker', 'maas']),
        ok: z.boolean(),
        message: z.string(),
        fix: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'Health' });

const livenessSchema = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Liveness' });

const versionSchema = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    auth_required: z.boolean().describe('Whether a token is needed (`access.tokens`).'),
    release: z.string().describe("The same as `version`; Fuel's clients read it."),
    api: z.string().describe('Version of the API.'),
    feature_groups: z.array(z.string()).describe("Sets of features that Fuel's clients ask for."),
  })
  .meta({ id: 'Version' });

export const maasCheckSchema = z
  .strictObject({
    ok: z.boolean(),
    root: z.string(),
    version: z
      .strictObject({ version: z.string(), subversion: z.string(), capabilities: z.array(z.string()) })
      .optional(),
    user: z.strictObject({ username: z.string(), is_superuser: z.boolean() }).optional(),
    machines: z
      .array(z.strictObject({ status: z.int(), name: z.string(), count: z.int() }))
      .optional()
      .describe('Machines by state, most first.'),
    findings: z.array(
      z.strictObject({
        check: z.enum(['reachable', 'api-key', 'permissions', 'machines', 'images']),
        ok: z.boolean(),
        severity: z.enum(['error', 'warning']),
        message: z.string(),
        fix: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'MaasCheck' });

const schemaFileListSchema = z
  .strictObject({ items: z.array(z.strictObject({ file: z.string(), title: z.string(), url: z.string() })) })
  .meta({ id: 'SchemaFileList' });

const schemaFileParams = z.strictObject({ file: z.string().min(1).max(200).describe('Name of the file.') });

/** A JSON Schema: an object of its own making. */
const jsonSchemaSchema = z.looseObject({}).meta({ id: 'JsonSchema', description: 'A JSON Schema (2020-12).' });

const auditQuery = pageQuery.extend({
  actor: z.string().min(1).max(1000).optional().describe('Who did it.'),
  action: z.string().min(1).max(1000).optional().describe('As `run.pause`.'),
  target: z.string().min(1).max(1000).optional().describe('As `site/dc1` or `run/ID`.'),
  since: timestamp.min(1).max(50).optional().describe('From this moment on, ISO 8601.'),
  until: timestamp.min(1).max(50).optional().describe('Before this moment, ISO 8601.'),
});

const auditEntrySchema = z
  .strictObject({
    id: z.string(),
    at: timestamp,
    actor: z.string(),
    action: z.string(),
    target: z.string(),
    reason: z.string().nullable(),
    details: anyJson,
  })
  .meta({ id: 'AuditEntry', description: 'Who did what, when and why.' });

export const auditPageSchema = pageOf(auditEntrySchema).meta({ id: 'AuditPage' });

export type Health = Wire<typeof healthSchema>;
export type MaasCheck = Wire<typeof maasCheckSchema>;

/** Also without the prefix, where load balancers and containers look for it. */
export const healthRoutes = tagged('service', {
  'GET /health': {
    id: 'getHealth',
    access: 'anyone',
    summary: 'Look at everything the service needs',
    answers: {
      200: healthSchema.describe('Runs can be started; `status` is `degraded` when a worker or MAAS is away.'),
      503: healthSchema.describe('The store or Temporal is away.'),
    },
    alone: true,
  },
  'GET /health/live': {
    id: 'getLiveness',
    access: 'anyone',
    summary: 'Whether this process answers; looks at nothing else',
    answers: { 200: livenessSchema },
    alone: true,
  },
});

export const serviceRoutes = tagged('service', {
  'GET /version': {
    id: 'getVersion',
    access: 'anyone',
    summary: 'Name and version of the service',
    answers: { 200: versionSchema },
    alone: true,
  },
  'GET /maas/check': {
    id: 'checkMaas',
    access: 'viewer',
    summary: 'Prove address, key and permissions at MAAS, and count its machines by state',
    answers: { 200: maasCheckSchema },
    also: [502],
  },
  'GET /schemas': {
    id: 'listSchemas',
    access: 'viewer',
    summary: 'List the JSON Schemas of documents, for editors',
    answers: { 200: schemaFileListSchema },
    alone: true,
  },
  'GET /schemas/:file': {
    id: 'getSchema',
    access: 'viewer',
    summary: 'Read a JSON Schema',
    params: schemaFileParams,
    answers: { 200: jsonSchemaSchema },
    alone: true,
  },
  'GET /audit': {
    id: 'listAudit',
    access: 'viewer',
    summary: 'List who did what, when and why, newest first',
    query: auditQuery,
    answers: { 200: auditPageSchema },
  },
});
