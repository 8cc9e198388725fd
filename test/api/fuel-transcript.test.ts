import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import type { Answer, Method } from './api-rig.ts';

/**
 * The recorded session with Fuel's own API, request by request, against ours. Requests that start a run, or show one, are
 * compared with the same record in fuel-graphs-runs.test.ts and fuel-graphs-living.test.ts.
 */

interface Exchange {
  readonly method?: Method;
  readonly url?: string;
  readonly request?: unknown;
  readonly request_raw?: string;
  readonly status?: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly response?: any;
}

const session = JSON.parse(
  readFileSync(new URL('../data/fuel/rest-transcript.json', import.meta.url), 'utf8'),
) as readonly Exchange[];

/** Entries that need a run: it is started, or its transaction is read. The rest of 140 to 191 is replayed. */
const OF_RUNS = new Set([
  ...[140, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 154, 155, 156, 159, 160, 161, 163],
  ...[165, 167, 173, 175, 177, 191],
]);

/** Where we answer differently on purpose: our status, and why. */
const DIFFERS: Readonly<Record<number, readonly [status: number, why: string]>> = {
  9: [201, 'a graph is created (docs/explain/design.md#graphs)'],
  12: [200, 'the reference answers with JSON inside a text'],
  21: [410, 'a graph needs an owner'],
  25: [200, 'the reference breaks on an owner filter beside graph types'],
  34: [400, 'a version with letters stumbles later'],
  35: [404, 'so there is nothing to delete'],
  43: [201, 'role null is refused by the schema, but means the sync node'],
  45: [201, 'any field but the id may be computed (specification of YAQL)'],
  52: [201, 'a graph is created'],
  54: [400, 'a cycle is refused at upload (docs/explain/design.md#graphs)'],
  55: [404, 'so there is nothing to delete'],
  57: [201, 'a graph is created'],
  59: [201, 'a graph is created'],
  64: [405, 'the reference answers with an HTML page'],
  65: [400, 'the type is named as what is wrong'],
  67: [201, 'a graph is created'],
  68: [201, 'a graph is created'],
  107: [400, 'a cycle is refused at upload'],
  108: [200, 'so the drawing is empty'],
  109: [200, 'so the plan is empty'],
  114: [400, 'the reference breaks on a tag without meta'],
  119: [200, 'a tag that the list of the cluster shows can be read: `fuel2 tag download`'],
  121: [400, 'the reference makes a second tag of the other name'],
  122: [200, 'so there is no second tag'],
  125: [409, 'a tag that a role names cannot be deleted (specification of tags)'],
  126: [200, 'so it is there'],
  135: [400, 'the reference breaks on nodes of another cluster'],
  136: [400, 'the reference breaks on a node that is not a number'],
};

/** Refused alike, where the reference prints its JSON schema; ours report the problem, its place and the next step. */
const IN_OUR_WORDS = new Set([
  ...[30, 31, 32, 33, 37, 38, 39, 40, 41, 42, 44, 46, 47, 48, 49, 50, 51, 56, 61, 66, 87, 88],
  ...[115, 116, 117, 130, 131, 132, 133, 137, 138, 139, 185, 186, 192],
]);

let temporal: TemporalRig;
let rig: LivingCluster;
const answers: (Answer | undefined)[] = [];

beforeAll(async () => {
  temporal = await temporalRig({ namespace: 'own' });
  rig = await livingCluster(temporal);
  await rig.store.migrate();
  await setUp();
  for (const [at, one] of session.entries()) {
    answers.push(one.method === undefined || OF_RUNS.has(at) ? undefined : await replay(one));
    // Accepted here and refused there: removed, so that later entries find the same state.
    if (at === 43 || at === 45) await send('DELETE', one.url!);
  }
});
afterAll(async () => {
  await rig.close();
  await temporal.close();
});

const send = (method: Method, url: string, body?: unknown) =>
  rig.ask(method, `/api/v1${url}`, body, { 'content-type': 'application/json' });

const replay = ({ method, url, request, request_raw }: Exchange) => send(method!, url!, request_raw ?? request);

/** The store's content when the session began, judging by its answers. */
async function setUp(): Promise<void> {
  const { store } = rig;
  const [ofRelease, , ofPlugin] = session[0]!.response as { tasks: object[] }[];
  const { meta, volumes_roles_mapping } = session[129]!.response;
  const release = await send('POST', '/releases/', {
    name: 'recorded',
    version: 'newton-10.0',
    operating_system: 'Ubuntu',
    deployment_tasks: ofRelease!.tasks,
    roles_metadata: { controller: { name: 'Controller', tags: ['controller', 'database'] }, compute: meta },
    tags_metadata: Object.fromEntries(
      (session[111]!.response as { name: string; meta: object }[]).map((tag) => [tag.name, tag.meta]),
    ),
    volumes_metadata: { volumes_roles_mapping: { compute: volumes_roles_mapping } },
  });
  expect(release.body).toMatchObject({ id: 1 });
  const cluster = await store.clusters.create({ name: 'env', releaseId: 1, mode: 'ha_compact' });
  const plugin = await store.plugins.create({ name: 'plug1', version: '0.1.0', packageVersion: '5.0.0' });
  await send('POST', `/plugins/${plugin.id}/deployment_graphs/default`, { tasks: ofPlugin!.tasks });
  await store.plugins.link(cluster.id, plugin.id, { enabled: true });
  for (const role of ['controller', 'compute']) {
    const { id } = await store.nodes.create({ name: role, status: 'ready' });
    await store.nodes.assign(cluster.id, [{ id, roles: [role] }]);
    await store.nodes.update(id, { status: 'ready', roles: [role], pendingRoles: [], pendingAddition: false });
  }
}

/**
 * Without the parts that may differ: ids of graphs (some are refused here), our warnings and further keys, and the order of
 * unordered lists: tags, tasks of a plan, lines of a drawing.
 */
function comparable(value: unknown): unknown {
  if (typeof value === 'string') return value.split('\n').sort();
  const plain: unknown = JSON.parse(JSON.stringify(value), (_key, item: unknown) => {
    if (typeof item !== 'object' || item === null) return item;
    if (Array.isArray(item)) return item;
    const { warnings: _w, any_choices: _a, ...rest } = item as Record<string, unknown>;
    if ('relations' in rest) delete rest.id;
    if (typeof rest.tasks_graph === 'object') {
      rest.tasks_graph = Object.fromEntries(
        Object.entries(rest.tasks_graph as Record<string, object[]>).map(([node, tasks]) => [node, byText(tasks)]),
      );
    }
    return rest;
  });
  const isTags = Array.isArray(plain) && plain.every((one) => typeof one === 'object' && one !== null && 'meta' in one);
  return isTags ? byText(plain) : plain;
}

const byText = <T>(list: readonly T[]): T[] =>
  [...list].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
const nameOf = (one: unknown): string =>
  String((one as { id?: string; name?: string }).id ?? (one as { name?: string }).name);

const title = (at: number) => `${at} ${session[at]!.method} ${session[at]!.url}`;
const replayed = session.flatMap(({ method }, at) => (method === undefined || OF_RUNS.has(at) ? [] : [at]));
const plain = replayed.filter((at) => DIFFERS[at] === undefined);

describe('the recorded session', () => {
  it.each(plain.filter((at) => session[at]!.status! < 400).map((at) => [title(at), at] as const))(
    '%s is answered alike',
    (_, at) => {
      const { status, body } = answers[at]!;
      expect({ status, body: comparable(body) }).toEqual({
        status: session[at]!.status,
        body: comparable(session[at]!.response),
      });
    },
  );

  it.each(plain.filter((at) => session[at]!.status! >= 400).map((at) => [title(at), at] as const))(
    '%s is refused alike',
    (_, at) => {
      const { status, body } = answers[at]!;
      expect(status).toBe(session[at]!.status);
      expect(body).toMatchObject({ message: expect.stringContaining(body.detail), errors: expect.any(Array) });
      if (!IN_OUR_WORDS.has(at)) expect(body.detail).toBe(session[at]!.response.message);
    },
  );

  it.each(Object.entries(DIFFERS).map(([at, [status, why]]) => [title(Number(at)), Number(at), status, why] as const))(
    '%s has a different answer, as listed',
    (_, at, status, why) => {
      expect(answers[at], why).toMatchObject({ status });
      expect(
        [answers[at]!.status, comparable(answers[at]!.body)],
        'it does not differ any more: take it from the list',
      ).not.toEqual([session[at]!.status, comparable(session[at]!.response)]);
    },
  );

  it('has every answer compared or explained', () => {
    expect(session).toHaveLength(197);
    for (const at of IN_OUR_WORDS) expect(answers[at]!.body.detail, title(at)).not.toBe(session[at]!.response.message);
  });
});
