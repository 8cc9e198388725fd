import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type ApiRig, apiAlone, type Method } from './api-rig.js';

let rig: ApiRig;
let operations: readonly Operation[];

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
}

interface Operation {
  readonly method: Method;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly body: Schema | undefined;
  readonly statuses: readonly number[];
}

let schemas: Readonly<Record<string, Schema>>;

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
  const { body } = await rig.ask('GET', '/openapi.json');
  schemas = body.components.schemas;
  operations = Object.entries<Record<string, Record<string, never>>>(body.paths).flatMap(([path, methods]) =>
    Object.entries<Record<string, never>>(methods).map(([method, operation]) => ({
      method: method.toUpperCase() as Method,
      path,
      parameters: operation.parameters ?? [],
      body: (operation.requestBody as { content?: Record<string, { schema: Schema }> } | undefined)?.content?.[
        'application/json'
      ]?.schema,
      statuses: Object.keys(operation.responses ?? {}).map(Number),
    })),
  );
});
afterAll(() => rig.close());

/** Names that exist, so that requests get past the first look-up, among those that do not. */
const known = fc.constantFrom('dc1', 'run1', 'latest', '1', 'node01', 'baremetal-node.schema.json');

const nasty = fc.constantFrom(
  '',
  ' ',
  '\0',
  '..',
  '../../etc/passwd',
  '%',
  "'; drop table runs; --",
  '__proto__',
  'constructor',
  'toString',
  '💥',
  '\ud800',
  'null',
  '-1',
  '1e309',
  '9'.repeat(40),
  'x'.repeat(1500),
  '\u202e\r\n',
);

const text = fc.oneof(known, nasty, fc.string({ unit: 'binary', maxLength: 30 }));

/** Any JSON, half of the time; else something near to what the schema asks for. */
function near(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
  const anything = fc.oneof(text, fc.jsonValue({ maxDepth: 3 }));
  return fc.oneof({ weight: 1, arbitrary: anything }, { weight: 6, arbitrary: fitting(schema, depth) });
}

function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return fitting(schemas[schema.$ref.replace('#/components/schemas/', '')]!, depth);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => near(one, depth + 1)));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') {
    const shape = Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, near(inner, depth + 1)] as const);
    const stranger = fc.option(fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 }), {
      nil: {},
      freq: 3,
    });
    return fc
      .tuple(fc.record(Object.fromEntries(shape), { requiredKeys: [] }), stranger)
      .map(([fields, others]) => ({ ...others, ...fields }));
  }
  if (type === 'array') return fc.array(near(schema.items ?? {}, depth + 1), { maxLength: depth > 2 ? 1 : 3 });
  if (type === 'integer' || type === 'number') return fc.oneof(fc.integer(), fc.double());
  if (type === 'boolean') return fc.boolean();
  return text;
}

/** Half a pair of surrogates cannot be written in a URL at all. */
const wellFormed = (value: string) =>
  encodeURIComponent(value.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '?'));

/** A request to one route: names in the path, parameters, body, headers. */
function requestTo({ method, path, parameters, body }: Operation) {
  const names = parameters.filter((one) => one.in === 'path').map((one) => one.name);
  const queries = parameters.filter((one) => one.in === 'query');
  return fc.record({
    method: fc.constant(method),
    path: fc
      .tuple(...names.map(() => text))
      .map((values) =>
        names.reduce((url, name, index) => url.replace(`{${name}}`, () => wellFormed(values[index]!)), path),
      ),
    query: fc
      .record(Object.fromEntries(queries.map((one) => [one.name, near(one.schema)])), { requiredKeys: [] })
      .map((values) =>
        Object.entries(values)
          .map(
            ([key, value]) => `${key}=${wellFormed(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))}`,
          )
          .join('&'),
      ),
    body: body === undefined ? fc.constant(undefined) : fc.option(near(body), { nil: undefined, freq: 10 }),
    mangled: fc.option(fc.tuple(fc.nat(), fc.constantFrom('', '\0', '}', '"', '\\', '\uFEFF')), {
      nil: undefined,
      freq: 4,
    }),
    type: fc.oneof(
      { weight: 12, arbitrary: fc.constant('application/json') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('application/yaml', 'text/plain', 'nonsense', 'application/json; charset=x'),
      },
    ),
    user: fc.option(fc.constantFrom('nina', 'x'.repeat(300), 'é'), { nil: undefined }),
  });
}

async function send(request: ReturnType<typeof requestTo> extends fc.Arbitrary<infer R> ? R : never): Promise<Answer> {
  const whole = request.body === undefined ? undefined : (JSON.stringify(request.body) ?? 'null');
  const [place, by] = request.mangled ?? [0, undefined];
  const payload =
    whole === undefined || by === undefined
      ? whole
      : whole.slice(0, place % (whole.length + 1)) + by + whole.slice((place % (whole.length + 1)) + 1);
  return rig.ask(request.method, `${request.path}${request.query ? `?${request.query}` : ''}`, payload, {
    ...(payload === undefined ? {} : { 'content-type': request.type }),
    ...(request.user === undefined ? {} : { 'x-sitewright-user': request.user }),
  });
}

/** Statuses that any route may answer with, whatever it does: what came may not even be a request to it. */
const ANYWHERE = [400, 404, 405, 413, 415];

test('whatever is sent to any route, the answer is one that its description knows, and never an accident', async () => {
  const seen = new Map<string, Set<number>>();
  const anyRequest = fc
    .constantFrom(...operations)
    .chain((operation) => requestTo(operation).map((request) => ({ operation, request })));
  await fc.assert(
    fc.asyncProperty(anyRequest, async ({ operation, request }) => {
      const answer = await send(request);
      const name = `${operation.method} ${operation.path}`;
      seen.set(name, (seen.get(name) ?? new Set()).add(answer.status));
      expect([...operation.statuses, ...ANYWHERE], JSON.stringify(answer.body)).toContain(answer.status);
      if (answer.status >= 500) expect(answer.status, JSON.stringify(answer.body)).toBe(503);
      if (answer.status < 400 || request.path.endsWith('/health')) return;
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.body).toMatchObject({ status: answer.status, detail: expect.stringMatching(/./) });
      if (answer.status === 400) expect(answer.body.hint ?? answer.body.errors, answer.body.detail).toBeTruthy();
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 3_000) },
  );
  // The generator is of use only if it gets past the first check.
  const accepted = [...seen.values()].filter((statuses) =>
    [...statuses].some((status) => status < 300 || status === 503),
  );
  expect(seen.size).toBe(operations.length);
  expect(accepted.length).toBeGreaterThan(operations.length / 2);
  expect(rig.log.filter((line) => Number(line.level) >= 50)).toEqual([]);
}, 60_000);

test('whatever the path and the method are, the answer is a problem or a page', async () => {
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
}, 60_000);
