import { setTimeout as delay } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentNetwork, networkMissing } from '../rig/agent-network.ts';
import { AgentSite, askedAgain } from '../rig/agent-site.ts';

const missing = networkMissing();
if (missing !== undefined) console.warn(`skipped: agents behind bad networks, because ${missing}`);

/** Seconds of real outages to try in addition to the shortest that the server notices, e.g. `5,60,600`. */
const outages = (process.env.SITEWRIGHT_TEST_OUTAGES ?? '').split(',').filter(Boolean).map(Number);

describe.skipIf(missing !== undefined).concurrent('an agent behind a bad network', () => {
  let site: AgentSite;
  const networks: AgentNetwork[] = [];
  beforeAll(async () => {
    site = await AgentSite.open();
  });
  afterAll(async () => {
    await site.close();
    for (const network of networks) await network.close();
  });

  /** A node in a separate network, in the middle of a task. */
  async function inMidTask(node: string, heartbeatMs = 1_000) {
    const network = await AgentNetwork.open(site.temporal.address);
    networks.push(network);
    const gate = site.gate(`cut-${node}`);
    await site.host([node], { address: network.address }, { inside: network.inside });
    const tasks = [`cut-${node}`, 'next'];
    const longest = Math.max(60, ...outages) * 1_000;
    const run = await site.start({ nodes: site.queues([node]), tasks, heartbeatMs, scheduleToStartMs: 2 * longest });
    await gate.started();
    return { network, gate, run };
  }

  /** Both tasks ran, each once, and nothing of the output is missing. */
  async function ranOnce(node: string, run: WorkflowHandle): Promise<void> {
    const ends = (await run.result()) as Record<string, { outcome: string }>;
    expect(Object.values(ends).map(({ outcome }) => outcome)).toEqual(['success', 'success']);
    expect(site.counted(node)).toEqual([`cut-${node}`, 'next']);
    expect(await site.logged(`cut-${node}`, node)).toBe('before\nafter\n');
  }

  it.each(['during the outage', 'after it'] as const)(
    'whose link goes down follows a task that ends %s, and does not run it again',
    async (when) => {
      const node = `link-${when.length}`;
      const { network, gate, run } = await inMidTask(node);
      network.link('down');
      await askedAgain(run);
      if (when === 'during the outage') gate.open();
      network.link('up');
      gate.open();
      await ranOnce(node, run);
    },
  );

  it.skipIf(outages.length === 0).each(outages)(
    'whose link is down for %i s follows its task, and does not run it again',
    async (seconds) => {
      const node = `down-${seconds}`;
      const { network, gate, run } = await inMidTask(node);
      network.link('down');
      // The task has its own limit (120 s), which the node enforces alone.
      await delay(Math.min(seconds, 60) * 1_000);
      if (seconds > 60) gate.open();
      await delay(Math.max(0, seconds - 60) * 1_000);
      network.link('up');
      gate.open();
      await ranOnce(node, run);
    },
    2_000_000,
  );

  it('that loses three packets in ten, and delays the others by half a second, runs its task once', async () => {
    const { network, gate, run } = await inMidTask('lossy', 5_000);
    await network.weather({ loss: 0.3, delayMs: 500 });
    gate.open();
    await ranOnce('lossy', run);
  });

  it.each(['to-agents', 'from-agents'] as const)(
    'that is cut in one direction (%s) for a while runs its task once',
    async (cut) => {
      const { network, gate, run } = await inMidTask(cut);
      await network.weather({ cut });
      await askedAgain(run);
      gate.open();
      await network.weather({});
      await ranOnce(cut, run);
    },
  );

  it('whose connection only the server has closed runs its task once', async () => {
    const { network, gate, run } = await inMidTask('half-open');
    await network.weather({ cut: 'both' });
    network.hangUp();
    await askedAgain(run);
    gate.open();
    await network.weather({});
    await ranOnce('half-open', run);
  });
});
