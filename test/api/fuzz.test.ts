import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Description,
  type Operation,
  operationsOf,
  requestTo,
  text,
  wellFormed,
} from '../rig/fuzz/api-requests.ts';
import { type ApiRig, apiAlone, type Method } from './api-rig.ts';

let rig: ApiRig;
let operations: readonly Operation[];

let description: Description;

beforeAll(async () => {
  rig = await apiAlone();
  await rig.ask('POST', '/api/v1/sites', { name: 'dc1' });
  const at = { kind: 'deploy_site', site: 'dc1', startedAt: '2026-01-01T00:00:00Z', phase: 'finished', sequence: 1 };
  await rig.store.runs.put({
    ...at,
    id: 'run1',
    workflowId: 'deploy_site:dc1',
    temporalRunId: 'run1',
    outcome: 'failed',
  });
  await rig.ask('POST', '/api/v1/releases', { name: 'r', version: '1', operating_system: 'x' });
  await rig.ask('POST', '/api/v1/clusters', { name: 'c', release_id: 1 });
  await rig.ask('POST', '/api/v1/nodes', { name: 'node01' });
  const graph = { name: 'g', tasks: [{ id: 't', type: 'shell', version: '2.1.0', roles: ['*'] }] };
  for (const owner of ['releases', 'clusters'])
    await rig.ask('POST', `/api/v1/${owner}/1/deployment_graphs/default`, graph);
  await rig.ask('POST', '/api/v1/sequences', { name: 's', release: 1, graphs: [{ type: 'default' }] });
  await rig.store.tags.create({ kind: 'release', id: 1 }, { name: 'web', hasPrimary: false });
  const { body } = await rig.ask('GET', '/openapi.json');
  description = body as Description;
  operations = operationsOf(description);
});
afterAll(() => rig.close());

/** Statuses that any route may answer with, whatever it does: the bytes may not even be a request to it. */
const ANYWHERE = [400, 404, 405, 413, 415];

it('any request to any route gets an answer that its description allows, and never an internal error', async () => {
  const seen = new Map<string, Set<number>>();
  // Generators of bodies are made once for each route: they are large.
  const made = new Map(
    operations.map((operation) => [
      operation,
      requestTo(description.components.schemas, operation).map((request) => ({ operation, request })),
    ]),
  );
  const requestsTo = (some: readonly Operation[]) => fc.oneof(...some.map((operation) => made.get(operation)!));
  const holds = (some: readonly Operation[]) =>
    fc.asyncProperty(requestsTo(some), async ({ operation, request }) => {
      // `..` as a name leads to another route before it is sent.
      fc.pre(!/\/\.\.?(?:[/?]|$)/.test(request.url));
      const answer = await rig.ask(request.method, request.url, request.body, request.headers);
      const name = `${operation.method} ${operation.path}`;
      seen.set(name, (seen.get(name) ?? new Set()).add(answer.status));
      expect([...operation.statuses, ...ANYWHERE], JSON.stringify(answer.body)).toContain(answer.status);
      if (answer.status >= 500) expect(answer.status, JSON.stringify(answer.body)).toBe(503);
      if (answer.status < 400 || operation.path.endsWith('/health')) return;
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.body).toMatchObject({ status: answer.status, detail: expect.stringMatching(/./) });
      if (answer.status === 400) expect(answer.body.hint ?? answer.body.errors, answer.body.detail).toBeTruthy();
    });
  const numRuns = Number(process.env.FUZZ_RUNS ?? 3_000);
  // Objects that other requests look for are deleted only at the end.
  await fc.assert(holds(operations.filter(({ method }) => method !== 'DELETE')), { numRuns });
  await fc.assert(holds(operations.filter(({ method }) => method === 'DELETE')), { numRuns: numRuns / 3 });
  await fc.assert(holds(operations), { numRuns: numRuns / 3 });
  // The generator is of use only if it gets past the first check.
  expect([...seen.keys()].sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort());
  const share = (fits: (name: string) => boolean): number => {
    const some = [...seen].filter(([name]) => fits(name));
    return some.filter(([, all]) => [...all].some((status) => status < 300 || status === 503)).length / some.length;
  };
  expect(share((name) => name.startsWith('GET '))).toBeGreaterThan(0.6);
  expect(share((name) => !name.startsWith('GET '))).toBeGreaterThan(0.3);
  expect(rig.log.filter((line) => Number(line.level) >= 50)).toEqual([]);
  // It waits for nothing: five thousand requests are twelve seconds of work.
}, 400_000);

it('any path and method get a problem or a page', async () => {
  const segment = fc.oneof(
    fc.constantFrom('api', 'v1', 'sites', 'runs', 'docs', 'health', '.', '..', '', '%2e%2e'),
    text.map(wellFormed),
  );
  const method = fc.constantFrom<Method>('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD');
  await fc.assert(
    fc.asyncProperty(method, fc.array(segment, { maxLength: 7 }), async (verb, segments) => {
      const answer = await rig.ask(verb, `/${segments.join('/')}`);
      expect(answer.status, JSON.stringify(answer.body)).toSatisfy((status: number) => status < 500 || status === 503);
    }),
    { numRuns: 1_000 },
  );
});
