// What must be true after each step of the tutorial. Each answers what the report says of it.
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';

/** @typedef {import('./system.mjs').System} System */

/**
 * @typedef {object} Step
 * @property {(system: System) => Promise<unknown>} [before] its answer is given to `after`
 * @property {(system: System, before: any) => Promise<string>} after
 */

/** Servers that answer, and the versions they have. @param {System} system */
async function answering(system) {
  const servers = new Map();
  for (let tries = 0; tries < 24; tries += 1) {
    const [, version, server] = /^webstack (\S+) on (\S+): visit \d+$/.exec(await system.get('/')) ?? [];
    assert(server !== undefined && version !== undefined, 'the service answers something else');
    servers.set(server, version);
  }
  return servers;
}

/** Rows that the database has, as the service counts them. @param {System} system */
const visits = async (system) => Number.parseInt(await system.get('/visits'), 10);

/** @param {System} system @param {string} like */
async function nodesLike(system, like) {
  /** @type {{ name: string }[]} */
  const nodes = await system.ask('node', 'list', '--env', '1');
  return nodes.filter(({ name }) => name.includes(like)).map(({ name }) => name);
}

/** Machines that are deployed, with their installations: another installation has another start. @param {System} system */
async function installations(system) {
  const found = await system.shell(
    "podman ps --filter label=sitewright.simulator --format '{{.Names}} {{.ID}}' | sort",
  );
  return new Map(
    found
      .trim()
      .split('\n')
      .map((line) => /** @type {[string, string]} */ (line.split(' '))),
  );
}

/** Containers that are not those of before. @param {System} system @param {Map<string, string>} before */
async function newInstallations(system, before) {
  const now = await installations(system);
  return [...now].filter(([name, id]) => before.get(name) !== id).map(([name]) => name.replace('sitewright-', ''));
}

/** @param {System} system */
async function verified(system) {
  await system.shell('sitewright graph execute --env 1 --type network_verification --wait');
}

/** @type {Map<number, Step>} */
export const STEPS = new Map([
  [
    1,
    {
      after: async (system) => {
        const servers = await answering(system);
        assert.deepEqual([...servers.keys()].sort(), (await nodesLike(system, 'app')).sort());
        await verified(system);
        return `${servers.size} servers answer`;
      },
    },
  ],
  [
    2,
    {
      before: installations,
      after: async (system, before) => {
        assert.deepEqual(await newInstallations(system, before), []);
        return 'no machine deployed';
      },
    },
  ],
  [
    3,
    {
      before: installations,
      after: async (system, before) => {
        assert.deepEqual(await newInstallations(system, before), ['web-app-4']);
        const servers = await answering(system);
        assert(servers.has('web-app-4'), 'the new server does not answer');
        return `one machine deployed, ${servers.size} servers answer`;
      },
    },
  ],
  [
    4,
    {
      before: visits,
      after: async (system, before) => {
        const now = await visits(system);
        assert(now >= before, `${before} rows before, ${now} after`);
        const tags = await system.ask('tag', 'list', '--env', '1');
        await verified(system);
        return `${before} rows before, ${now} after; ${JSON.stringify(tags).length > 0 ? 'replicas follow' : ''}`;
      },
    },
  ],
  [
    5,
    {
      after: async (system) => {
        const nodes = await nodesLike(system, 'web-');
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
        return 'version 1.1 answers';
      },
    },
  ],
  [
    7,
    {
      before: installations,
      after: async (system, before) => {
        assert.deepEqual(await newInstallations(system, before), ['web-db-2']);
        return 'one machine deployed again, its replica in step';
      },
    },
  ],
  [
    8,
    {
      after: async (system) => {
        const { nodes } = await system.ask('node', 'status', 'webstack').then((all) => ({ nodes: all }));
        assert(!JSON.stringify(nodes).includes('web-app-2'));
        const certificates = await system.ask('identity', 'certificates', 'webstack', 'web-app-2');
        assert(
          certificates.every((/** @type {{ revoked_at?: unknown }} */ one) => one.revoked_at),
          'it may still act',
        );
        await delay(0);
        return 'released, certificate revoked';
      },
    },
  ],
  [
    9,
    {
      after: async (system) => {
        const report = await system.ask('run', 'report', 'drill');
        const actions = report.operator.map((/** @type {{ action: string }} */ { action }) => action);
        assert.deepEqual(actions, ['pause', 'resume', 'retry_task', 'skip_task']);
        return actions.join(', ');
      },
    },
  ],
]);
