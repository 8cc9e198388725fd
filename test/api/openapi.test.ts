import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { API } from '../../src/core/contracts/api.ts';
import { FUEL_STATUSES, FUEL_TASK_STATUSES } from '../../src/core/contracts/fuel/deployments.ts';
import type { RouteMap } from '../../src/core/contracts/route.ts';
import type { SitePlan } from '../../src/core/contracts/site-run.ts';
import { showPlan } from '../../src/core/site-run/plan.ts';
import { NODE_STATUSES } from '../../src/core/words.ts';
import { TokenOperations } from '../../src/ops/tokens.ts';
import { openapiCheck } from '../rig/openapi-check.ts';
import { type Described, openapiOutline } from '../rig/openapi-outline.ts';
import { apiAlone } from './api-rig.ts';

const golden = new URL('../golden/api/openapi.txt', import.meta.url);
const goldenAccess = new URL('../golden/api/access.txt', import.meta.url);

interface AnswerDescription {
  readonly description?: string;
  readonly content?: object;
  readonly $ref?: string;
}

interface Operation {
  readonly security?: readonly object[];
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly description?: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, AnswerDescription>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, object>>;
    readonly responses: Readonly<Record<string, AnswerDescription>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

async function describeApi(tokens = false): Promise<Description & Described> {
  const rig = await apiAlone({ tokens });
  const { token } = await new TokenOperations(rig.store).create({ name: 'reader', role: 'viewer' }, 'test');
  const { status, body } = await rig.ask('GET', '/openapi.json', undefined, { authorization: `Bearer ${token}` });
  await rig.close();
  expect(status).toBe(200);
  return body as Description & Described;
}

/** Answers for people and for other programs, in addition to JSON or instead of it. */
const TEXTS = [
  'text/plain',
  'text/csv',
  'text/vnd.graphviz',
  'application/octet-stream',
  'image/svg+xml',
  'text/event-stream',
];

// UPDATE_GOLDEN=1 npx vitest run test/api/openapi.test.ts
it('paths, operations, fields and codes of the API are the reviewed ones', async () => {
  const text = openapiOutline(await describeApi());
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, text);
  expect(text.split('\n')).toEqual(readFileSync(golden, 'utf8').split('\n'));
});

/** Fuel's words for how something is or ended, where ours are in `src/core/outcomes.ts`. */
const FUEL_WORDS = ['ready', 'error', 'pending', 'dep_failed', 'successful', 'operational', 'failure', 'done'];

it("only Fuel's own answers have Fuel's words for a state or an outcome", async () => {
  const { components, paths } = await describeApi();
  const fuels: string[] = [];
  const visit = (of: unknown, at: string): void => {
    if (typeof of !== 'object' || of === null) return;
    const words = 'enum' in of && Array.isArray(of.enum) ? of.enum.map(String) : [];
    if (words.some((word) => FUEL_WORDS.includes(word))) fuels.push(`${at}: ${words}`);
    for (const [key, value] of Object.entries(of)) visit(value, key === 'properties' ? at : `${at}.${key}`);
  };
  visit(paths, 'paths');
  visit(components.schemas, '');
  expect(fuels.filter((one) => !one.includes('.severity: ')).sort()).toEqual([
    `.HistoryRecord.status: ${FUEL_TASK_STATUSES}`,
    `.NewNode.status: ${NODE_STATUSES}`,
    `.NodeChanges.status: ${NODE_STATUSES}`,
    `.NodeListChanges.items.status: ${NODE_STATUSES}`,
    `.StartedTransaction.status: ${FUEL_STATUSES}`,
    `.Transaction.status: ${FUEL_STATUSES}`,
  ]);
});

it('each route has the agreed roles', () => {
  const lines = Object.entries<{ readonly access: string }>(API).map(([at, { access }]) => `${at} ${access}\n`);
  const text = lines.sort().join('');
  if (process.env.UPDATE_GOLDEN) writeFileSync(goldenAccess, text);
  expect(text).toBe(readFileSync(goldenAccess, 'utf8'));
});

it('every route has a summary and its failures', async () => {
  const { paths, components } = await describeApi();
  const whole = ({ $ref, ...inline }: AnswerDescription): AnswerDescription =>
    $ref === undefined ? inline : components.responses[$ref.replace('#/components/responses/', '')]!;
  const ids = new Set<string>();
  for (const [path, operations] of Object.entries(paths)) {
    expect(path).toMatch(/^\/api\/v1\//);
    for (const [method, operation] of Object.entries(operations)) {
      const name = `${method} ${path}`;
      expect(operation.summary, name).toMatch(/^[A-Z].{5,}[^.]$/);
      expect(operation.description, name).toMatch(/\. Needs (the role \w+|no token)\.$/);
      expect(operation.tags, name).toHaveLength(1);
      expect(operation.operationId, name).toMatch(/^[a-z][A-Za-z]+$/);
      ids.add(operation.operationId!);
      for (const parameter of operation.parameters ?? []) expect(parameter.description, name).toBeTruthy();
      for (const [status, response] of Object.entries(operation.responses)) {
        const types = Object.keys(whole(response).content ?? {});
        const others = types.filter((type) => !TEXTS.includes(type));
        const noJson = ['204', '303'].includes(status) || (types.length > 0 && others.length === 0);
        if (Number(status) < 400) expect(others, name).toEqual(noJson ? [] : ['application/json']);
        else if (!(path.endsWith('/health') && status === '503'))
          expect(types, name).toEqual(['application/problem+json']);
      }
      if (operation.parameters !== undefined || operation.requestBody !== undefined)
        expect(Object.keys(operation.responses), name).toContain('400');
      if (path.includes('{')) expect(Object.keys(operation.responses), name).toContain('404');
      if (operation.requestBody !== undefined)
        expect(Object.keys(operation.responses), name).toEqual(expect.arrayContaining(['413', '415']));
    }
  }
  const operations = Object.values(paths).flatMap((path) => Object.keys(path));
  expect(ids.size).toBe(operations.length);
});

it.each([false, true])('every route declares its required role (tokens: %s)', async (tokens) => {
  const { paths, components } = await describeApi(tokens);
  expect(Object.keys(components.securitySchemes)).toEqual(['bearer', 'authToken']);
  for (const [path, operations] of Object.entries(paths)) {
    for (const [method, { security, responses }] of Object.entries(operations)) {
      const name = `${method} ${path}`;
      const at = `${method.toUpperCase()} ${path.replace('/api/v1', '').replace(/\{(\w+)\}/g, ':$1')}`;
      const need = (API as RouteMap)[at]?.access;
      const isOpen = need === 'anyone';
      expect(security, name).toEqual(isOpen ? [] : [{ bearer: [] }, { authToken: [] }, ...(tokens ? [] : [{}])]);
      // Anyone may try to sign in, or send signed requests.
      const takesSecret = isOpen && /\/(?:session(?:\/exchange)?|webhook)$/.test(path) && method === 'post';
      expect(Object.keys(responses).includes('401'), name).toBe(!isOpen || takesSecret);
      expect(components.responses, name).toHaveProperty(responses['403']!.$ref!.replace('#/components/responses/', ''));
      if (!isOpen) expect(responses['403']!.$ref!.toLowerCase(), name).toMatch(new RegExp(`needs${need}$`));
      expect(Object.keys(responses).includes('429'), name).toBe(!path.endsWith('/health/live'));
    }
  }
});

it('every schema is one that generators of clients understand: none is `false`, no enum has a word twice', async () => {
  const { paths, components } = await describeApi();
  const odd: string[] = [];
  JSON.stringify([paths, components], (key, value: unknown) => {
    if (key === 'items' && typeof value !== 'object') odd.push(`items: ${value}`);
    if (
      key === 'enum' &&
      Array.isArray(value) &&
      new Set(value.map((one) => String(one).toUpperCase())).size < value.length
    )
      odd.push(`enum: ${value}`);
    return value;
  });
  expect(odd).toEqual([]);
});

it('every reference resolves, and every schema is used', async () => {
  const { paths, components } = await describeApi();
  const used = new Set<string>();
  JSON.stringify([paths, components], (key, value: unknown) => {
    if (key === '$ref' && String(value).includes('/schemas/'))
      used.add(String(value).replace('#/components/schemas/', ''));
    return value;
  });
  expect([...used].sort()).toEqual(Object.keys(components.schemas).sort());
});

it('the description can be viewed in a browser', async () => {
  const rig = await apiAlone();
  const page = await rig.ask('GET', '/docs/api/');
  expect(page).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('text/html') } });
  expect(await rig.ask('GET', '/docs/api/static/swagger-ui-bundle.js')).toMatchObject({ status: 200 });
  expect((await rig.ask('GET', '/docs/api/json')).body).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
  await rig.close();
});

it('an answer that differs from its description is detected', async () => {
  const rig = await apiAlone();
  const check = openapiCheck();
  const describe = () => rig.api.swagger();
  const answer = { method: 'GET', route: '/api/v1/sites', status: 200, type: 'application/json', describe };
  check({ ...answer, body: '{"items":[]}' });
  expect(() => check({ ...answer, body: '{"items":[{"name":"a"}]}' })).toThrow(/answers otherwise than it says/);
  expect(() => check({ ...answer, body: '{"items":[],"more":1}' })).toThrow(/additional properties/);
  expect(() => check({ ...answer, status: 202, body: '{}' })).toThrow(/is not described/);
  expect(() => check({ ...answer, type: 'text/html', body: '' })).toThrow(/answers with text\/html/);
  const events = { ...answer, route: '/api/v1/events', type: 'text/event-stream' };
  const lists = (sites: object) => `event: all\ndata: ${JSON.stringify({ runs: {}, sites, clusters: {} })}`;
  for (const body of [lists({}), ': still here', 'event: changes\ndata: {"sites":{"dc1":null}}'])
    check({ ...events, body });
  for (const body of [lists({ dc1: {} }), 'event: all\ndata: {}', 'event: news\ndata: {}'])
    expect(() => check({ ...events, body }), body).toThrow(/answers otherwise than it says/);
  await rig.close();
});

it('the plan of a site with a cluster is as described', async () => {
  const rig = await apiAlone();
  const pace = { interval: 1, timeout: 1 };
  const plan: SitePlan = {
    site: 'dc1',
    revision: 1,
    hash: 'a',
    nodes: ['n1'],
    groups: [{ name: 'all', critical: true, depends_on: [], nodes: [0, 0] }],
    pace: {
      verify_site: pace,
      prepare_site: pace,
      prepare: pace,
      deploy: pace,
      release: pace,
      max_parallel_nodes: 1,
      heartbeat_seconds: 1,
    },
    done: [],
    removed: [],
    cluster: 1,
    warnings: [],
  };
  openapiCheck()({
    method: 'GET',
    route: '/api/v1/runs/:run/plan',
    status: 200,
    type: 'application/json',
    body: JSON.stringify({ plan: showPlan(plan) }),
    describe: () => rig.api.swagger(),
  });
  await rig.close();
});
