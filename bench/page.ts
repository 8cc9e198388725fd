// The web page's size, the time from opening it to its first table and the memory it then has, with 200 nodes and 11,000 tasks, and a
// map of ten thousand machines that changes while one scrolls: `node bench/page.ts`; `--nodes 1000 --tasks 36` for a large run.
// Needs Chromium (CHROMIUM names another). Results: page-results.md.
import './bounded.ts';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { MaasConfigurationError } from '@sitewright/maas';
import { Client } from '@temporalio/client';
import { chromium, type Page } from 'playwright-core';
import { createApi } from '../src/api/index.ts';
import { pageAssets } from '../src/api/page/assets.ts';
import { createOperations } from '../src/ops/index.ts';
import { createLogger } from '../src/platform/telemetry/log.ts';
import { openStore } from '../src/store/index.ts';
import { environment } from '../test/api/fuel-graphs-rig.ts';
import { storeGraphRun } from '../test/ui/stored-runs.ts';
import { lazyConnection } from '../worker/parts/lazy-connection.ts';

const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '200' }, tasks: { type: 'string', default: '55' } },
});
const [NODES, TASKS] = [Number(values.nodes), Number(values.tasks)];
const ROUNDS = 7;
const ms = (time: number): string => `${Math.round(time)} ms`;
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

const executablePath = [
  process.env.CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));
if (executablePath === undefined) throw new Error('no Chromium found: name it in CHROMIUM');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });

console.log(
  `Node.js ${process.version}, ${cpus().length} cores, Chromium ${browser.version()}; ${NODES} nodes, ${NODES * TASKS} tasks`,
);
console.log('\n| file | bytes | gzip |\n| --- | ---: | ---: |');
for (const [name, { body }] of Object.entries(pageAssets()))
  console.log(`| ${name} | ${kilobytes(body.length)} | ${kilobytes(gzipSync(body, { level: 9 }).length)} |`);

/** Milliseconds until something is there, in a browser that has nothing of the page, and the bytes of its scripts' memory then. */
async function timeTo(path: string, selector: string) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const start = performance.now();
  await page.goto(`${origin}${path}`, { waitUntil: 'commit' });
  await page.locator(selector).first().waitFor();
  const took = performance.now() - start;
  const heap = await heapOf(page);
  await context.close();
  return { took, heap };
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
}

console.log('\n| view | first | median | slowest | memory |\n| --- | ---: | ---: | ---: | ---: |');
for (const [view, path, selector] of [
  ['tasks of the run', '/runs/large', '[aria-label="Tasks"] tbody tr'],
  ['graph of the run, in groups', '/runs/large?view=graph', 'g.node'],
  ['nodes of the cluster', `/clusters/${env.cluster}`, '[aria-label="Nodes"] tbody tr'],
  ['all nodes', '/nodes', '[aria-label="Nodes"] tbody tr'],
  ['runs', '/runs', '[aria-label="Runs"] tbody tr'],
] as const) {
  const times: number[] = [];
  let memory = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const { took, heap } = await timeTo(path, selector);
    times.push(took);
    memory = Math.max(memory, heap);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const cells = [times[0]!, sorted[ROUNDS >> 1]!, sorted.at(-1)!].map(ms);
  console.log(`| ${[view, ...cells, `${(memory / 1e6).toFixed(1)} MB`].join(' | ')} |`);
}

const MACHINES = 10_000;
const LOOKED_MS = 10_000;

/** Machines of which another one has failed at each look, and the frames of someone who scrolls through their map. */
async function lookAtMap(): Promise<void> {
  const page = await browser.newPage();
  let failed = 0;
  await page.route('**/api/v1/sites', (route) => route.fulfill({ json: { items: [SITE] } }));
  await page.route('**/api/v1/machines*', (route) => {
    failed += 1;
    const items = Array.from({ length: MACHINES }, (_, id) => ({
      ...{ id: id + 1, name: `node-${id}`, site: 'dc1', cluster: null, rack: `rack-${Math.floor(id / 40)}` },
      health: id % 97 < failed ? 'failed' : 'ok',
    }));
    return route.fulfill({ json: { items } });
  });
  const start = performance.now();
  await page.goto(origin, { waitUntil: 'commit' });
  await page
    .locator('.fleet .cell')
    .nth(MACHINES - 1)
    .waitFor({ state: 'attached' });
  const took = performance.now() - start;
  const frames = await page.evaluate<number[]>(`new Promise((done) => {
    const frames = [];
    const begin = performance.now();
    let last = begin;
    const next = (now) => {
      frames.push(now - last);
      last = now;
      scrollBy(0, frames.length % 200 < 100 ? 40 : -40);
      if (now - begin < ${LOOKED_MS}) requestAnimationFrame(next);
      else done(frames.sort((a, b) => a - b));
    };
    requestAnimationFrame(next);
  })`);
  const at = (share: number): string => ms(frames[Math.floor(share * (frames.length - 1))]!);
  console.log(
    `\n${MACHINES} machines: drawn after ${ms(took)}; while one scrolls and more and more fail, a frame takes ${at(0.5)} (median), ` +
      `${at(0.99)} (99 %), ${at(1)} (longest); ${((await heapOf(page)) / 1e6).toFixed(1)} MB.`,
  );
  await page.close();
}

const SITE = {
  ...{ name: 'dc1', latest_revision: 1, last_good_revision: null, created_at: '2026-05-01T10:00:00.000Z' },
  ...{ source: null, out_of_service: [] },
};

await lookAtMap();

await browser.close();
await api.close();
await connection.close();
await store.close();
await rm(folder, { recursive: true, force: true });
