import { z } from 'zod';
import { anyJson, pageOf, pageQuery, timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import type { Wire } from './wire.ts';

const healthSchema = z
  .strictObject({
    status: z
      .enum(['ok', 'degraded', 'unavailable'])
      .describe(
        'degraded: the API works, but no worker is running or MAAS is unreachable. unavailable: runs cannot be started.',
      ),
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
    auth_required: z.boolean().describe('Whether a token is required (`access.tokens`).'),
    release: z.string().describe("Alias of `version`, for Fuel's clients."),
    api: z.string().describe('Version of the API.'),
    feature_groups: z.array(z.string()).describe("Feature groups, for Fuel's clients."),
  })
  .meta({ id: 'Version' });

export const maasCheckSchema = z
  .strictObject({
    ok: z.boolean(),
    root: z.string(),
    version: z
      .strictObject({ version: z.string(), subversion: z.string(), capabilities: z.array(z.string()) })
      .optional(),
    user: z
      .strictObject({
        username: z.string(),
        edits_machines: z.boolean().describe('May commission, configure and see all machines.'),
      })
      .optional(),
    machines: z
      .array(z.strictObject({ status: z.int(), name: z.string(), count: z.int() }))
      .optional()
      .describe('Machines by state, most frequent first.'),
    findings: z.array(
      z.strictObject({
        check: z.enum(['encryption', 'reachable', 'api-key', 'permissions', 'machines', 'images']),
        ok: z.boolean(),
        severity: z.enum(['error', 'warning']),
        message: z.string(),
        fix: z.string().optional(),
      }),
    ),
  })
  .meta({ id: 'MaasCheck' });

export const systemSchema = z
  .strictObject({
    store: z.string().describe('Kind and place of the store, without its password.'),
    since: timestamp.describe('When the store was created.'),
    temporal: z.string().describe('Address and namespace of Temporal.'),
    empty: z.boolean().describe('Whether it has neither site, cluster nor run.'),
  })
  .meta({ id: 'System', description: 'Which system answers.' });

const schemaFileListSchema = z
  .strictObject({ items: z.array(z.strictObject({ file: z.string(), title: z.string(), url: z.string() })) })
  .meta({ id: 'SchemaFileList' });

const schemaFileParams = z.strictObject({ file: z.string().min(1).max(200).describe('Name of the file.') });

/** A JSON Schema: an object of its own making. */
const jsonSchemaSchema = z.looseObject({}).meta({ id: 'JsonSchema', description: 'A JSON Schema (2020-12).' });

const auditQuery = pageQuery.extend({
  actor: z.string().min(1).max(1000).optional().describe('Who did it.'),
  action: z.string().min(1).max(1000).optional().describe('As `run.pause`.'),
  target: z.string().min(1).max(1000).optional().describe('The target, such as `site/dc1` or `run/ID`.'),
  since: timestamp.min(1).max(50).optional().describe('At or after this time, ISO 8601.'),
  until: timestamp.min(1).max(50).optional().describe('Before this time, ISO 8601.'),
});

const auditEntrySchema = z
  .strictObject({
    id: z.string(),
    at: timestamp,
    actor: z.string(),
    action: z.string(),
    target: z.string().describe('Kind and id, as `site/dc1`.'),
    target_kind: z.string(),
    target_id: z.string(),
    reason: z.string().nullable(),
    details: anyJson,
  })
  .meta({ id: 'AuditEntry', description: 'The audit trail: who did what, when and why.' });

export const auditPageSchema = pageOf(auditEntrySchema).meta({ id: 'AuditPage' });

export type Health = Wire<typeof healthSchema>;
export type MaasCheck = Wire<typeof maasCheckSchema>;

/** Also without the prefix, where load balancers and containers look for it. */
export const healthRoutes = tagged('service', {
  'GET /health': {
    id: 'getHealth',
    access: 'anyone',
    summary: 'Check everything that the service depends on',
    answers: {
      200: healthSchema.describe(
        'Runs can be started; `status` is `degraded` if no worker is running or MAAS is unreachable.',
      ),
      503: healthSchema.describe('The store or Temporal is unavailable.'),
    },
    alone: true,
  },
  'GET /health/live': {
    id: 'getLiveness',
    access: 'anyone',
    summary: 'Check that this process answers, and nothing else',
    answers: { 200: livenessSchema },
    alone: true,
  },
});

export const serviceRoutes = tagged('service', {
  'GET /version': {
    id: 'getVersion',
    access: 'anyone',
    summary: 'Show name and version of the service',
    answers: { 200: versionSchema },
    alone: true,
  },
  'GET /system': {
    id: 'getSystem',
    access: 'viewer',
    summary: 'Show which system this is: its store, since when, and its Temporal',
    answers: { 200: systemSchema },
  },
  'GET /maas/check': {
    id: 'checkMaas',
    access: 'viewer',
    summary: 'Check the address, key and permissions for MAAS, and count its machines by state',
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
    summary: 'List the audit trail, newest first',
    query: auditQuery,
    answers: { 200: auditPageSchema },
  },
});
