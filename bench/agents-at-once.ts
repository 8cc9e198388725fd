/**
 * Agents of a site's nodes in one process, with orders from the store as `sitewright agent run` has them, that end every task
 * at once without doing it: `node bench/agents-at-once.ts SITE NODE…`, with settings in the environment.
 */
import './bounded.ts';
import type { FollowEvent } from '../src/agent/index.ts';
import { loadSettings } from '../src/platform/settings/load-settings.ts';
import { createLogger } from '../src/platform/telemetry/log.ts';
import { openStore } from '../src/store/index.ts';
import { startAgents } from '../worker/parts/agent.ts';
import { storeOrdersOf } from '../worker/parts/agent-orders.ts';
import { installRuntime } from '../worker/parts/runtime.ts';
import { openStartGate } from '../worker/parts/start-gate.ts';
import { stubHost } from './stub-host.ts';

const [site = '', ...nodes] = process.argv.slice(2);
const loaded = loadSettings({ env: process.env, cwd: process.cwd() });
if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
const { settings } = loaded;
const log = createLogger({ level: 'info', format: 'json' }, 'agent');
installRuntime(log, false);

const nothing = { bytes: 0, dropped: 0, tail: '', binary: false };

async function* atOnce(): AsyncGenerator<FollowEvent> {
  const now = new Date().toISOString();
  yield {
    kind: 'ended',
    result: {
      v: 1,
      outcome: 'success',
      failure: null,
      message: 'nothing was done',
      changed: false,
      exitCode: 0,
      signal: null,
      startedAt: now,
      endedAt: now,
      bootId: 'bench',
      tries: [],
      killed: null,
      leftRunning: 0,
      summary: {},
      output: { stdout: nothing, stderr: nothing },
    },
  };
}

const store = await openStore(settings.store.url);
const gate = openStartGate(settings, store, log);
const agents = await startAgents(
  settings,
  nodes.map((node) => ({ site, node })),
  log,
  {
    ordersOf: storeOrdersOf(settings, store, log, gate),
    version: 'bench',
    hostOf: ({ node }) => stubHost(node, atOnce),
  },
);
process.once('SIGTERM', () => void agents.stop());
await agents.done;
await Promise.all([gate.close(), store.close()]);
