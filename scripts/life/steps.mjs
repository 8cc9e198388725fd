// What must be true after each step of the tutorial.
import assert from 'node:assert/strict';
import { checkLayouts } from './layouts.mjs';
import { answering, deployedSince, installations, primaryOf, rowsOf, statusOfReplica, verify } from './service.mjs';

/** @typedef {import('./system.mjs').System} System */

/**
 * @typedef {object} Outcome what a step did
 * @property {any} before the answer of `before`
 * @property {number} answered requests of the client that were answered
 * @property {string[]} ran `task@node` that were carried out
 *
 * @typedef {object} Step
 * @property {(system: System) => Promise<unknown>} [before]
 * @property {(system: System, outcome: Outcome) => Promise<string>} after the report's line
 */

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
        await checkLayouts(system);
        assert.equal(await statusOfReplica(system, 'web-db-3'), 'streaming');
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
