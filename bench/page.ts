// The web page's size, and the time from opening it to its first table, with 200 nodes and 11,000 tasks:
// `node bench/page.ts`. Needs Chromium (CHROMIUM names another). Results: page-results.md.
import './bounded.ts';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { MaasConfigurationError } from '@sitewright/maas';
import { Client } from '@temporalio/client';
import { chromium } from 'playwright-core';
import { createApi } from '../src/api/index.ts';
import { pageAssets } from '../src/api/page/assets.ts';
import { createOperations } from '../src/ops/index.ts';
import { createLogger } from '../src/platform/telemetry/log.ts';
import { openStore } from '../src/store/index.ts';
import { environment } from '../test/api/fuel-graphs-rig.ts';
import { storeGraphRun } from '../test/ui/stored-runs.ts';
import { lazyConnection } from '../worker/parts/lazy-connection.ts';

const NODES = 200;
const TASKS = 55;
const ROUNDS = 7;
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} KB`;

const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-page-'));
const store = await openStore(join(folder, 'store.db'));
await store.migrate();
const env = await environment(store, 'prod');
const made = await Promise.all(
  Array.from({ length: NODES - 2 }, (_, at) => store.nodes.create({ name: `node-${at}`, status: 'ready' })),
);
await store.nodes.assign(
  env.cluster,
  made.map(({ id }) => ({ id, roles: ['compute'] })),
);
const tasks = Array.from({ length: TASKS }, (_, at) => ({
  ...{ id: `task-${at}`, type: 'shell', role: [`role-${at % 5}`] },
  requires: at < 5 ? [] : [`task-${at - 5}`],
}));
const nodes = [...env.nodes, ...made.map(({ id }) => id)].map(String);
await storeGraphRun(store, env, { id: 'large', tasks, nodes, startedAt: '2026-05-01T10:00:00.000Z' });

const address = '127.0.0.1:1';
const connection = lazyConnection(address, 1);
const temporal = { client: new Client({ connection }), connection, namespace: 'default', taskQueue: 'none', address };
const maas = () => {
  throw new MaasConfigurationError(['there is none']);
};
const log = createLogger({ level: 'silent', format: 'json' }, 'api');
const api = await createApi(createOperations({ store, temporal, maas }), { log, version: '0' });
await api.listen({ port: 0, host: '127.0.0.1' });
const origin = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;

const executablePath = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome'].find(
  (path) => path !== undefined && existsSync(path),
);
if (executablePath === undefined) throw new Error('no Chromium found: name it in CHROMIUM');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });

console.log(
  `Node.js ${process.version}, ${cpus().length} cores, Chromium ${browser.version()}; ${NODES} nodes, ${NODES * TASKS} tasks`,
);
console.log('\n| file | bytes | gzip |\n| --- | ---: | ---: |');
for (const [name, { body }] of Object.entries(pageAssets()))
  console.log(`| ${name} | ${kilobytes(body.length)} | ${kilobytes(gzipSync(body, { level: 9 }).length)} |`);

/** Milliseconds until something is there, in a browser that has nothing of the page. */
async function timeTo(path: string, selector: string): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const start = performance.now();
  await page.goto(`${origin}${path}`, { waitUntil: 'commit' });
  await page.locator(selector).first().waitFor();
  const took = performance.now() - start;
  await context.close();
  return took;
}

console.log('\n| view | first | median | slowest |\n| --- | ---: | ---: | ---: |');
for (const [view, path, selector] of [
  ['tasks of the run', '/runs/large', '[aria-label="Tasks"] tbody tr'],
  ['graph of the run, in groups', '/runs/large?view=graph', 'g.node'],
  ['nodes of the cluster', `/clusters/${env.cluster}`, '[aria-label="Nodes"] tbody tr'],
  ['all nodes', '/nodes', '[aria-label="Nodes"] tbody tr'],
  ['runs', '/runs', '[aria-label="Runs"] tbody tr'],
] as const) {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await timeTo(path, selector));
  const sorted = times.toSorted((a, b) => a - b);
  const ms = (time: number): string => `${Math.round(time)} ms`;
  console.log(`| ${view} | ${ms(times[0]!)} | ${ms(sorted[ROUNDS >> 1]!)} | ${ms(sorted.at(-1)!)} |`);
}

await browser.close();
await api.close();
await connection.close();
await store.close();
await rm(folder, { recursive: true, force: true });
