import { type Simulator, simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  abortMachine,
  deployMachine,
  HostnameLookup,
  MaasClient,
  type MachineContext,
  MachineStatus,
  MachineWatcher,
  prepareMachine,
  releaseMachine,
} from '../src/index.ts';
import { kernelTag } from '../src/layout/kernel-options.ts';

let simulator: Simulator;
let context: MachineContext;
let systemId: string;

beforeEach(async () => {
  simulator = await simulateMaas({ port: 0 });
  await control('auto', { commission_ms: 5, deploy_ms: 20, erase_ms: 5, release_ms: 5 });
  context = process(simulatorKeys.admin);
  [systemId] = (await control('seed', { machines: [{ hostname: 'n1' }] })) as [string];
  for (const tag of ['gpu', 'by-hand']) await context.client.inventory.ensureTag(tag);
  await context.client.inventory.changeTag('by-hand', { add: [systemId] });
});
afterEach(async () => {
  await context.client.close();
  await simulator.close();
});

function process(apiKey: string): MachineContext {
  const client = new MaasClient({ url: simulator.url, apiKey, changeTimeoutMs: 5_000 });
  return {
    client,
    watcher: new MachineWatcher(client, { minIntervalMs: 5, maxIntervalMs: 10 }),
    lookup: new HostnameLookup(client, { gatherMs: 1 }),
    patience: { retryDelaysMs: [1, 1], settleMs: 1, markerGraceMs: 1 },
  };
}

async function control(path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`${simulator.controlUrl}/${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const kernelOptions = 'isolcpus=2-5';
const wanted = (run = 'r1', more: object = {}) => ({
  ...{ systemId, site: 'dc1', node: 'n1', run, layout: { kernelOptions }, distroSeries: 'jammy' },
  ...more,
});
const options = { givenTags: ['gpu'] };

/** What is on the machine of those tags that this file is about. */
async function tags(): Promise<readonly string[]> {
  const machine = await context.client.machines.read(systemId);
  return machine.tags.filter((tag) => tag !== 'virtual');
}

/** A machine with kernel options, a tag of the documents and one of a person. */
async function deployed(): Promise<void> {
  await context.client.inventory.changeTag('gpu', { add: [systemId] });
  await deployMachine(context, wanted(), options);
  expect(await tags()).toEqual(['by-hand', 'gpu', kernelTag(systemId)]);
}

async function failedDeployment(): Promise<void> {
  await control('auto', { fail: { deploy: ['n1'] } });
  await deployed();
  await control('auto', { fail: {} });
  expect((await context.client.machines.read(systemId)).status).toBe(MachineStatus.FailedDeployment);
}

describe('what Sitewright put on a machine leaves with its release, and what others put there stays', () => {
  it('a release, once and repeated', async () => {
    await deployed();
    const request = { systemId, site: 'dc1' };
    expect(await releaseMachine(context, request, options)).toMatchObject({
      ok: true,
      machine: { status: MachineStatus.Ready, tags: ['by-hand'] },
      actions: ['untag', 'release'],
    });
    expect(await tags()).toEqual(['by-hand']);
    expect((await context.client.inventory.findTag(kernelTag(systemId)))?.name).toBeUndefined();
    expect(await releaseMachine(context, request, options)).toMatchObject({ ok: true, actions: [], warnings: [] });
  });

  it('a release by hand before, and one whose process died between tags and release', async () => {
    await deployed();
    await context.client.machines.release(systemId);
    await releaseMachine(context, { systemId, site: 'dc1' }, options);
    expect(await tags()).toEqual(['by-hand']);
  });

  it('a machine that the same run has deployed again keeps them', async () => {
    await deployed();
    await releaseMachine(context, { systemId, site: 'dc1', run: 'r1' }, options);
    expect(await tags()).toEqual(['by-hand', 'gpu', kernelTag(systemId)]);
  });

  it('a machine that is refused keeps them', async () => {
    await deployed();
    await context.client.machines.lock(systemId);
    expect(await releaseMachine(context, { systemId, site: 'dc1' }, options)).toMatchObject({ ok: false });
    expect(await releaseMachine(context, { systemId, site: 'dc2' }, options)).toMatchObject({ ok: false });
    expect(await tags()).toEqual(['by-hand', 'gpu', kernelTag(systemId)]);
  });

  it('a failed deployment that the preparation releases', async () => {
    await failedDeployment();
    expect(await prepareMachine(context, { systemId, site: 'dc1' }, options)).toMatchObject({ ok: true });
    expect(await tags()).toEqual(['by-hand']);
  });

  it('a failed deployment that the next one clears', async () => {
    await failedDeployment();
    await control('faults', [{ match: 'POST .*op=allocate', kind: '500', times: 9 }]);
    expect(await deployMachine(context, wanted('r2'), options)).toMatchObject({
      ok: false,
      actions: ['untag', 'release', 'configure'],
    });
    expect(await tags()).toEqual(['by-hand']);
  });

  it('a machine that is given back, as MAAS refuses to deploy it', async () => {
    await context.client.inventory.changeTag('gpu', { add: [systemId] });
    expect(await deployMachine(context, wanted('r1', { distroSeries: 'warty' }), options)).toMatchObject({
      ok: false,
      failure: { kind: 'refused', action: 'deploy' },
      machine: { status: MachineStatus.Ready },
    });
    expect(await tags()).toEqual(['by-hand']);
  });

  it('an abort before the machine was allocated', async () => {
    const dies = async (action: string) => {
      if (action === 'allocate') throw new Error('the process died');
    };
    await expect(deployMachine(context, wanted(), { ...options, acting: dies })).rejects.toThrow('died');
    expect(await tags()).toContain(kernelTag(systemId));
    await abortMachine(context, { systemId, site: 'dc1' }, options);
    expect(await tags()).toEqual(['by-hand']);
  });

  it('kernel options of a machine that someone else was faster to allocate', async () => {
    const other = process(simulatorKeys.operator);
    let isTaken = false;
    const outcome = await deployMachine(context, wanted(), {
      ...options,
      async acting(action) {
        if (action !== 'allocate' || isTaken) return;
        isTaken = true;
        await other.client.machines.allocate(systemId);
      },
    });
    await other.client.close();
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'other-owner' } });
    expect(await tags()).toEqual(['by-hand']);
  });

  it('what MAAS refuses to remove is a warning, and the machine is released', async () => {
    const user = process(simulatorKeys.operator);
    await context.client.inventory.changeTag('gpu', { add: [systemId] });
    const { layout: _, ...plain } = wanted();
    expect(await deployMachine(user, plain, options)).toMatchObject({ ok: true });
    expect(await releaseMachine(user, { systemId, site: 'dc1' }, options)).toMatchObject({
      ok: true,
      machine: { status: MachineStatus.Ready },
      actions: ['release'],
      warnings: [{ code: 'tags-kept', message: expect.stringContaining('gpu') }],
    });
    await user.client.close();
  });

  it.each(['drop_before', 'drop_after', '503'])('a change that ends in %s is made once', async (kind) => {
    await deployed();
    await control('faults', [{ match: '(DELETE|POST) .*/tags/', kind, times: 1 }]);
    const release = () => releaseMachine(context, { systemId, site: 'dc1' }, options);
    await release().catch(release);
    expect(await tags()).toEqual(['by-hand']);
  });
});
