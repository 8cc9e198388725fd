import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Answer, type ApiRig, apiAlone, type Method } from './api-rig.js';

let rig: ApiRig;
let operations: readonly Operation[];

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
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
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
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
  const graph = { name: 'g', tasks: [{ id: 't', type: 'shell', version: '2.1.0', roles: ['*'] }] };
  for (const owner of ['releases', 'clusters'])
    await rig.ask('POST', `/api/v1/${owner}/1/deployment_graphs/default`, graph);
  await rig.ask('POST', '/api/v1/sequences', { name: 's', release: 1, graphs: [{ type: 'default' }] });
  await rig.store.tags.create({ kind: 'release', id: 1 }, { name: 'web', hasPrimary: false });
  const { body } = await rig.ask('GET', '/openapi.json');
  schemas = body.components.schemas;
  operations = Object.entries<Record<string, Record<string, never>>>(body.paths).flatMap(([path, methods]) =>
    Object.entries<Record<string, never>>(methods)
      .filter(([, operation]) => !isEndless(operation))
      .map(([method, operation]) => ({
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

/** Only the event streams: such an answer never ends. */
const isEndless = (operation: object): boolean => {
  const { responses } = operation as { responses?: Record<string, { content?: object }> };
  const types = Object.keys(responses?.['200']?.content ?? {});
  return types.length === 1 && types[0] === 'text/event-stream';
};

/** Names that exist, so that requests get past the first look-up, among those that do not. */
const known = fc.constantFrom('dc1', 'run1', 'latest', '1', 'node01', 'default', 'web', 'baremetal-node.schema.json');

/** What a parameter of this name may well be. */
const LIKELY: Readonly<Record<string, readonly string[]>> = {
  site: ['dc1'],
  run: ['run1'],
  ref: ['latest'],
  node: ['node01'],
  type: ['default'],
  graph_type: ['default'],
  name: ['web', 'baremetal-node.schema.json'],
};
const likely = (name: string): fc.Arbitrary<string> =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...(LIKELY[name] ?? ['1'])) }, { weight: 1, arbitrary: text });

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
  return fc.oneof({ weight: 1, arbitrary: anything }, { weight: 15, arbitrary: fitting(schema, depth) });
}

function fitting(schema: Schema, depth: number): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return fitting(schemas[schema.$ref.replace('#/components/schemas/', '')]!, depth);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => near(one, depth + 1)));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'object') {
    const shape = Object.entries(schema.properties ?? {}).map(([key, inner]) => [key, near(inner, depth + 1)] as const);
    const stranger = rarely(12, fc.dictionary(text, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 1 }), {});
    return fc
      .tuple(partly(Object.fromEntries(shape), schema.required ?? []), stranger)
      .map(([fields, others]) => ({ ...others, ...fields }));
  }
  if (type === 'array') return fc.array(near(schema.items ?? {}, depth + 1), { maxLength: depth > 2 ? 1 : 3 });
  if (type === 'integer' || type === 'number') {
    const { minimum: min = 0, maximum = 3 } = schema;
    return fc.oneof(fc.integer({ min, max: Math.max(min, Math.min(maximum, min + 3)) }), fc.integer(), fc.double());
  }
  if (type === 'boolean') return fc.boolean();
  // The generator has no letters of other scripts.
  if (schema.pattern !== undefined && !schema.pattern.includes('\\p'))
    return fc.oneof(fc.stringMatching(new RegExp(schema.pattern, 'u')), text);
  return text;
}

/** Once in so many times. */
const rarely = <T, U>(times: number, arbitrary: fc.Arbitrary<T>, otherwise: U): fc.Arbitrary<T | U> =>
  fc.oneof({ weight: times - 1, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

/** Some of the fields; those that must be, nearly always. */
function partly(fields: Readonly<Record<string, fc.Arbitrary<unknown>>>, needed: readonly string[]) {
  const requiredKeys = needed.filter((key) => Object.hasOwn(fields, key));
  return fc.oneof(
    { weight: 9, arbitrary: fc.record(fields, { requiredKeys }) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
  );
}

/** Half a pair of surrogates cannot be written in a URL at all. */
const wellFormed = (value: string) =>
  encodeURIComponent(value.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '?'));

/** A request to one route: names in the path, parameters, body, headers. */
function requestTo({ method, path, parameters, body }: Operation) {
  const names = parameters.filter((one) => one.in === 'path').map((one) => one.name);
  // A follower waits until a task starts.
  const queries = parameters.filter((one) => one.in === 'query' && one.name !== 'follow');
  return fc.record({
    method: fc.constant(method),
    path: fc
      .tuple(...names.map(likely))
      .map((values) =>
        names.reduce((url, name, index) => url.replace(`{${name}}`, () => wellFormed(values[index]!)), path),
      ),
    query: fc
      .oneof(
        fc.constant({}),
        partly(
          Object.fromEntries(
            queries.map((one) => [one.name, one.name in LIKELY ? likely(one.name) : near(one.schema)]),
          ),
          queries.filter(({ required }) => required).map(({ name }) => name),
        ),
      )
      .map((values) =>
        Object.entries(values)
          .map(
            ([key, value]) => `${key}=${wellFormed(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))}`,
          )
          .join('&'),
      ),
    body: body === undefined ? fc.constant(undefined) : fc.option(near(body), { nil: undefined, freq: 20 }),
    mangled: rarely(8, fc.tuple(fc.nat(), fc.constantFrom('', '\0', '}', '"', '\\', '\uFEFF')), undefined),
    type: fc.oneof(
      { weight: 12, arbitrary: fc.constant('application/json') },
      {
        weight: 1,
        arbitrary: fc.constantFrom('application/yaml', 'text/plain', 'nonsense', 'application/json; charset=x'),
      },
    ),
    user: rarely(4, fc.constantFrom('nina', 'x'.repeat(300), 'é'), undefined),
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

it('whatever is sent to any route, the answer is one that its description allows, and never an internal error', async () => {
  const seen = new Map<string, Set<number>>();
  // Generators of bodies are made once for each route: they are large.
  const made = new Map(
    operations.map((operation) => [operation, requestTo(operation).map((request) => ({ operation, request }))]),
  );
  const requestsTo = (some: readonly Operation[]) => fc.oneof(...some.map((operation) => made.get(operation)!));
  const holds = (some: readonly Operation[]) =>
    fc.asyncProperty(requestsTo(some), async ({ operation, request }) => {
      const answer = await send(request);
      const name = `${operation.method} ${operation.path}`;
      seen.set(name, (seen.get(name) ?? new Set()).add(answer.status));
      expect([...operation.statuses, ...ANYWHERE], JSON.stringify(answer.body)).toContain(answer.status);
      if (answer.status >= 500) expect(answer.status, JSON.stringify(answer.body)).toBe(503);
      if (answer.status < 400 || request.path.endsWith('/health')) return;
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.body).toMatchObject({ status: answer.status, detail: expect.stringMatching(/./) });
      if (answer.status === 400) expect(answer.body.hint ?? answer.body.errors, answer.body.detail).toBeTruthy();
    });
  const numRuns = Number(process.env.FUZZ_RUNS ?? 3_000);
  // What others look for is deleted at the end only.
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
}, 180_000);

it('whatever the path and the method are, the answer is a problem or a page', async () => {
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
