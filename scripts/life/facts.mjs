// What is so at the end of a life, however it went: by the machines, MAAS and the witness, then by Sitewright.
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { answering, primaryOf, replicasOf, rowsOf } from './service.mjs';

/** Tasks that start a program on their node. */
const STARTING = new Set(['puppet', 'shell']);

/** MAAS' numbers of states. */
const CHANGES = new Map([
  [9, 'deployed'],
  [12, 'released'],
]);

/**
 * @param {import('./system.mjs').System} system
 * @param {number} answered requests of the client
 */
export async function factsOf(system, answered) {
  const primary = await primaryOf(system);
  const rows = await rowsOf(system, primary);
  assert(rows >= answered, `${answered} requests were answered, and the database has ${rows} rows`);
  /** @type {{ hostname: string, from: number | null, to: number | null }[]} */
  const effects = JSON.parse(await system.shell(`curl --silent --fail ${system.maas}/_control/effects`));
  const changes = effects.flatMap(({ hostname, from, to }) => {
    const change = from === to ? undefined : CHANGES.get(to ?? -1);
    return change === undefined ? [] : [`${hostname} ${change}`];
  });
  const events = `podman events --stream=false --since ${system.since} --filter event=create --format '{{.Name}}'`;
  const containers = (await system.shell(events)).split('\n').filter((name) => name.startsWith('sitewright-web-'));
  /** @type {{ name: string, status: string, roles: string[] }[]} */
  const nodes = await system.ask('node', 'list');
  /** @type {{ node: string, revokedAt: string | null }[]} */
  const certificates = await system.ask('identity', 'certificates', 'webstack');
  return {
    'versions that answer': Object.fromEntries([...(await answering(system))].sort()),
    'primary database': primary,
    'replicas in step': await replicasOf(system, primary),
    'changes of machines in MAAS': counted(changes),
    'containers made': counted(containers),
    'programs of tasks that ran on machines': counted(await executionsOnce(system)),
    nodes: Object.fromEntries(nodes.map(({ name, status, roles }) => [name, `${status}: ${roles.join(', ')}`]).sort()),
    'valid certificates': counted(certificates.filter((one) => one.revokedAt === null).map(({ node }) => node)),
  };
}

/**
 * The witness saw each task that Sitewright reports as done, and none twice.
 *
 * @param {import('./system.mjs').System} system
 */
async function executionsOnce(system) {
  const seen = await system.witness.executions();
  const calls = counted(seen.map(({ call }) => call));
  assert.deepEqual(
    Object.entries(calls).filter(([, times]) => times > 1),
    [],
    'a program was started twice for one try',
  );
  /** @type {{ id: number, graph_type: string | null }[]} */
  const transactions = await system.ask('history', 'list');
  const names = new Map(
    (await system.ask('node', 'list')).map((/** @type {any} */ { id, name }) => [String(id), name]),
  );
  const said = [];
  for (const { id, graph_type: type } of transactions) {
    if (type === null) continue;
    /** @type {{ task_name: string, node_id: string, status: string, type: string }[]} */
    const tasks = await system.ask('history', 'show', String(id));
    for (const task of tasks)
      if (task.status === 'success' && STARTING.has(task.type))
        said.push(`${id} ${task.task_name}@${names.get(task.node_id)}`);
  }
  const there = new Set(seen.map(({ task, transaction }) => `${transaction} ${task}`));
  assert.deepEqual(
    said.filter((task) => !there.has(task)),
    [],
    'tasks that no machine has seen',
  );
  return seen.map(({ task }) => task);
}

/** @param {readonly string[]} names */
function counted(names) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const name of [...names].sort()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/**
 * Compares facts with those of a life without kills.
 *
 * @param {object} facts
 * @param {string} file what is expected
 * @param {boolean} isToRecord these are what is expected from now on
 */
export async function compareFacts(facts, file, isToRecord) {
  if (isToRecord) {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${JSON.stringify(facts, null, 2)}\n`);
    return 'recorded';
  }
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return 'no record of such a life: `--record` makes one';
  assert.deepEqual(facts, JSON.parse(text), 'the end is another than that of a life without kills');
  return 'the same as that of a life without kills';
}
