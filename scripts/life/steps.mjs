// What must be true after each step of the tutorial.
import assert from 'node:assert/strict';

/** @typedef {import('./system.mjs').System} System */

/**
 * @typedef {object} Outcome what a step did
 * @property {any} before the answer of `before`
 * @property {number} answered requests of the client that were answered
 * @property {string[]} ran `task@node` that were carried out
 *
 * @typedef {object} Step
 * @property {(system: System) => Promise<unknown>} [before]
 * @property {(system: System, outcome: Outcome) => Promise<string>} after what the report says
 */

/**
 * Servers that answer, and the versions they have.
 *
 * @param {System} system
 */
async function answering(system) {
  const servers = new Map();
  for (let tries = 0; tries < 24; tries += 1) {
    const [, version, server] = /^webstack (\S+) on (\S+): visit \d+$/.exec(await system.get('/')) ?? [];
    assert(server !== undefined && version !== undefined, 'the service answers something else');
    servers.set(server, version);
  }
  return servers;
}

/**
 * @param {string} node
 * @param {string} statement
 */
const ask = (node, statement) =>
  `podman exec sitewright-${node} runuser -u postgres -- psql --no-psqlrc -Atc "${statement}" webstack`;

/**
 * Rows that the database has.
 *
 * @param {System} system
 * @param {string} node
 */
const rows = async (system, node) => Number(await system.shell(ask(node, 'SELECT count(*) FROM visits')));

/**
 * The one database that takes changes.
 *
 * @param {System} system
 */
async function primary(system) {
  const found = [];
  for (const node of (await installations(system)).keys())
    if (node.includes('db') && (await system.shell(ask(node, 'SELECT pg_is_in_recovery()'))) === 'f\n')
      found.push(node);
  assert(found.length === 1 && found[0] !== undefined, `${found.length} databases take changes`);
  return found[0];
}

/**
 * Containers by their machines: a machine that is deployed again has another.
 *
 * @param {System} system
 * @returns {Promise<Map<string, string>>}
 */
async function installations(system) {
  const like = "--filter label=sitewright.simulator --format '{{.Names}} {{.ID}}'";
  const lines = (await system.shell(`podman ps ${like}`)).trim().split('\n');
  return new Map(lines.map((line) => /** @type {[string, string]} */ (line.replace('sitewright-', '').split(' '))));
}

/**
 * Machines that were deployed since.
 *
 * @param {System} system
 * @param {Map<string, string>} before
 */
async function deployedSince(system, before) {
  return [...(await installations(system))].filter(([name, id]) => before.get(name) !== id).map(([name]) => name);
}

/**
 * The release's own checks: the service answers to every server, and replicas follow.
 *
 * @param {System} system
 */
const verify = (system) => system.shell('sitewright graph execute --env 1 --type network_verification --wait');

/** @type {Map<number, Step>} */
export const STEPS = new Map([
  [
    1,
    {
      after: async (system) => {
        const servers = await answering(system);
        const machines = [...(await installations(system)).keys()];
        assert.deepEqual([...servers.keys()].sort(), machines.filter((name) => name.includes('app')).sort());
        await verify(system);
        return `${machines.length} machines, ${servers.size} servers answer`;
      },
    },
  ],
  [
    2,
    {
      before: installations,
      after: async (system, { before, ran }) => {
        assert.deepEqual(await deployedSince(system, before), []);
        assert.deepEqual(ran, []);
        return 'no machine deployed';
      },
    },
  ],
  [
    3,
    {
      before: installations,
      after: async (system, { before, ran }) => {
        assert.deepEqual(await deployedSince(system, before), ['web-app-4']);
        const others = ran.filter(
          (task) => !/@web-app-4$|^(?:webstack-1\.0-files|balance|balancer-data)@web-lb-/.test(task),
        );
        assert.deepEqual(others, [], 'more than the new machine and the balancers changed');
        const servers = await answering(system);
        assert(servers.has('web-app-4'), 'the new server does not answer');
        return `one machine deployed, ${servers.size} servers answer`;
      },
    },
  ],
  [
    4,
    {
      before: async (system) => rows(system, await primary(system)),
      after: async (system, { before, answered }) => {
        const node = await primary(system);
        assert.notEqual(node, 'web-db-1');
        const now = await rows(system, node);
        assert(now >= before + answered, `${before} rows, ${answered} answered requests, and then ${now} rows`);
        await verify(system);
        return `${node} has it, ${before} rows before, ${now} after`;
      },
    },
  ],
  [
    5,
    {
      after: async (_system, { ran }) => {
        const others = ran.filter((task) => !/^(?:webstack-metrics-1\.0-files|metrics-\w+)@/.test(task));
        assert.deepEqual(others, [], 'more than the tasks of the plugin ran');
        const nodes = ran.filter((task) => task.startsWith('metrics-exporter@'));
        assert(nodes.length > 0, 'no task of the plugin ran');
        return `${nodes.length} nodes have figures`;
      },
    },
  ],
  [
    6,
    {
      after: async (system) => {
        const versions = new Set((await answering(system)).values());
        assert.deepEqual([...versions], ['1.1']);
        return 'version 1.1 answers everywhere';
      },
    },
  ],
  [
    7,
    {
      before: installations,
      after: async (system, { before }) => {
        assert.deepEqual(await deployedSince(system, before), ['web-db-3']);
        const replica = await system.shell(ask('web-db-3', 'SELECT status FROM pg_stat_wal_receiver'));
        assert.equal(replica, 'streaming\n');
        return 'one machine deployed again, its replica in step';
      },
    },
  ],
  [
    8,
    {
      after: async (system) => {
        assert(!(await installations(system)).has('web-app-2'), 'its machine was not released');
        assert(!(await answering(system)).has('web-app-2'), 'it still answers');
        /** @type {{ revokedAt: string | null }[]} */
        const certificates = await system.ask('identity', 'certificates', 'webstack', 'web-app-2');
        assert(certificates.length > 0 && certificates.every((one) => one.revokedAt !== null), 'it may still act');
        return 'machine released, certificate revoked';
      },
    },
  ],
  [
    9,
    {
      after: async (system) => {
        const { operator, outcome } = await system.ask('run', 'report', 'execute_graph:1:drill');
        const actions = operator.map((/** @type {{ action: string }} */ { action }) => action);
        assert.deepEqual(actions, ['pause', 'resume', 'retry_task', 'skip_task']);
        return `${actions.join(', ')}: ${outcome}`;
      },
    },
  ],
]);
