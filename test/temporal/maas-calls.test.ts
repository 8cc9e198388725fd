import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAAS_CALLS, MASTER_AGENT } from '../../src/clusters/agent-address.ts';
import { loadSettings } from '../../src/platform/settings/load-settings.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { runLookups } from '../../src/runs/run-lookups.ts';
import { describeBy, startedLookup } from '../../src/runs/started-lookup.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import type { RunningAgents } from '../../worker/parts/agent.ts';
import { startMaasCalls } from '../../worker/parts/maas-calls.ts';
import { nodeQueue, prefixed } from '../../workflows/protocol.ts';
import { environment } from '../api/fuel-graphs-rig.ts';
import { AgentSite } from '../rig/agent-site.ts';

let site: AgentSite;
let store: Store;
let calls: RunningAgents;
let prefix: string;

beforeAll(async () => {
  site = await AgentSite.open();
  store = await openStore('sqlite::memory:');
  await store.migrate();
  await environment(store);
  const { address, namespace, client } = site.temporal;
  prefix = site.temporal.workflowId('own');
  const env = {
    SITEWRIGHT_TEMPORAL_ADDRESS: address,
    SITEWRIGHT_TEMPORAL_NAMESPACE: namespace,
    SITEWRIGHT_TEMPORAL_PREFIX: prefix,
    SITEWRIGHT_AGENT_STATE_DIR: site.rig.path('worker'),
  };
  const loaded = loadSettings({ env, cwd: site.folder });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  calls = await startMaasCalls(loaded.settings, createLogger({ level: 'silent', format: 'json' }, 'worker'), {
    store,
    ...runLookups(client),
    started: startedLookup(describeBy(client)),
    maas: () => {
      throw new Error('no test may come to MAAS');
    },
  });
});
afterAll(async () => {
  await calls?.stop();
  await store?.close();
  await site?.close();
});

it('a worker runs no task of an agent, whoever asks, and polls no queue of `master`', async () => {
  const queue = prefixed(prefix, nodeQueue(MAAS_CALLS.site, MAAS_CALLS.node));
  const run = await site.start({ nodes: [{ node: MAAS_CALLS.node, queue }], tasks: ['forged'] });
  expect(await run.result()).toMatchObject({ [`forged@${MAAS_CALLS.node}`]: { outcome: 'refused' } });
  const { items } = await store.audit.list({ action: 'agent.alarm' });
  expect(items).toMatchObject([{ details: { kind: 'no-order', task: 'forged' } }]);
  expect(existsSync(site.rig.path('worker'))).toBe(false);
  const unserved = prefixed(prefix, nodeQueue(MASTER_AGENT.site, MASTER_AGENT.node));
  const late = await site.start({
    nodes: [{ node: 'master', queue: unserved }],
    tasks: ['forged'],
    scheduleToStartMs: 1_000,
  });
  expect(await late.result()).toMatchObject({ 'forged@master': { failure_kind: 'offline' } });
}, 120_000);
