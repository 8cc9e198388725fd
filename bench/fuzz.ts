// Sends requests that are nearly right to an API of its own, and watches a bystander's latency, the memory of the process,
// and answers of 500 and above: `node bench/fuzz.ts [--count N] [--seconds N] [--seed N]
// [--any-latency] [--postgres] [name of a group …]`. The table is in bench/fuzz-results.md; exit code 1 if anything did harm.
import './bounded.ts';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { mutate as mutateExpression, seededRandom } from '../packages/yaql/test/mutations.ts';
import { formatChecksums } from '../src/packages/archive-content.ts';
import { tarEnd, tarHeader, tarPadding } from '../src/packages/tar.ts';
import {
  type Description,
  type Made,
  operationsOf,
  requestTo,
  text,
  wellFormed,
} from '../test/rig/fuzz/api-requests.ts';
import { mutateJson, mutateText } from '../test/rig/fuzz/mutate-input.ts';
import { TARGETS } from '../test/rig/fuzz/targets.ts';
import { startPostgres } from '../test/rig/postgres.ts';
import { startApiProcess } from './api-process.ts';
import { watchBystander } from './bystander.ts';
import { type Answered, HarmTable, isHarm } from './harm-table.ts';

const AT_ONCE = 4;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '3600' },
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    'any-latency': { type: 'boolean', default: false },
    postgres: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const random = seededRandom(seed);
console.error(`seed ${seed}`);

type Request = Omit<Made, 'body' | 'method'> & {
  readonly method: string;
  readonly body?: string | Uint8Array<ArrayBuffer>;
};
interface Group {
  readonly name: string;
  /** Of all requests. */
  readonly share: number;
  readonly next: () => Request;
}

const postgres = values.postgres ? await startPostgres(undefined, {}) : undefined;
const api = await startApiProcess({
  ...(postgres === undefined ? {} : { SITEWRIGHT_STORE_URL: await postgres.createDatabase() }),
  SITEWRIGHT_LOG_LEVEL: 'warn',
  SITEWRIGHT_API_RATE_LIMIT_PER_MINUTE: '0',
  SITEWRIGHT_PACKAGES_BASE_RELEASE: 'off',
});
const json = (method: string, path: string, body: unknown): Request => ({
  method,
  url: `/api/v1${path}`,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

async function send({ method, url, headers, body }: Request): Promise<{ status: number; ms: number; text: string }> {
  const from = performance.now();
  const [status, answer] = await fetch(`${api.url}${url}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  }).then(
    async (one): Promise<[number, string]> => [one.status, await one.text()],
    (): [number, string] => [0, ''],
  );
  return { status, ms: performance.now() - from, text: answer };
}

async function setUp(): Promise<Description> {
  const graph = { name: 'g', tasks: [{ id: 't', type: 'shell', version: '2.1.0', roles: ['*'] }] };
  const steps: readonly [string, unknown][] = [
    ['/sites', { name: 'dc1' }],
    ['/releases', { name: 'r', version: '1', operating_system: 'x', roles_metadata: { web: { name: 'web' } } }],
    ['/clusters', { name: 'c', release_id: 1 }],
    ['/nodes', { name: 'node01', status: 'provisioned' }],
    ['/clusters/1/assignment', [{ id: 1, roles: ['web'] }]],
    ['/clusters/1/deployment_graphs/mine', graph],
    ['/sequences', { name: 's', release: 1, graphs: [{ type: 'default' }] }],
  ];
  for (const [path, body] of steps) {
    const { status, text: answer } = await send(json('POST', path, body));
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${answer}`);
  }
  return JSON.parse((await send({ method: 'GET', url: '/openapi.json', headers: {} })).text) as Description;
}

/** Values of an arbitrary, one after the other. */
function drawn<T>(arbitrary: fc.Arbitrary<T>): () => T {
  let round = 0;
  let ready: T[] = [];
  return () => {
    if (ready.length === 0) ready = fc.sample(arbitrary, { numRuns: 50, seed: seed + round++ });
    return ready.pop()!;
  };
}

const manifests = ['metadata.yaml', 'deployment_tasks.yaml'].flatMap((name) =>
  readdirSync(new URL('../examples/', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(`/${name}`))
    .map((file) => `${name}\n${readFileSync(new URL(`../examples/${file}`, import.meta.url), 'utf8')}`),
);

/** An archive whose checksums are right: name of its one file and content, separated by a line. */
function packed(file: string): Uint8Array {
  const [name = '', ...lines] = file.split('\n');
  const path = name.replace(/[^\w.]/g, '') || 'metadata.yaml';
  const content = Buffer.from(lines.join('\n'));
  const sums = Buffer.from(formatChecksums(new Map([[path, createHash('sha256').update(content).digest('hex')]])));
  const member = (at: string, bytes: Uint8Array) => [
    tarHeader(at, 'file', bytes.length, false),
    bytes,
    tarPadding(bytes.length),
  ];
  return gzipSync(
    Buffer.concat([...member(`p-1.0.0/${path}`, content), ...member('p-1.0.0/checksums.sha256', sums), tarEnd()]),
  );
}

const upload = (archive: Uint8Array): Request => ({
  method: 'POST',
  url: '/api/v1/packages',
  headers: { 'content-type': 'application/gzip' },
  body: new Uint8Array(archive),
});

const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const seedsOf = (name: string): readonly string[] => TARGETS.find((one) => one.name === name)!.seeds;
const site = new URL('../examples/stl1/', import.meta.url);
const documents = readdirSync(site, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => readFileSync(new URL(file, site), 'utf8'));
const task = {
  id: 't',
  type: 'shell',
  version: '2.1.0',
  roles: ['web'],
  requires: ['/t.*/'],
  'cross-depends': [{ name: 'a', role: '/w.*/' }],
  condition: { yaql_exp: '$.uid = "1"' },
  strategy: { type: 'parallel', amount: 2 },
  parameters: { cmd: 'true', timeout: 1 },
};

function groupsOf(description: Description): Group[] {
  const makers = (isRemoval: boolean) =>
    operationsOf(description)
      // What others look for is removed at the end only.
      .filter(({ method }) => (method === 'DELETE') === isRemoval)
      .map((operation) => drawn(requestTo(description.components.schemas, operation)));
  const [changes, removals] = [makers(false), makers(true)];
  const segments = drawn(
    fc.array(
      fc.oneof(fc.constantFrom('api', 'v1', 'sites', 'runs', 'docs', '.', '..', '', '%2e%2e'), text.map(wellFormed)),
      { maxLength: 7 },
    ),
  );
  const condition = (yaql_exp: string) =>
    json('PUT', '/clusters/1/deployment_graphs/mine', { name: 'g', tasks: [{ ...task, condition: { yaql_exp } }] });
  const plan: Request = { method: 'GET', url: '/api/v1/clusters/1/plan/?graph_type=mine', headers: {} };
  let planNext = false;
  return [
    { name: 'routes, by their schemas', share: 0.5, next: () => pick(changes)() },
    {
      name: 'expressions, and plans with them',
      share: 0.1,
      next() {
        planNext = !planNext;
        return planNext ? condition(mutateExpression(seedsOf('yaql'), random)) : plan;
      },
    },
    {
      name: 'graphs',
      share: 0.1,
      next: () =>
        json('POST', '/graphs/check/', mutateJson({ name: 'g', tasks: [task, { ...task, id: 'a' }] }, random)),
    },
    {
      name: 'documents of a site',
      share: 0.1,
      next: () =>
        json('POST', '/documents/check', {
          files: [{ name: 'a.yaml', text: mutateText(pick(documents), documents, seedsOf('yaml'), random) }],
        }),
    },
    {
      name: 'YAML',
      share: 0.05,
      next: () => ({
        method: 'POST',
        url: '/api/v1/graphs/check/',
        headers: { 'content-type': 'application/yaml' },
        body: mutateText(pick(seedsOf('yaml')), seedsOf('yaml'), [], random),
      }),
    },
    {
      name: 'archives',
      share: 0.05,
      next() {
        if (random() < 0.5) return upload(packed(mutateText(pick(manifests), manifests, seedsOf('yaml'), random)));
        const tar = Buffer.from(mutateText(pick(seedsOf('tar')), seedsOf('tar'), [], random), 'latin1');
        if (random() < 0.8) return upload(gzipSync(tar));
        return upload(
          Buffer.from(mutateText(gzipSync(tar).toString('latin1'), ['\x1f\x8b\x08'], [], random), 'latin1'),
        );
      },
    },
    {
      name: 'paths',
      share: 0.05,
      next: () => ({
        method: pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']),
        url: `/${segments().join('/')}`,
        headers: {},
      }),
    },
    { name: 'removals', share: 0.05, next: () => pick(removals)() },
  ];
}

const table = new HarmTable(values['any-latency']);
try {
  const groups = groupsOf(await setUp());
  const bystander = await watchBystander(api);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  table.baseline(await bystander.phase());
  for (const { name, share, next } of groups) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    const until = performance.now() + Number(values.seconds) * 1_000 * share;
    const answers: Answered[] = [];
    let left = Math.ceil(Number(values.count) * share);
    const sender = async (): Promise<void> => {
      while (left-- > 0 && performance.now() < until) {
        const request = next();
        const { status, ms, text: answer } = await send(request);
        answers.push({ status, ms });
        if (!isHarm(status)) continue;
        console.error(
          `${status} ${request.method} ${request.url} ${String(request.body).slice(0, 2_000)}\n${answer.slice(0, 500)}`,
        );
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sender));
    table.attack(name, answers, await bystander.phase());
    const ended = api.ended();
    if (ended !== undefined) throw new Error(`the API ${ended}:\n${await api.log()}`);
  }
  await bystander.stop();
} finally {
  await api.stop();
  await postgres?.stop();
}
process.exitCode = table.harmful === 0 ? 0 : 1;
