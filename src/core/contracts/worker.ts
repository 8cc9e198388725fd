import { z } from 'zod';
import { WORKER_VERSION_STATUSES } from '../words.ts';
import { timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import { operatorBody } from './runs.ts';
import type { Wire } from './wire.ts';

const workerVersionSchema = z
  .strictObject({
    version: z.string().describe('The build: version of the program, and a hash of its workflows.'),
    status: z.enum(WORKER_VERSION_STATUSES),
    open_runs: z.int().describe('Open workflows that only workers of this build can continue: runs, and their parts.'),
    workers: z
      .array(z.strictObject({ identity: z.string(), last_seen: timestamp }))
      .describe('Workers that polled in the last minutes.'),
    created_at: timestamp.describe('When its first worker was seen.'),
  })
  .meta({ id: 'WorkerVersion', description: 'A build of the workers.' });

const workerVersionListSchema = z
  .strictObject({ items: z.array(workerVersionSchema) })
  .meta({ id: 'WorkerVersionList' });

const workerVersionDetailSchema = workerVersionSchema
  .extend({
    current: z.string().nullable().describe('The build for new runs; null: workers without a version.'),
    open: z
      .array(z.strictObject({ workflow_id: z.string(), run: z.string(), type: z.string(), started_at: timestamp }))
      .describe('The first hundred of `open_runs`.'),
  })
  .meta({ id: 'WorkerVersionDetail' });

const drainBody = operatorBody
  .extend({
    move: z
      .boolean()
      .optional()
      .describe('Move its open runs to the current build now, instead of waiting until they end.'),
  })
  .meta({ id: 'DrainRequest' });

const drainAnswerSchema = workerVersionDetailSchema
  .extend({ moved: z.int().describe('Open workflows that were moved.') })
  .meta({ id: 'DrainAnswer' });

export type WorkerVersion = Wire<typeof workerVersionSchema>;
export type WorkerVersionDetail = Wire<typeof workerVersionDetailSchema>;

const params = z.strictObject({
  version: z.string().min(1).max(1000).describe('A build, or its part before the plus sign if only one build has it.'),
});

export const workerRoutes = tagged('service', {
  'GET /workers/versions': {
    id: 'listWorkerVersions',
    access: 'viewer',
    summary: 'List the builds of the workers, newest first; empty if workers have no versions',
    answers: { 200: workerVersionListSchema },
  },
  'GET /workers/versions/:version': {
    id: 'getWorkerVersion',
    access: 'viewer',
    summary: 'Show a build of the workers with its open runs',
    params,
    answers: { 200: workerVersionDetailSchema },
  },
  'POST /workers/versions/:version/drain': {
    id: 'drainWorkerVersion',
    access: 'admin',
    summary: 'Drain a build: send it no new runs, so that its workers can be stopped once its runs have ended',
    description: 'New runs go to the newest other build that has workers. It may be repeated.',
    params,
    body: drainBody,
    answers: { 200: drainAnswerSchema },
    also: [409],
  },
});
