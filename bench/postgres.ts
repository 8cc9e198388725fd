/**
 * The same runs on PostgreSQL (Temporal's own server as docker-compose.yml configures it, and the store) and on files (as
 * `sitewright up`), in turns, with processes as the product starts them: workers, two APIs that are read from meanwhile, and
 * one process of agents that end every task immediately. Prints Markdown.
 * Usage: node bench/postgres.ts [--nodes 40] [--machines 60] [--rounds 1] [row …]
 * Rows: graph-1 graph-2 graph-4 (the recorded library, by number of workers), site-1 site-2 site-4 (deploy_site), retention.
 */
import './bounded.ts';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { runAfterUs } from '@sitewright/maas-simulator/containers';
import { type Databases, onFiles, onPostgres } from './databases.ts';
import { Installation, type Timed } from './installation.ts';
import { costTable, type Removal, ratesTable, readsTable, removalTable } from './postgres-tables.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: 'string', default: '40' },
    machines: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '1' },
  },
});
const [nodes, machines, rounds] = [values.nodes, values.machines, values.rounds].map(Number) as [
  number,
  number,
  number,
];
const rows = positionals.length > 0 ? positionals : ['graph-1', 'graph-2', 'graph-4', 'site-2', 'retention'];
const unknown = rows.filter((row) => !/^(?:graph|site)-[1-9]$|^retention$/.test(row));
if (unknown.length > 0) throw new Error(`there are no rows ${unknown.join(', ')}`);

/** Seconds for which Temporal keeps what ends during the row on retention. */
const KEPT_SECONDS = 10;
/** A server reads its namespaces again every two seconds. */
const NAMESPACE_READ_MS = 6_000;
const NODES_REMOVED = 10;
const REMOVAL_LIMIT_MS = 90_000;

const started = new Date();
await promisify(execFile)(process.execPath, [fileURLToPath(new URL('../scripts/build.ts', import.meta.url))]);
const folder = await mkdtemp(join(tmpdir(), 'sitewright-bench-'));
runAfterUs('sleep 5; rm -rf -- "$1"', folder);
const opened: Databases[] = [];
const installed: Installation[] = [];
for (const [name, open] of [['file', onFiles] as const, ['postgres', onPostgres] as const]) {
  await mkdir(join(folder, name));
  const databases = await open(join(folder, name));
  opened.push(databases);
  installed.push(await Installation.on(databases, join(folder, name), nodes, machines));
}

/** By row, those of each installation. */
const timed = new Map<string, Map<string, Timed[]>>();
const removals: Removal[] = [];
try {
  for (let round = 0; round < rounds; round++) {
    for (const [at, row] of rows.entries()) {
      if (row === 'retention') continue;
      // In turns, so that neither is always first.
      for (const installation of (round + at) % 2 === 0 ? installed : installed.toReversed())
        await measure(row, installation);
    }
  }
  if (rows.includes('retention')) for (const installation of installed) removals.push(await removal(installation));
  const runs = [...timed].map(([row, of]) => ({ row, file: of.get('file')!, postgres: of.get('PostgreSQL')! }));
  const command = ['node bench/postgres.ts', ...process.argv.slice(2)].join(' ');
  const load = loadavg().map((one) => one.toFixed(1));
  console.log(
    `\`${command}\`, ${started.toISOString().slice(0, 16)}Z, load at the end ${load.join(', ')}; medians of ${rounds}.\n`,
  );
  if (runs.length > 0) console.log([ratesTable(runs), readsTable(runs), costTable(runs)].join('\n'));
  if (removals.length > 0) console.log(removalTable(removals));
  for (const installation of installed) {
    const complaints = await installation.complaints();
    console.log(`Warnings and errors in the logs on ${installation.databases.name}: ${complaints.length}`);
    for (const line of complaints.slice(0, 10)) console.error(line.slice(0, 500));
  }
} finally {
  await Promise.all(installed.map((installation) => installation.stop()));
  await Promise.all(opened.map((databases) => databases.stop()));
  await rm(folder, { recursive: true, force: true });
}

async function measure(row: string, installation: Installation): Promise<void> {
  const [what, workers] = row.split('-');
  await installation.useWorkers(Number(workers));
  const one = await (what === 'graph' ? installation.runGraph() : installation.deploySite());
  await installation.useWorkers(0);
  const { name } = installation.databases;
  console.error(`${row} on ${name}: ${one.done} in ${one.seconds.toFixed(1)} s, load ${loadavg()[0]!.toFixed(1)}`);
  const ofRow = timed.get(row) ?? new Map<string, Timed[]>();
  timed.set(row, ofRow.set(name, [...(ofRow.get(name) ?? []), one]));
}

/** Runs the same small graph twice and waits each time until its histories are gone. */
async function removal(installation: Installation): Promise<Removal> {
  const { databases } = installation;
  await installation.useWorkers(1);
  await databases.keepSeconds(KEPT_SECONDS);
  await delay(NAMESPACE_READ_MS);
  const look = async () => ({ rows: await databases.historyRows(), megabytes: (await databases.sizes()).temporal });
  const rounds: Removal['rounds'][number][] = [];
  for (let round = 0; round < 2; round++) {
    const before = await look();
    const { done } = await installation.runGraph(NODES_REMOVED);
    const after = await look();
    const from = performance.now();
    while ((await databases.historyRows()) > before.rows) {
      if (performance.now() - from > REMOVAL_LIMIT_MS) break;
      await delay(500);
    }
    await databases.vacuum();
    rounds.push({ done, before, after, removed: await look(), seconds: (performance.now() - from) / 1_000 });
  }
  await installation.useWorkers(0);
  return { name: databases.name, kept: KEPT_SECONDS, rounds };
}
