import { deployMachine, type MachineContext, MachineStatus, resolveMachine } from '@sitewright/maas';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunTask } from '../../../../activities/graph-contract.ts';
import { maasTask } from '../../../../activities/node/task-maas.ts';
import { type QuickMachine, quickMachine } from '../../../rig/quick-machine.ts';

let machine: QuickMachine;
let maas: MachineContext;

beforeEach(async () => {
  machine = await quickMachine();
  maas = machine.maas;
});
afterEach(() => machine.close());

async function deployed(acting?: (action: string) => Promise<void>): Promise<void> {
  const found = await resolveMachine(maas, { hostname: 'n001' });
  if (!found.ok) throw new Error(found.failure.message);
  const deployment = { systemId: found.machine.systemId, site: 'dc1', node: 'n001', run: 'r7', distroSeries: 'jammy' };
  await deployMachine(maas, deployment, { acting });
}

async function run(type: string, endIdentity: (...words: string[]) => Promise<void>, more: Partial<RunTask> = {}) {
  const request: RunTask = {
    run: '7',
    task: 't',
    node: '3',
    generation: 1,
    type,
    mode: 'apply',
    plan: 'p',
    ...more,
  };
  const never = new AbortController().signal;
  const work = maasTask(
    {
      maas: () => maas,
      machineOf: async () => ({ hostname: 'n001', site: 'dc1', agent: 'n001' }),
      mayStart: async () => undefined,
      prove: async () => undefined,
      orders: () => ({
        fetch: async ({ run: id, task, node, generation }) => ({
          execution: { run: id, task, node, generation, type, parameters: {} },
        }),
      }),
      endIdentity,
      givenTags: { get: async () => [], forget: async () => undefined },
    },
    request,
  )!;
  return await work(() => undefined, undefined, never, never);
}

it.each(['erase_node', 'move_to_bootstrap'])(
  '%s revokes the identity of the node before its machine is released',
  async (type) => {
    await deployed();
    const ended: [...string[], number][] = [];
    const endIdentity = async (...words: string[]) => void ended.push([...words, await machine.status()]);
    expect(await run(type, endIdentity, { mode: 'noop' })).toMatchObject({ outcome: 'skipped' });
    expect(ended).toEqual([]);
    expect(await run(type, endIdentity)).toMatchObject({ outcome: 'success' });
    expect(ended).toEqual([['dc1', 'n001', 'release', MachineStatus.Deployed]]);
    // It no longer has an owner: there is nothing to end.
    expect(await run(type, endIdentity)).toMatchObject({ outcome: 'success', changed: false });
    expect(ended).toHaveLength(1);
  },
);

it('a machine is not released while its identity cannot be revoked', async () => {
  await deployed();
  const away = async () => Promise.reject(new Error('the store is away'));
  await expect(run('erase_node', away)).rejects.toThrow('the store is away');
  expect(await machine.status()).toBe(MachineStatus.Deployed);
});

it('a deployment is announced before it begins, unless the machine is already deployed', async () => {
  const asked: string[] = [];
  const acting = async (action: string) => void asked.push(action);
  await deployed(acting);
  expect(asked).toContain('deploy');
  asked.length = 0;
  await deployed(acting);
  expect(asked).toEqual([]);
});
