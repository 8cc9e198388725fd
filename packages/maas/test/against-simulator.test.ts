import {
  type MaasVersion,
  maasVersions,
  type Simulator,
  simulateMaas,
  simulatorKeys,
} from '@sitewright/maas-simulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../src/clock.ts';
import type { MaasConnectionConfig } from '../src/connection.ts';
import {
  abortMachine,
  checkMaas,
  deployMachine,
  HostnameLookup,
  MaasClient,
  MaasError,
  type MachineContext,
  type MachineOutcome,
  MachineWatcher,
  prepareMachine,
  releaseMachine,
  resolveMachine,
} from '../src/index.ts';
import { LeapingClock } from './rig/leaping-clock.ts';

let simulator: Simulator;
let context: MachineContext;

async function simulate(version: MaasVersion): Promise<void> {
  simulator = await simulateMaas({ port: 0, version });
  await control('auto', { commission_ms: 5, deploy_ms: 20, erase_ms: 5, release_ms: 5 });
  context = process();
}
afterEach(async () => {
  await context.client.close();
  await simulator.close();
});

/** The resources of one orchestrator process, with all times in milliseconds. */
function process(apiKey: string = simulatorKeys.admin, more: Partial<MaasConnectionConfig> = {}): MachineContext {
  const client = new MaasClient({ url: simulator.url, apiKey, changeTimeoutMs: 5_000, ...more });
  return {
    client,
    watcher: new MachineWatcher(client, { minIntervalMs: 5, maxIntervalMs: 10 }),
    lookup: new HostnameLookup(client, { gatherMs: 1 }),
    patience: { retryDelaysMs: [5, 5, 5], settleMs: 20, markerGraceMs: 20 },
  };
}

async function control(path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`${simulator.controlUrl}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function listOf<T>(what: 'effects' | 'requests'): Promise<readonly T[]> {
  return (await (await fetch(`${simulator.controlUrl}/${what}`)).json()) as readonly T[];
}

/** How often a machine really changed its state by that operation. */
async function countOf(cause: string): Promise<number> {
  return (await listOf<{ readonly cause: string; readonly from: number; readonly to: number }>('effects')).filter(
    (effect) => effect.cause === cause && effect.from !== effect.to,
  ).length;
}

async function idOf(hostname: string): Promise<string> {
  const found = await resolveMachine(context, { hostname });
  if (!found.ok) throw new Error(found.failure.message);
  return found.machine.systemId;
}

const request = (systemId: string, run = 'r7') => ({ systemId, site: 'dc1', node: 'n001', run, distroSeries: 'jammy' });
const kindOf = (outcome: MachineOutcome) => (outcome.ok ? 'ok' : outcome.failure.kind);

describe.each(maasVersions)('against the simulator as MAAS %s', (version) => {
  beforeEach(() => simulate(version));

  it('a machine goes from nothing to deployed and back, with each call repeated', async () => {
    const wanted = {
      hostname: 'n001',
      macAddresses: ['52:54:00:aa:00:01'],
      architecture: 'amd64/generic',
      powerType: 'manual',
    };
    await context.client.machines.create(wanted);
    const systemId = await idOf('n001');
    const ask = { systemId, site: 'dc1', commission: { testingScripts: [] } };
    expect(await prepareMachine(context, ask)).toMatchObject({
      ok: true,
      machine: { status: 4 },
      actions: ['commission'],
    });
    expect(await prepareMachine(context, ask)).toMatchObject({ ok: true, actions: [] });
  });

  it('(15, 16, 24) deploy and release of a seeded machine, twice each', async () => {
    await control('seed', { count: 1, prefix: 'n' });
    const [{ systemId } = { systemId: '' }] = await context.client.machines.list();
    const deployed = await deployMachine(context, {
      ...request(systemId),
      userData: '#cloud-config\n',
      labels: { rack: 'r1' },
    });
    expect(deployed).toMatchObject({
      ok: true,
      machine: { status: 6, osystem: 'ubuntu', distroSeries: 'jammy' },
      actions: ['allocate', 'annotate', 'deploy'],
    });
    expect((await context.client.machines.read(systemId)).annotations).toMatchObject({
      sitewright_site: 'dc1',
      rack: 'r1',
    });
    expect(await deployMachine(context, request(systemId))).toMatchObject({
      ok: true,
      actions: [],
      isReinstalled: true,
    });
    expect(await deployMachine(context, request(systemId, 'another'))).toMatchObject({
      ok: true,
      isReinstalled: false,
    });
    expect(kindOf(await deployMachine(context, { ...request(systemId), distroSeries: 'noble' }))).toBe('other-os');
    expect(await releaseMachine(context, { systemId, site: 'dc1' })).toMatchObject({
      ok: true,
      machine: { status: 4 },
    });
    expect(await releaseMachine(context, { systemId, site: 'dc1' })).toMatchObject({ ok: true, actions: [] });
  });

  it.each([-3600, 3600])(
    'a worker whose clock is wrong by %d s takes no step, and blames no machine',
    async (seconds) => {
      await control('seed', { count: 1, prefix: 'n' });
      const [{ systemId } = { systemId: '' }] = await context.client.machines.list();
      const clock = { ...systemClock, now: () => Date.now() + seconds * 1000 };
      const client = new MaasClient({ url: simulator.url, apiKey: simulatorKeys.admin, clock });
      const wrong = {
        ...context,
        client,
        watcher: new MachineWatcher(client, { minIntervalMs: 5, maxIntervalMs: 10 }),
        clock,
      };
      const before = await listOf('effects');
      for (const step of [
        () => prepareMachine(wrong, { systemId, site: 'dc1' }),
        () => deployMachine(wrong, request(systemId)),
        () => releaseMachine(wrong, { systemId, site: 'dc1' }),
      ]) {
        await expect(step()).rejects.toMatchObject({ failure: { kind: 'worker-clock', retryable: true } });
      }
      expect(await listOf('effects')).toEqual(before);
      await client.close();
    },
  );

  it.each(['drop_before', 'drop_after', '504_after', '503', '500', '502', '504', 'double'])(
    '(19, 20, 21) %s on allocate, annotate and deploy: one deployment',
    async (kind) => {
      await control('seed', { count: 1, prefix: 'n' });
      const [{ systemId } = { systemId: '' }] = await context.client.machines.list();
      const ops = ['op=allocate', 'op=set_workload_annotations', 'op=deploy'];
      await control(
        'faults',
        ops.map((match) => ({ match, kind, times: 1 })),
      );
      expect(kindOf(await deployMachine(context, request(systemId)))).toBe('ok');
      const faulty = (await listOf<{ readonly fault: string | null }>('requests')).filter(
        (request) => request.fault === kind,
      );
      // The simulator notes a doubled request twice.
      expect(faulty).toHaveLength(kind === 'double' ? 6 : 3);
      const machine = await context.client.machines.read(systemId);
      expect(machine).toMatchObject({ status: 6, annotations: { sitewright_run: 'r7' } });
      expect([await countOf('allocate'), await countOf('deploy'), await countOf('release')]).toEqual([1, 1, 0]);
    },
  );

  it('(13, 21) no rack: the refusal leaves us owner; when the rack is back the next try succeeds', async () => {
    await control('seed', { machines: [{ hostname: 'n001', status: 0, power_type: 'ipmi' }] });
    const systemId = await idOf('n001');
    await control('rack', { up: false });
    expect(kindOf(await prepareMachine(context, { systemId, site: 'dc1' }))).toBe('maas-error');
    expect((await context.client.machines.read(systemId)).owner).toBe('admin');
    await control('rack', { up: true });
    expect(await prepareMachine(context, { systemId, site: 'dc1' })).toMatchObject({
      ok: true,
      machine: { status: 4 },
    });
    expect(kindOf(await deployMachine(context, request(systemId)))).toBe('ok');
  });

  it('(13) failed tests run again: MAAS commissions no machine in Failed testing', async () => {
    await control('seed', { machines: [{ hostname: 'n001', status: 22 }] });
    await control('auto', { test_ms: 5 });
    const systemId = await idOf('n001');
    const prepared = await prepareMachine(context, { systemId, site: 'dc1' });
    expect(prepared).toMatchObject({
      ok: true,
      actions: ['test'],
      warnings: [{ code: 'tested' }],
      machine: { status: 4 },
    });
    expect([await countOf('test'), await countOf('commission')]).toEqual([1, 0]);
    expect(kindOf(await deployMachine(context, request(systemId)))).toBe('ok');
  });

  it('(17) a failed deployment is reported with events, and a new request clears it', async () => {
    await control('seed', { count: 1, prefix: 'n' });
    const [{ systemId, hostname } = { systemId: '', hostname: '' }] = await context.client.machines.list();
    await control('auto', { commission_ms: 5, deploy_ms: 5, erase_ms: 5, release_ms: 5, fail: { deploy: [hostname] } });
    expect(kindOf(await deployMachine(context, request(systemId)))).toBe('deployment-failed');
    expect(kindOf(await deployMachine(context, request(systemId)))).toBe('deployment-failed');
    await control('auto', { commission_ms: 5, deploy_ms: 5, erase_ms: 5, release_ms: 5, fail: {} });
    expect(await deployMachine(context, request(systemId, 'r8'))).toMatchObject({
      ok: true,
      actions: ['release', 'allocate', 'annotate', 'deploy'],
    });
  });

  it('(6, 14, 25) other people’s machines are left alone', async () => {
    await control('seed', {
      machines: [{ hostname: 'n001', status: 6, owner: 'operator', osystem: 'ubuntu', distro_series: 'jammy' }],
    });
    const systemId = await idOf('n001');
    expect(await deployMachine(context, request(systemId))).toMatchObject({
      failure: { kind: 'other-owner', owner: 'operator' },
    });
    expect(await releaseMachine(context, { systemId, site: 'dc1' })).toMatchObject({
      failure: { kind: 'other-owner' },
    });
    expect(await abortMachine(context, { systemId, site: 'dc1' })).toMatchObject({ ok: true, actions: [] });
  });

  it('(8, 11, 12) tags, zones, pools twice; counts and unknown ids', async () => {
    await control('seed', { count: 2, prefix: 'n' });
    const ids = (await context.client.machines.list()).map((machine) => machine.systemId);
    const { inventory, machines } = context.client;
    for (let i = 0; i < 2; i++) {
      expect(await inventory.ensureTag('compute', 'nodes')).toMatchObject({ name: 'compute' });
      expect(await inventory.changeTag('compute', { add: [...ids, 'zzzzzz'] })).toEqual({
        added: 2,
        removed: 0,
        unknown: ['zzzzzz'],
      });
    }
    expect(await machines.list({ tags: ['compute'] })).toHaveLength(2);
    await expect(machines.list({ zones: ['none'] })).rejects.toMatchObject({ failure: { kind: 'invalid' } });
  });

  it('(1, 4) keys and the check', async () => {
    expect(await checkMaas(context.client)).toMatchObject({ ok: true, user: { username: 'admin' } });
    const wrong = process(simulatorKeys.admin.replace(/:[^:]+$/, `:${'x'.repeat(32)}`));
    expect(await checkMaas(wrong.client)).toMatchObject({
      ok: false,
      findings: [{ ok: true }, { check: 'api-key', ok: false }],
    });
    await expect(wrong.client.whoami()).rejects.toBeInstanceOf(MaasError);
    await wrong.client.close();
  });

  it('a key that is refused for a while, as that of a user who is inactive at the provider, does not fail a deployment', async () => {
    await control('seed', { count: 1, prefix: 'n' });
    const clock = new LeapingClock(Date.now());
    const patient = { ...process(simulatorKeys.admin, { clock }), clock };
    const [{ systemId } = { systemId: '' }] = await patient.client.machines.list();
    await control('faults', [{ match: 'op=(allocate|whoami)', kind: '401', times: 6 }]);
    expect(kindOf(await deployMachine(patient, request(systemId)))).toBe('ok');
    expect([await countOf('allocate'), await countOf('deploy')]).toEqual([1, 1]);
    await control(
      'faults',
      [{ match: '', kind: '401', times: 1_000 }].map((fault) => ({ ...fault, match: '.' })),
    );
    const refused = deployMachine(patient, request(systemId, 'r8'));
    await expect(refused).rejects.toMatchObject({
      failure: {
        kind: 'unauthorised',
        retryable: false,
        text: expect.stringContaining('which it took before'),
        hint: expect.stringContaining('inactive at the provider'),
      },
    });
    await patient.client.close();
  });

  it('(31) 110 machines are awaited by lists, not one by one', async () => {
    await control('seed', { count: 110, prefix: 'n' });
    // Longer than it takes to start all of them on a busy machine.
    await control('auto', { deploy_ms: 5_000 });
    const found = await context.client.machines.list();
    const patient: MachineContext = {
      ...context,
      watcher: new MachineWatcher(context.client, { minIntervalMs: 200, maxIntervalMs: 400 }),
    };
    const deploying = found.map((m) => deployMachine(patient, { ...request(m.systemId), node: m.hostname }));
    expect((await Promise.all(deploying)).filter((outcome) => outcome.ok)).toHaveLength(110);
    expect(await countOf('deploy')).toBe(110);
    const sent = await listOf<{ readonly method: string; readonly url: string }>('requests');
    const lists = sent.filter((request) => request.method === 'GET' && request.url.includes('machines/?id='));
    const reads = sent.filter((request) => request.method === 'GET' && /machines\/\w+\/$/.test(request.url));
    const asked = lists.reduce((sum, request) => sum + (request.url.match(/id=/g)?.length ?? 0), 0);
    expect(asked / lists.length).toBeGreaterThan(10);
    // At the start only: MAAS answers each change with the machine.
    expect(reads).toHaveLength(110);
  });
});

// Rights of groups, as 3.8.0 beta 6 answered.
describe.each(['3.8', '4.0'] as const)('a member of a group of MAAS %s that may edit machines', (version) => {
  beforeEach(() => simulate(version));

  it('is no administrator, passes the check, and commissions, deploys and releases', async () => {
    await control('seed', { machines: [{ hostname: 'n001', status: 0, power_type: 'ipmi' }] });
    const deployer = process(simulatorKeys.deployer);
    const check = await checkMaas(deployer.client);
    expect(check).toMatchObject({ ok: true, user: { username: 'deployer', editsMachines: true } });
    expect(check.findings.filter(({ ok }) => !ok)).toMatchObject([
      {
        check: 'permissions',
        severity: 'warning',
        message: expect.stringContaining('may not change tags and subnets'),
      },
    ]);
    expect(await checkMaas(deployer.client, { onlyAccess: true })).toMatchObject({ ok: true });
    const systemId = await idOf('n001');
    for (const step of [
      () => prepareMachine(deployer, { systemId, site: 'dc1' }),
      () => deployMachine(deployer, request(systemId)),
      () => releaseMachine(deployer, { systemId, site: 'dc1' }),
    ])
      expect(kindOf(await step())).toBe('ok');
    await expect(deployer.client.inventory.ensureTag('rack')).rejects.toMatchObject({
      failure: { kind: 'forbidden', text: expect.stringContaining("'can_edit_global_entities'") },
    });
    await deployer.client.close();
  });

  it('sees machines of others, which a user without the right does not', async () => {
    await control('seed', { machines: [{ hostname: 'n001', status: 6, owner: 'admin' }] });
    for (const [key, sees] of [
      [simulatorKeys.deployer, true],
      [simulatorKeys.operator, false],
    ] as const) {
      const one = process(key);
      expect(await one.client.machines.list()).toHaveLength(sees ? 1 : 0);
      const found = await resolveMachine(one, { hostname: 'n001' });
      expect(found.ok || found.failure.message).toEqual(sees || expect.stringContaining('may not edit all machines'));
      await one.client.close();
    }
  });
});

it('a check asks nothing that changes MAAS', async () => {
  await simulate('3.8');
  await control('seed', { count: 1 });
  const before = [await listOf('effects'), await context.client.inventory.tags()];
  await checkMaas(context.client);
  expect([await listOf('effects'), await context.client.inventory.tags()]).toEqual(before);
});
