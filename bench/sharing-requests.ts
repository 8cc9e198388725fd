/**
 * How soon operators' requests take effect while calls to machines fill all slots of a worker: first with free slots, then
 * together with another site whose machines take every slot and wait for more. Machines of the simulator that never end deploying.
 * Worker as built (`npm run build`), a process of its own, with Temporal's dev server.
 * Usage: node bench/sharing-requests.ts [nodes of the site]
 */
import './bounded.ts';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import type { WorkflowHandle } from '@temporalio/client';
import { resolvedRevision } from '../test/rig/resolved-revision.ts';
import { startOneWorker } from './one-worker.ts';
import { siteDocuments } from './site-documents.ts';

const [nodes = 20] = process.argv.slice(2).map(Number);
const SITES = { alone: nodes, beside: nodes, crowd: 3 * nodes };
const namesOf = (site: string, count: number): string[] =>
  Array.from({ length: count }, (_unused, at) => `${site}-${String(at).padStart(3, '0')}`);

const simulator = await simulateMaas({
  port: 0,
  seed: {
    machines: Object.entries(SITES).flatMap(([site, count]) =>
      namesOf(site, count).map((hostname) => ({ hostname, status: 4, power_type: 'ipmi' })),
    ),
  },
  auto: { deploy_ms: 3_600_000 },
});
const installation = await startOneWorker({
  SITEWRIGHT_MAAS_URL: simulator.url,
  SITEWRIGHT_MAAS_KEY: simulatorKeys.admin,
  SITEWRIGHT_MAAS_POLL_MIN_SECONDS: '1',
  SITEWRIGHT_MAAS_POLL_MAX_SECONDS: '2',
  SITEWRIGHT_WORKER_MACHINE_SLOTS: String(2 * nodes),
});
const { client, store } = installation;

async function deploy(site: keyof typeof SITES): Promise<WorkflowHandle> {
  await store.sites.create({ name: site });
  const text = siteDocuments(namesOf(site, SITES[site]), 1);
  await store.sites.addRevision(site, resolvedRevision([{ name: 'site.yaml', text }]));
  const options = { taskQueue: 'sitewright', workflowId: `deploy_site:${site}`, args: [{ site }] };
  return client.workflow.start('deploy_site', options);
}

/** Activities of a kind that run (2), or that wait for a slot (1). */
async function count(run: WorkflowHandle, type: string, state: 1 | 2): Promise<number> {
  const { pendingActivities } = (await run.describe()).raw;
  return (pendingActivities ?? []).filter((one) => one.activityType?.name === type && one.state === state).length;
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(200);
}

/** Seconds from each request to its effect. */
async function requests(run: WorkflowHandle) {
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const from = performance.now();
    await work();
    return Math.round((performance.now() - from) / 10) / 100;
  };
  const pause = await timed(() => run.executeUpdate('pause', { args: [{}] }));
  const resume = await timed(() => run.executeUpdate('resume', { args: [{}] }));
  const cancelled = Date.now();
  const ended = await timed(async () => {
    await run.cancel();
    await run.result().catch(() => undefined);
  });
  const { events } = await run.fetchHistory();
  const list = events ?? [];
  const aborts = list.filter((one) => one.activityTaskScheduledEventAttributes?.activityType?.name === 'abort_node');
  const secondsTo = (one: (typeof list)[number]): number =>
    Math.round((Number(one.eventTime!.seconds) * 1000 + (one.eventTime!.nanos ?? 0) / 1e6 - cancelled) / 10) / 100;
  const ids = new Set(aborts.map(({ eventId }) => String(eventId)));
  const done = list.filter((one) => ids.has(String(one.activityTaskCompletedEventAttributes?.scheduledEventId)));
  return {
    pause,
    resume,
    first_abort_requested: Math.min(...aborts.map(secondsTo)),
    first_abort_done: Math.min(...done.map(secondsTo)),
    last_abort_done: Math.max(...done.map(secondsTo)),
    aborts: done.length,
    ended,
  };
}

try {
  const alone = await deploy('alone');
  await until(async () => (await count(alone, 'deploy_node', 2)) === nodes);
  const free = await requests(alone);
  const beside = await deploy('beside');
  await until(async () => (await count(beside, 'deploy_node', 2)) === nodes);
  const crowd = await deploy('crowd');
  const waiting = async (): Promise<number> =>
    (await count(crowd, 'prepare_node', 1)) + (await count(crowd, 'deploy_node', 1));
  await until(async () => (await waiting()) === SITES.crowd - nodes);
  const full = await requests(beside);
  console.log(JSON.stringify({ nodes, load: loadavg()[0], slots_free: free, slots_full: full }, null, 1));
} finally {
  await installation.stop();
  await simulator.close();
}
