import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { executionFolder } from '../../src/agent/journal/execution.ts';
import { Journal } from '../../src/agent/journal/journal.ts';
import { startDevServer } from '../../src/platform/temporal/dev-server.ts';
import { peakRssBytes } from '../rig/agent-host-process.ts';
import { AgentSite, askedAgain, eventually } from '../rig/agent-site.ts';
import { supervisorProgram } from '../rig/program.ts';
import { TcpProxy } from '../rig/tcp-proxy.ts';

let site: AgentSite;

beforeAll(async () => {
  site = await AgentSite.open();
});
afterAll(() => site.close());

describe('kill -9 of an agent in mid-task', () => {
  it.each([
    ['at once', async () => undefined],
    ['after the server has given it up', askedAgain],
  ])('and a restart %s: the task ran once and its output is complete', async (name, wait) => {
    const node = `kill-${name.length}`;
    const gate = site.gate(`survives-${node}`);
    const first = await site.host([node]);
    const run = await site.start({
      nodes: site.queues([node]),
      tasks: [`survives-${node}`, 'next'],
      heartbeatMs: 1_000,
    });
    await gate.started();
    await first.kill();
    await wait(run);
    await site.host([node]);
    gate.open();
    const ends = await run.result();
    expect(Object.values(ends).map(({ outcome }) => outcome)).toEqual(['success', 'success']);
    expect(site.counted(node)).toEqual([`survives-${node}`, 'next']);
    expect(await site.logged(`survives-${node}`, node)).toBe('before\nafter\n');
  });

  it('lets the task end on its own while the agent is down; the next agent reports its result', async () => {
    const gate = site.gate('alone');
    const first = await site.host(['lonely']);
    const run = await site.start({ nodes: site.queues(['lonely']), tasks: ['alone'], heartbeatMs: 1_000 });
    await gate.started();
    await first.kill();
    gate.open();
    const key = { run: 'r1', task: 'alone', node: 'lonely', generation: 1 };
    await site.rig.agent({ node: 'lonely', stateDir: site.stateDir }).result(key);
    await site.host(['lonely']);
    expect((await run.result())['alone@lonely']).toMatchObject({ outcome: 'success', exit_code: 0 });
    expect(await site.logged('alone', 'lonely')).toBe('before\nafter\n');
    expect(site.counted('lonely')).toEqual(['alone']);
  });

  it('that is never started again makes the node offline within the limit', async () => {
    const gate = site.gate('lost');
    const first = await site.host(['gone']);
    const run = await site.start({
      nodes: site.queues(['gone']),
      tasks: ['lost', 'next'],
      heartbeatMs: 1_000,
      scheduleToStartMs: 2_000,
    });
    await gate.started();
    await first.kill();
    const ends = await run.result();
    gate.open();
    expect(Object.values(ends).map(({ failure_kind }) => failure_kind)).toEqual(['offline', 'offline']);
    expect(site.counted('gone')).toEqual(['lost']);
  });
});

it('an agent that is cut off keeps its task; once it is back the task is followed, not run again', async () => {
  const proxy = await TcpProxy.open(site.temporal.address);
  try {
    const gate = site.gate('cut');
    await site.host(['remote'], { address: proxy.address });
    const run = await site.start({ nodes: site.queues(['remote']), tasks: ['cut', 'next'], heartbeatMs: 1_000 });
    await gate.started();
    proxy.cut();
    await askedAgain(run);
    gate.open();
    proxy.restore();
    const ends = await run.result();
    expect(Object.values(ends).map(({ outcome }) => outcome)).toEqual(['success', 'success']);
    expect(site.counted('remote')).toEqual(['cut', 'next']);
    expect(await site.logged('cut', 'remote')).toBe('before\nafter\n');
  } finally {
    await proxy.close();
  }
});

it('SIGTERM ends the agent immediately and leaves its task running', async () => {
  const gate = site.gate('terminated');
  const first = await site.host(['term']);
  const run = await site.start({ nodes: site.queues(['term']), tasks: ['terminated'] });
  await gate.started();
  expect(await first.kill('SIGTERM')).toBe(0);
  await site.host(['term']);
  gate.open();
  expect((await run.result())['terminated@term']).toMatchObject({ outcome: 'success' });
  expect(site.counted('term')).toEqual(['terminated']);
});

it.each([
  ['forwards', 3_600_000],
  ['backwards', -3_600_000],
])('a clock that steps %s by an hour neither ends a task early nor keeps it from its time limit', async (way, step) => {
  const clock = join(site.folder, `clock-${way}`);
  writeFileSync(clock, '0');
  const shim = fileURLToPath(new URL('../rig/stepping-clock.mjs', import.meta.url));
  const [node, program] = supervisorProgram();
  const gate = site.gate(`steps-${way}`);
  const env = { SITEWRIGHT_TEST_CLOCK: clock, NODE_OPTIONS: `--import ${shim}` };
  await site.host(
    [`clock-${way}`],
    {
      agent: { supervisorCommand: ['/usr/bin/env', `SITEWRIGHT_TEST_CLOCK=${clock}`, node, '--import', shim, program] },
    },
    { env },
  );
  const run = await site.start({ nodes: site.queues([`clock-${way}`]), tasks: [`steps-${way}`, 'short-limit'] });
  await gate.started();
  writeFileSync(clock, String(step));
  gate.open();
  const ends = await run.result();
  expect(ends[`steps-${way}@clock-${way}`]).toMatchObject({ outcome: 'success' });
  // Its limit is a second (test/rig/agent-orders.ts), the clock an hour off.
  expect(ends[`short-limit@clock-${way}`]).toMatchObject({ outcome: 'failed', failure_kind: 'timeout' });
});

it('a gigabyte of output keeps agent and supervisor small, heartbeats in time, the log capped and the result short', async () => {
  const bytes = 1024 ** 3;
  const key = { run: 'r1', task: 'flood', node: 'flooded', generation: 1 };
  const [begin, flooded] = [site.gate('begin'), site.gate('flood')];
  const after = readFileSync(join(site.folder, 'scripts/flood.sh'), 'utf8').replace('echo before\n', '');
  site.script('flood', `yes 'one line of very many' | head -c ${bytes}\n${after.replace('echo after\n', '')}`);
  const agent = await site.host(['flooded']);
  const run = await site.start({ nodes: site.queues(['flooded']), tasks: ['begin', 'flood'], heartbeatMs: 10_000 });
  await begin.started();
  const before = agent.peakRssBytes();
  begin.open();
  await flooded.started();
  const { pid } = new Journal(executionFolder(site.stateDir, key)).readClaim()!;
  const supervisor = peakRssBytes(pid);
  flooded.open();
  const ends = await run.result();
  expect(ends['flood@flooded']).toMatchObject({ outcome: 'success' });
  expect(JSON.stringify(ends['flood@flooded']).length).toBeLessThan(2_000);
  expect(agent.peakRssBytes() - before).toBeLessThan(50 * 1024 * 1024);
  expect(supervisor).toBeLessThan(200 * 1024 * 1024);
  const { events = [] } = await run.fetchHistory();
  const attempts = events?.flatMap(({ activityTaskStartedEventAttributes: started }) => started?.attempt ?? []);
  expect(attempts).toEqual([1, 1]);
  let [kept, dropped] = [0, 0];
  for await (const part of site.logs.read(key, 'stdout')) {
    if (part.kind === 'output') kept += part.bytes.length;
    if (part.kind === 'gap') dropped += part.to - part.offset;
  }
  expect(kept).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(kept + dropped).toBe(bytes);
});

it('a server that is killed, started, stopped and started again during 50 running tasks loses none and repeats none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sitewright-server-'));
  const options = {
    binary: inject('temporalBinary'),
    databaseFile: join(folder, 'temporal.db'),
    logFile: join(folder, 'temporal.log'),
    uiPort: 'none',
  } as const;
  let server = await startDevServer(options);
  try {
    const own = await AgentSite.open(server.address);
    try {
      const nodes = own.names(50);
      const gate = own.gate('under-way');
      await own.agents(nodes);
      const run = await own.start({ nodes: own.queues(nodes), tasks: ['under-way', 'next'], heartbeatMs: 5_000 });
      await eventually(() => nodes.every((node) => own.counted(node).length === 1));
      process.kill(server.pid, 'SIGKILL');
      for (let start = 1; start <= 2; start += 1) {
        await server.stop();
        server = await startDevServer({ ...options, port: Number(server.address.split(':')[1]) });
      }
      gate.open();
      const ends = await run.result();
      expect(Object.values(ends).filter(({ outcome }) => outcome === 'success')).toHaveLength(100);
      for (const node of nodes) expect(own.counted(node)).toEqual(['under-way', 'next']);
    } finally {
      await own.close();
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

it('agents in processes of their own, some of which are killed in mid-task: no task is late, lost or repeated', async () => {
  const count = Number(process.env.SITEWRIGHT_TEST_AGENT_PROCESSES ?? 9);
  const nodes = site.names(count).map((name) => `own-${name}`);
  const gate = site.gate('under-way');
  const began = performance.now();
  const agents = await Promise.all(nodes.map((node) => site.host([node])));
  const run = await site.start({ nodes: site.queues(nodes), tasks: ['under-way', 'next'], heartbeatMs: 5_000 });
  await eventually(() => nodes.every((node) => site.counted(node).length === 1), 120_000);
  const peaks = agents.map((agent) => Math.round(agent.peakRssBytes() / 1024 / 1024));
  const killed = agents.flatMap((agent, at) => (at % 3 === 0 ? [{ agent, node: nodes[at]! }] : []));
  await Promise.all(killed.map(({ agent }) => agent.kill()));
  await Promise.all(killed.map(({ node }) => site.host([node])));
  gate.open();
  const ends = Object.values(await run.result());
  // Late would be: offline, by the limit on the time until a task is taken.
  expect(ends.map(({ outcome }) => outcome)).toEqual(Array(2 * count).fill('success'));
  for (const node of nodes) expect(site.counted(node)).toEqual(['under-way', 'next']);
  expect(Math.max(...peaks)).toBeLessThan(200);
  const seconds = Math.round((performance.now() - began) / 1000);
  console.info(
    `${count} agent processes, ${killed.length} killed: ${seconds} s, ${Math.min(...peaks)}-${Math.max(...peaks)} MB each`,
  );
});
