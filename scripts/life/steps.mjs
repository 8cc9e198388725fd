// What must be true after each step of the tutorial.
import assert from 'node:assert/strict';
import { checkLayouts } from './layouts.mjs';
import { answering, deployedSince, installations, primaryOf, rowsOf, statusOfReplica, verify } from './service.mjs';

/** @typedef {import('./system.mjs').System} System */

/**
 * @typedef {object} Outcome what a step did
 * @property {any} before the answer of `before`
 * @property {number} answered requests of the client that were answered
 * @property {number} failed requests of the client that failed
 * @property {string[]} ran `task@node` that were carried out
 *
 * @typedef {object} Step
 * @property {(system: System) => Promise<unknown>} [before]
 * @property {(system: System, outcome: Outcome) => Promise<string>} after the report's line
 */

/** Of the application servers. */
const WAVES = 2;

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
        assert.equal(await checkLayouts(system), machines.length);
        return `${machines.length} machines with bonds and volumes, ${servers.size} servers answer`;
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
        await checkLayouts(system);
        return `one machine deployed, ${servers.size} servers answer`;
      },
    },
  ],
  [
    4,
    {
      before: async (system) => rowsOf(system, await primaryOf(system)),
      after: async (system, { before, answered }) => {
        const node = await primaryOf(system);
        assert.notEqual(node, 'web-db-1');
        const now = await rowsOf(system, node);
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
      after: async (system, { failed }) => {
        const versions = new Set((await answering(system)).values());
        assert.deepEqual([...versions], ['1.1']);
        assert.equal(failed, 0, 'requests failed');
        const rollout = await newestRollout(system);
        assert.deepEqual(rollout, { state: 'success', wave: WAVES, waves: WAVES, checks: ['service well'] });
        return `version 1.1 answers everywhere, after ${WAVES} waves`;
      },
    },
  ],
  [
    7,
    {
      after: async (system, { ran, failed }) => {
        const servers = await answering(system);
        assert.deepEqual([...new Set(servers.values())], ['1.1']);
        assert.equal(failed, 0, 'requests failed');
        const upgraded = ran.filter((task) => task.startsWith('application@')).sort();
        const once = [...servers.keys()].map((name) => `application@${name}`).sort();
        assert.deepEqual(upgraded, [once[0], ...once], 'more than the first server had the version');
        const [back, broken] = [await newestRollout(system), await newestRollout(system, 1)];
        assert.deepEqual(broken, { state: 'stopped', wave: 1, waves: WAVES, checks: ['service unknown'] });
        assert.deepEqual(back, { state: 'success', wave: WAVES, waves: WAVES, checks: ['service well'] });
        return `stopped at ${once[0]?.replace('application@', '')}, and version 1.1 everywhere again`;
      },
    },
  ],
  [
    8,
    {
      before: installations,
      after: async (system, { before }) => {
        assert.deepEqual(await deployedSince(system, before), ['web-db-3']);
        await checkLayouts(system);
        assert.equal(await statusOfReplica(system, 'web-db-3'), 'streaming');
        return 'one machine deployed again, its replica in step';
      },
    },
  ],
  [
    9,
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
    10,
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

/**
 * How the rollout of a run on the cluster ended.
 *
 * @param {System} system
 * @param {number} before so many runs before the newest
 */
async function newestRollout(system, before = 0) {
  /** @type {{ number: number }[]} */
  const runs = await system.ask('run', 'list', '--cluster', '1', '--limit', String(before + 1));
  const { graphs } = await system.ask('run', 'report', String(runs[before]?.number));
  const { state, wave, waves, checks } = graphs[0].rollouts[0];
  return {
    ...{ state, wave, waves },
    checks: checks.map((/** @type {{ name: string, verdict: string }} */ { name, verdict }) => `${name} ${verdict}`),
  };
}
