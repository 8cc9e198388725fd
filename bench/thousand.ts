/**
 * Plans and executes the recorded library on many nodes in one go, with processes as the product starts them: one worker, one
 * API, Temporal and the store on files, one process of agents that end every task immediately. Meanwhile the run is read: its page's
 * requests every two seconds, and `sitewright run status`. Prints JSON.
 * Usage: node bench/thousand.ts [nodes=1000]
 */
import './bounded.ts';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runAfterUs } from '@sitewright/maas-simulator/containers';
import { Client, Connection } from '@temporalio/client';
import type { Seen } from './bystander.ts';
import { onFiles } from './databases.ts';
import { historySizes } from './history-sizes.ts';
import { Installation } from './installation.ts';

const nodes = Number(process.argv[2] ?? 1_000);
const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

await run(process.execPath, [at('scripts/build.ts')]);
const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-'));
runAfterUs('sleep 5; rm -rf -- "$1"', folder);
const databases = await onFiles(folder);
const installation = await Installation.on(databases, folder, nodes, 0, {
  apis: 1,
  reads: ['page', 'status', 'list', 'counts', 'tasks'],
  everyMs: 2_000,
});
const client = new Client({ connection: await Connection.connect({ address: databases.address }) });

/** `run status` of the newest run, as a person types it: milliseconds each time, until the run has ended. */
async function readStatus(ended: () => boolean): Promise<{ readonly ms: number[]; readonly failed: number }> {
  const ms: number[] = [];
  let failed = 0;
  const env = { ...process.env, SITEWRIGHT_API: installation.url };
  while (!ended()) {
    const answer = await fetch(`${installation.url}/api/v1/runs?limit=1&open=true`);
    const [open] = ((await answer.json()) as { items: { id: string }[] }).items;
    const from = performance.now();
    if (open !== undefined) {
      const read = run(process.execPath, [at('bin/sitewright'), 'run', 'status', open.id], { env });
      failed += await read.then(
        () => 0,
        () => 1,
      );
      ms.push(Math.round(performance.now() - from));
    }
    await delay(3_000);
  }
  return { ms: ms.sort((a, b) => a - b), failed };
}

const answersOf = ({ requests, failed, p50, p95, worst }: Seen) => ({ requests, failed, p50, p95, worst });

try {
  let ended = false;
  const status = readStatus(() => ended);
  const timed = await installation.runGraph();
  ended = true;
  const { ms, failed } = await status;
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list()) ids.push(workflowId);
  const sizes = await historySizes(client, ids);
  const most = (what: 'events' | 'bytes' | 'largest'): number => Math.max(...sizes.map((one) => one[what]));
  const { reads, usage, grown, seconds, done } = timed;
  const plan = sizes.filter(({ id }) => /^execute_graph:[^/]*$/.test(id)).map(({ events }) => events);
  console.log(
    JSON.stringify(
      {
        ...{ nodes, cores: cpus().length, load: loadavg().map((one) => Math.round(one * 10) / 10) },
        ...{ seconds: Math.round(seconds * 10) / 10, tasks_executed: done, usage, grown_megabytes: grown },
        histories: {
          ...{ executions: sizes.length, parents: plan, max_events: most('events'), max_bytes: most('bytes') },
          ...{ largest_event: most('largest'), timeouts: sizes.reduce((sum, one) => sum + one.timeouts, 0) },
        },
        reads: Object.fromEntries(Object.entries(reads).map(([name, seen]) => [name, answersOf(seen)])),
        run_status: { times: ms.length, failed, median_ms: ms[ms.length >> 1], slowest_ms: ms.at(-1) },
        complaints: (await installation.complaints()).length,
      },
      null,
      1,
    ),
  );
} finally {
  await installation.stop();
  await databases.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
