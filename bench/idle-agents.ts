// Measures the cost of idle agents: `node bench/idle-agents.ts [agents=1000] [seconds=60]`. Starts a dev server with
// the flags of src/platform/temporal/dev-server.ts, and all agents in one process. Reads CPU time from /proc over the
// idle seconds. Copy the result to bench/agents-results.md.
import './bounded.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startAgentHost } from '../test/rig/agent-host-process.ts';
import { startBenchServer } from './dev-server.ts';
import { processorSeconds, residentMegabytes } from './processes.ts';

const [agents = 1_000, seconds = 60] = process.argv.slice(2).map(Number);
const rssMb = (pid: number): number => residentMegabytes(pid, 'VmRSS');

const folder = mkdtempSync(join(tmpdir(), 'sitewright-idle-'));
const server = await startBenchServer(folder);
const host = async (count: number, at = 0) =>
  startAgentHost({
    address: server.address,
    nodes: Array.from({ length: count }, (_unused, index) => ({ site: 'idle', node: `n${at + index}` })),
    stateDir: join(folder, 'state'),
    folder,
    version: '1',
  });
const began = performance.now();
const one = await host(1, agents);
const many = await host(agents);
const startSeconds = (performance.now() - began) / 1000;
await delay(15_000);
const before = [processorSeconds(server.pid), processorSeconds(many.child.pid!)] as const;
await delay(seconds * 1000);
const after = [processorSeconds(server.pid), processorSeconds(many.child.pid!)] as const;
const percent = (at: 0 | 1) => Math.round(((after[at] - before[at]) / seconds) * 1000) / 10;
console.log(
  JSON.stringify({
    agents,
    seconds,
    load: loadavg()[0],
    start_seconds: Math.round(startSeconds * 10) / 10,
    server: { cpu_percent_of_a_core: percent(0), rss_mb: rssMb(server.pid) },
    host: {
      cpu_percent_of_a_core: percent(1),
      rss_mb: rssMb(many.child.pid!),
      mb_per_agent: Math.round(((rssMb(many.child.pid!) - rssMb(one.child.pid!)) / (agents - 1)) * 1000) / 1000,
    },
    one_agent_alone_rss_mb: rssMb(one.child.pid!),
  }),
);
await many.kill();
await one.kill();
await server.stop();
rmSync(folder, { recursive: true, force: true });
