import { expect, it } from 'vitest';
import { agentStates, missingAgents } from '../../../src/ops/agent-presence.ts';
import { AgentPresence, type OpsDependencies } from '../../../src/ops/index.ts';
import { ApiMetrics } from '../../../src/platform/telemetry/metrics.ts';
import { apiAlone } from '../../api/api-rig.ts';

const MINUTE = 60_000;
const START = Date.parse('2026-05-01T12:00:00Z');

/** A clock and a Temporal that the test controls: when each queue was polled last, in milliseconds before now. */
function world(polled: Readonly<Record<string, number | undefined>>) {
  let now = START;
  let away = false;
  const asked: string[] = [];
  let atOnce = 0;
  let most = 0;
  const describeTaskQueue = async ({ taskQueue }: { taskQueue: { name: string } }) => {
    asked.push(taskQueue.name);
    atOnce += 1;
    most = Math.max(most, atOnce);
    await Promise.resolve();
    atOnce -= 1;
    if (away) throw new Error('away');
    const ago = polled[taskQueue.name];
    return {
      pollers: ago === undefined ? [] : [{ lastAccessTime: { seconds: Math.floor((START - ago) / 1000) } }],
    };
  };
  const nodes = [
    { id: 1, name: 'a', hostname: null, clusterId: 1 },
    { id: 2, name: 'b', hostname: null, clusterId: 1 },
    { id: 3, name: 'c', hostname: null, clusterId: 2 },
    { id: 4, name: 'd', hostname: null, clusterId: null },
    ...Array.from({ length: 40 }, (_, at) => ({ id: 10 + at, name: `x${at}`, hostname: null, clusterId: 2 })),
  ];
  const deps = {
    store: {
      nodes: {
        list: async ({ clusterId }: { clusterId?: number } = {}) =>
          nodes.filter((node) => clusterId === undefined || node.clusterId === clusterId),
      },
      clusters: {
        list: async () => [
          { id: 1, site: 'dc1' },
          { id: 2, site: null },
        ],
      },
    },
    temporal: {
      connection: {
        workflowService: { describeTaskQueue },
        withDeadline: (_: number, work: () => Promise<unknown>) => work(),
      },
      namespace: 'default',
    },
  } as unknown as OpsDependencies;
  const presence = new AgentPresence(deps, { now: () => now });
  return {
    deps,
    presence,
    asked,
    most: () => most,
    later: (ms: number) => {
      now += ms;
    },
    goAway: (is: boolean) => {
      away = is;
    },
  };
}

it('an agent has the address of its queue in the web page of Temporal, where there is one', async () => {
  const { deps } = world({});
  const urls = async (temporalUiUrl?: string) =>
    (await agentStates({ ...deps, ...(temporalUiUrl && { temporalUiUrl }) }, { nodes: [1, 3] })).map(
      (one) => one.temporal_url,
    );
  expect(await urls('http://temporal.example/')).toEqual([
    'http://temporal.example/namespaces/default/task-queues/node.dc1.a',
    'http://temporal.example/namespaces/default/task-queues/node.cluster-2.3',
  ]);
  expect(await urls()).toEqual([null, null]);
});

it('an agent is online if it polled its control queue within 90 seconds', async () => {
  const { presence, asked, most } = world({
    'node.dc1.a.ctl': 70_000,
    'node.dc1.b.ctl': 91_000,
    'node.cluster-2.3.ctl': 0,
  });
  expect(presence.latest()).toBeUndefined();
  await presence.check();
  expect(presence.latest()).toEqual({ online: 2, offline: 41, at: new Date(START) });
  expect(asked).toContain('node.cluster-2.10.ctl');
  // Once each, though it was asked twice; nodes of no cluster have no agent.
  expect(asked).toHaveLength(43);
  expect(new Set(asked).size).toBe(43);
  expect(most()).toBeLessThanOrEqual(8);
});

it('presence is polled once a minute at most, and only on demand', async () => {
  const { presence, asked, later } = world({ 'node.dc1.a.ctl': 0 });
  await presence.check();
  later(MINUTE - 1);
  expect(presence.latest()).toMatchObject({ online: 1 });
  await presence.check();
  expect(asked).toHaveLength(43);
  later(1);
  await presence.check();
  expect(asked).toHaveLength(86);
  later(MINUTE);
  // Two minutes after it asked last.
  await presence.check();
  expect(presence.latest()).toMatchObject({ online: 0, at: new Date(START + 2 * MINUTE) });
});

it('nothing is reported while Temporal is unreachable, and everything again when it is back', async () => {
  const { presence, later, goAway } = world({ 'node.dc1.a.ctl': 0 });
  await presence.check();
  goAway(true);
  later(MINUTE);
  await presence.check();
  expect(presence.latest()).toBeUndefined();
  goAway(false);
  later(MINUTE);
  await presence.check();
  expect(presence.latest()).toMatchObject({ online: 0, offline: 43 });
});

it('the metrics of the API show the presence of agents with its time, and do not wait for it', async () => {
  const { presence, goAway, later } = world({ 'node.dc1.a.ctl': 0 });
  const rig = await apiAlone();
  const metrics = new ApiMetrics('1', rig.store, presence);
  expect(await metrics.text()).not.toMatch(/^sitewright_agents\{/m);
  await presence.check();
  const text = await metrics.text();
  expect(text).toContain('sitewright_agents{online="true"} 1\n');
  expect(text).toContain('sitewright_agents{online="false"} 42\n');
  expect(text).toContain(`sitewright_agents_looked_at_seconds ${START / 1000}\n`);
  goAway(true);
  later(MINUTE);
  await presence.check();
  const afterwards = await metrics.text();
  expect(afterwards).not.toMatch(/^sitewright_agents\{/m);
  expect(afterwards).toContain(`sitewright_agents_looked_at_seconds ${START / 1000}\n`);
  await rig.close();
});

it('a run is warned of nodes without an agent, with the command that starts them; bare machines need none', async () => {
  const now = Date.now();
  const { deps, goAway } = world({ 'node.dc1.a.ctl': START - now });
  expect(await missingAgents(deps, 1)).toMatchObject([
    {
      severity: 'warning',
      code: 'check.no-agent',
      message: 'No agent is running for 1 of 2 nodes: b. Their tasks would wait.',
      hint: expect.stringContaining('sitewright agent run --cluster 1'),
      nodes: [2],
    },
  ]);
  expect(await missingAgents(deps, 1, [1])).toEqual([]);
  const [many] = await missingAgents(deps, 2);
  expect(many!.message).toContain('41 of 41 nodes: c, x0, x1 and 38 more');
  // Another answer means that Temporal is unreachable.
  goAway(true);
  expect(await missingAgents(deps, 1)).toEqual([]);
});
