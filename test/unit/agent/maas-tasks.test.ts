import { deployMachine, type MachineContext, MachineStatus, resolveMachine } from '@sitewright/maas';
import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunTask } from '../../../activities/graph-contract.ts';
import { type MaasParts, maasTask } from '../../../activities/node/task-maas.ts';
import { SilenceReports } from '../../../activities/run/maas-silence.ts';
import { type ExecutionProgress, OrderRefused } from '../../../src/agent/index.ts';
import { type QuickMachine, quickMachine } from '../../rig/quick-machine.ts';

let machine: QuickMachine;
let maas: MachineContext;

beforeEach(async () => {
  machine = await quickMachine();
  maas = machine.maas;
  const found = await resolveMachine(maas, { hostname: 'n001' });
  if (!found.ok) throw new Error(found.failure.message);
  const { systemId } = found.machine;
  await deployMachine(maas, { systemId, site: 'dc1', node: 'n001', run: 'r7', distroSeries: 'jammy' });
});
afterEach(() => machine.close());

/** The requests to MAAS for the machine, in order. */
async function asked(): Promise<string[]> {
  const requests = (await (await fetch(`${machine.simulator.controlUrl}/requests`)).json()) as {
    method: string;
    url: string;
  }[];
  return requests.flatMap(({ method, url }) => (method === 'POST' ? [/[?&]op=(\w+)/.exec(url)?.[1] ?? ''] : []));
}

const request = (type: string, more: Partial<RunTask> = {}): RunTask => ({
  run: '7',
  task: 't',
  node: '3',
  generation: 1,
  type,
  mode: 'apply',
  plan: 'p',
  ...more,
});

const partsOf = (): MaasParts => ({
  maas: () => maas,
  machineOf: async () => ({ hostname: 'n001', site: 'dc1', agent: 'n001' }),
  mayStart: async () => undefined,
  prove: async () => undefined,
  givenTags: { get: async () => [], forget: async () => undefined },
  orders: () => ({
    fetch: async ({ run, task, node, generation, type }) => ({
      execution: { run, task, node, generation, type, parameters: {} },
    }),
  }),
});

async function run(of: RunTask, more: Partial<MaasParts> = {}, from?: ExecutionProgress) {
  const sent: ExecutionProgress[] = [];
  const work = maasTask({ ...partsOf(), ...more }, of);
  if (work === undefined) return undefined;
  const never = new AbortController().signal;
  return { end: await work((progress) => sent.push(progress), from, never, never), sent };
}

describe('tasks that MAAS does', () => {
  it('erase_node releases the machine with its disks erased; a repetition changes nothing', async () => {
    expect((await run(request('erase_node')))!.end).toMatchObject({ outcome: 'success', changed: true });
    expect(await machine.status()).toBe(MachineStatus.Ready);
    expect((await run(request('erase_node')))!.end).toMatchObject({ outcome: 'success', changed: false });
    expect((await asked()).filter((op) => op === 'release')).toHaveLength(1);
  });

  it('move_to_bootstrap makes the machine bare', async () => {
    expect((await run(request('move_to_bootstrap')))!.end).toMatchObject({ outcome: 'success', changed: true });
    expect(await machine.status()).toBe(MachineStatus.Ready);
  });

  it.each(['erase_node', 'move_to_bootstrap'])(
    '%s takes our kernel options and tags off the machine, and forgets them; those of people stay',
    async (type) => {
      const { systemId } = (await maas.client.machines.list({ hostnames: ['n001'] }))[0]!;
      const kernel = `sitewright-kernel-${systemId}`;
      for (const tag of ['gpu', 'by-hand', kernel]) {
        await maas.client.inventory.ensureTag(tag);
        await maas.client.inventory.changeTag(tag, { add: [systemId] });
      }
      const forgotten: string[][] = [];
      const givenTags: MaasParts['givenTags'] = {
        get: async (...of) => (of.join() === `dc1,${systemId}` ? ['gpu'] : []),
        forget: async (...of) => void forgotten.push(of),
      };
      expect((await run(request(type), { givenTags }))!.end).toMatchObject({ outcome: 'success' });
      const { tags } = await maas.client.machines.read(systemId);
      expect(tags.filter((tag) => tag !== 'virtual')).toEqual(['by-hand']);
      expect(forgotten).toEqual([['dc1', systemId]]);
    },
  );

  it.each([
    ['erase_node', 'staying'],
    ['erase_node', 'new'],
    ['move_to_bootstrap', 'staying'],
  ] as const)('%s does not touch the machine of a node that is %s by now', async (type, standing) => {
    const before = await asked();
    const machineOf = async () => ({ hostname: 'n001', site: 'dc1', agent: 'n001', standing });
    expect((await run(request(type), { machineOf }))!.end).toMatchObject({
      outcome: 'refused',
      message: expect.stringContaining('node 3 is not pending removal'),
    });
    expect(await asked()).toEqual(before);
    expect(await machine.status()).toBe(MachineStatus.Deployed);
  });

  it('a machine that was deployed as another node is not touched, whatever its name in MAAS now', async () => {
    const machineOf = async () => ({ hostname: 'n001', deployedAs: 'n002', site: 'dc1', agent: 'n002' });
    expect((await run(request('erase_node'), { machineOf }))!.end).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('was deployed as node n001, not as n002'),
    });
    expect(await machine.status()).toBe(MachineStatus.Deployed);
  });

  it('a machine of another site is not touched', async () => {
    const machineOf = async () => ({ hostname: 'n001', site: 'dc2', agent: 'n001' });
    expect((await run(request('erase_node'), { machineOf }))!.end).toMatchObject({ outcome: 'failed' });
    expect(await machine.status()).toBe(MachineStatus.Deployed);
  });

  it('cobbler_sync needs only a MAAS that answers', async () => {
    expect((await run(request('cobbler_sync')))!.end).toMatchObject({ outcome: 'success', changed: false });
  });

  it('reboot switches the power off and on; a retry after the death of the process only on', async () => {
    const first = await run(request('reboot'));
    expect(first!.end).toMatchObject({ outcome: 'success', changed: true });
    expect((await asked()).slice(-2)).toEqual(['power_off', 'power_on']);
    const off = first!.sent.find(({ last }) => last === 'off')!;
    expect((await run(request('reboot'), {}, off))!.end).toMatchObject({ outcome: 'success' });
    expect((await asked()).slice(-3)).toEqual(['power_off', 'power_on', 'power_on']);
  });

  it.each(['erase_node', 'move_to_bootstrap', 'reboot'])('%s changes nothing before it may start', async (type) => {
    const before = await asked();
    const mayStart = () => Promise.reject(new Error('paused'));
    await expect(run(request(type), { mayStart })).rejects.toThrow('paused');
    expect(await asked()).toEqual(before);
  });

  it('a pause holds a power cycle in each of its tries, until one has changed something', async () => {
    const paused = { mayStart: () => Promise.reject(new Error('paused')) };
    const work = maasTask({ ...partsOf(), ...paused }, request('reboot'))!;
    const never = new AbortController().signal;
    const before = await asked();
    let reached: ExecutionProgress | undefined;
    for (const _try of [1, 2])
      await expect(work((progress) => (reached = progress), reached, never, never)).rejects.toThrow('paused');
    expect(await asked()).toEqual(before);

    const first = await run(request('reboot'));
    const begun = first!.sent.find(({ last }) => last !== 'started')!;
    expect((await run(request('reboot'), paused, begun))!.end).toMatchObject({ outcome: 'success' });
  });

  it('while MAAS does not answer, the run of the task receives since when, and when it answers again', async () => {
    const [since, sent] = [Date.UTC(2026, 10, 22, 11, 42), [] as (string | null)[]];
    let silentSince: number | undefined = since;
    let lookAtPulse: () => void = () => undefined;
    const looked = new Promise<void>((resolve) => {
      lookAtPulse = resolve;
    });
    const silence = new SilenceReports({
      pulse: () => (silentSince === undefined ? { lastAnswerAt: Date.now() } : { silentSince }),
      afterMs: 5,
      send: async (execution, { since: when }) => {
        sent.push(`${execution.workflowId}: ${when}`);
        lookAtPulse();
      },
    });
    // The request of the task waits until its run knows of the silence.
    const machineOf = async () => ({ hostname: 'n001', site: 'dc1', agent: 'n001' });
    const client = { username: () => looked } as unknown as MachineContext['client'];
    const slow = (): MachineContext => ({ ...maas, client });
    const environment = new MockActivityEnvironment({
      workflowExecution: { workflowId: 'execute_graph:1', runId: 'r' },
    });
    const end = environment.run(
      async () => (await run(request('cobbler_sync'), { silence, machineOf, maas: slow }))!.end,
    );
    await looked;
    silentSince = undefined;
    expect(await end).toMatchObject({ outcome: 'success' });
    expect(sent).toEqual([`execute_graph:1: ${new Date(since).toISOString()}`, 'execute_graph:1: null']);
  });

  it('noop changes nothing', async () => {
    for (const type of ['erase_node', 'move_to_bootstrap', 'cobbler_sync', 'reboot']) {
      const before = await asked();
      expect((await run(request(type, { mode: 'noop' })))!.end).toMatchObject({ outcome: 'skipped', changed: false });
      expect(await asked()).toEqual(before);
    }
    expect(await machine.status()).toBe(MachineStatus.Deployed);
  });

  it('a node that is not part of the run, and an invalid order, are rejected', async () => {
    const noMachine = { machineOf: async () => undefined };
    expect((await run(request('erase_node'), noMachine))!.end).toMatchObject({ outcome: 'refused' });
    const refusing = { orders: () => ({ fetch: async () => Promise.reject(new OrderRefused('no such order')) }) };
    expect((await run(request('erase_node'), refusing))!.end).toMatchObject({ outcome: 'refused' });
    expect(await machine.status()).toBe(MachineStatus.Deployed);
  });

  it('a task type of agents is not accepted for MAAS', async () => {
    expect(await run(request('shell'))).toBeUndefined();
  });
});
