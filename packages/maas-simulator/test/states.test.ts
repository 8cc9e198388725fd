import { inProgressStatuses, MachineStatus, machineStatusName, machineStatusNames } from '@sitewright/maas/status';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { transitions } from '../src/transitions.ts';
import { SimulatedMaas } from './simulated-maas.ts';

let maas: SimulatedMaas;
beforeAll(async () => {
  maas = await SimulatedMaas.start();
});
beforeEach(async () => {
  await maas.control('POST', 'reset');
});
afterAll(() => maas.close());

const S = MachineStatus;
const all = Object.values(S);

/** What each call accepts, from MAAS 3.6.5 (docs/explain/design.md#machines): the state it is called in, and where it leads. */
const accepted: Readonly<Record<string, readonly (readonly [from: number, to: number])[]>> = {
  commission: [S.New, S.FailedCommissioning, S.Ready, S.Broken].map((from) => [from, S.Commissioning] as const),
  deploy: [
    [S.Allocated, S.Deploying],
    [S.Ready, S.Deploying],
  ],
  release: [
    ...[
      S.Reserved,
      S.Deployed,
      S.Broken,
      S.Deploying,
      S.Allocated,
      S.FailedDeployment,
      S.FailedReleasing,
      S.FailedDiskErasing,
    ].map((from) => [from, S.Ready] as const),
    [S.Ready, S.Ready],
    [S.Releasing, S.Releasing],
  ],
  abort: [
    [S.Commissioning, S.New],
    [S.Deploying, S.Allocated],
    [S.DiskErasing, S.FailedDiskErasing],
    [S.Testing, S.Ready],
  ],
  lock: [
    [S.Deployed, S.Deployed],
    [S.Deploying, S.Deploying],
  ],
  mark_fixed: [[S.Broken, S.Ready]],
  override_failed_testing: [[S.FailedTesting, S.Ready]],
  set_storage_layout: [[S.Ready, S.Ready]],
};

/** The status of a refusal, and its text with the state's name put in. */
const refusals: Readonly<Record<string, readonly [number, (name: string, id: string) => string]>> = {
  commission: [400, () => 'Commission is not available because of the current state of the node.'],
  deploy: [409, (name) => `Can't deploy a machine that is in the '${name}' state`],
  release: [409, (name) => `Machine cannot be released in its current state ('${name}').`],
  abort: [409, (name, id) => `Cannot abort in current state: node ${id} is in state ${name}.`],
  lock: [409, () => "Can't lock, node is not deployed or deploying"],
  mark_fixed: [409, () => "Can't mark a non-broken node as 'Ready'."],
  override_failed_testing: [409, () => "Unable to override node status. Node is not in 'Failed testing' status."],
  set_storage_layout: [409, () => 'Cannot change the storage layout on a machine that is not Ready.'],
};

const cases = Object.keys(accepted).flatMap((op) => all.map((from) => ({ op, from, name: machineStatusName(from) })));

describe('each call in each state', () => {
  it.each(cases)('$op of a machine in $name', async ({ op, from, name }) => {
    const id = await maas.machine({ status: from, owner: 'admin' });
    const reply = await maas.api('POST', `machines/${id}/?op=${op}`, {
      testing_scripts: 'none',
      storage_layout: 'flat',
    });
    const to = accepted[op]?.find(([state]) => state === from)?.[1];
    if (to === undefined) {
      const [status, message] = refusals[op] as (typeof refusals)[string];
      expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(message(name, id))]);
      expect(await maas.status(id)).toBe(from);
      expect(await maas.moves()).toEqual([]);
    } else {
      expect(reply.status).toBe(200);
      expect(await maas.status(id)).toBe(to);
    }
  });

  it.each(all.map((from) => ({ from, name: machineStatusName(from) })))(
    'allocate takes a machine in $name only when it is Ready and free',
    async ({ from }) => {
      const id = await maas.machine({ status: from });
      const reply = await maas.api('POST', 'machines/?op=allocate', { system_id: id });
      expect(reply.status).toBe(from === S.Ready ? 200 : 409);
      if (from !== S.Ready) expect(reply.text).toBe(`No machine with system ID ${id} available.`);
    },
  );

  it('a Ready machine with an owner is not allocated', async () => {
    const id = await maas.machine({ status: S.Ready, owner: 'admin' });
    expect((await maas.api('POST', 'machines/?op=allocate', { system_id: id })).status).toBe(409);
  });
});

describe('the table of moves', () => {
  it('has a row for every call and state', () => {
    expect(transitions[S.FailedDeployment]).not.toContain(S.Deploying);
    expect([...transitions[S.Deploying]].sort((a, b) => a - b)).toEqual([4, 6, 8, 10, 11, 12, 14]);
    expect([...transitions[S.Releasing]].sort((a, b) => a - b)).toEqual([0, 4, 6, 8, 10, 11, 13, 15]);
    expect([...transitions[S.DiskErasing]].sort((a, b) => a - b)).toEqual([4, 8, 12, 15]);
  });

  it('lets every running state end', () => {
    for (const status of inProgressStatuses)
      expect(transitions[status as keyof typeof transitions].length).toBeGreaterThan(1);
  });

  it('knows every state that has a name', () => {
    expect(Object.keys(transitions)).toEqual(Object.keys(machineStatusNames));
  });
});

describe('a machine from bare to deployed and back', () => {
  it('each change happens once and in order', async () => {
    await maas.control('POST', 'auto', { commission_ms: 10, deploy_ms: 20, release_ms: 30, erase_ms: 40 });
    const created = await maas.api('POST', 'machines/', {
      architecture: 'amd64/generic',
      mac_addresses: ['52:54:00:00:00:01', '52:54:00:00:00:02'],
      hostname: 'bare',
      power_type: 'ipmi',
      power_parameters_power_address: '10.0.0.1',
    });
    const id = created.json.system_id as string;
    expect([created.json.status, created.json.interface_set.length]).toEqual([S.Commissioning, 2]);
    maas.clock.advance(10);
    const deploying = await maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: '22.04', agent_name: 'us' });
    expect([deploying.json.distro_series, deploying.json.ip_addresses]).toEqual(['jammy', ['10.76.0.101']]);
    expect((await maas.api('GET', `machines/${id}/`)).json.ip_addresses).toEqual(['10.76.0.2']);
    maas.clock.advance(20);
    expect((await maas.api('GET', `machines/${id}/`)).json).toMatchObject({ status: S.Deployed, power_state: 'on' });
    const erasing = await maas.api('POST', `machines/${id}/?op=release`, { erase: 'true', quick_erase: 'true' });
    expect(erasing.json.status).toBe(S.DiskErasing);
    maas.clock.advance(40);
    expect(await maas.status(id)).toBe(S.Releasing);
    maas.clock.advance(30);
    expect((await maas.api('GET', `machines/${id}/`)).json).toMatchObject({
      status: S.Ready,
      owner: null,
      osystem: '',
      ip_addresses: ['10.76.0.101'],
    });
    expect(await maas.moves()).toEqual([
      [null, 0, 'create'],
      [0, 1, 'commission'],
      [1, 4, 'auto:commissioned'],
      [4, 10, 'allocate'],
      [10, 9, 'deploy'],
      [9, 6, 'auto:deployed'],
      [6, 14, 'release'],
      [14, 12, 'auto:erased'],
      [12, 4, 'auto:off'],
    ]);
  });

  it('a machine never commissioned goes back to New', async () => {
    const id = (
      await maas.api('POST', 'machines/', {
        architecture: 'amd64/generic',
        mac_addresses: '52:54:00:00:00:03',
        power_type: 'manual',
        deployed: 'true',
      })
    ).json.system_id as string;
    expect(await maas.status(id)).toBe(S.Deployed);
    expect((await maas.api('POST', `machines/${id}/?op=release`)).json.status).toBe(S.New);
  });

  it('rescue mode and tests lead back to where they were asked for', async () => {
    await maas.control('POST', 'auto', { rescue_ms: 5, test_ms: 5, fail_times: { test: { m1: 1 } } });
    const id = await maas.machine({ status: S.Deployed, power_type: 'ipmi' });
    await maas.api('POST', `machines/${id}/?op=rescue_mode`);
    maas.clock.advance(5);
    expect(await maas.status(id)).toBe(S.RescueMode);
    await maas.api('POST', `machines/${id}/?op=exit_rescue_mode`);
    maas.clock.advance(5);
    expect(await maas.status(id)).toBe(S.Deployed);
    await maas.api('POST', `machines/${id}/?op=test`);
    maas.clock.advance(5);
    expect(await maas.status(id)).toBe(S.FailedTesting);
    await maas.api('POST', `machines/${id}/?op=override_failed_testing`);
    expect(await maas.status(id)).toBe(S.Deployed);
  });

  it('a full subnet refuses a deployment and changes nothing', async () => {
    await maas.control('POST', 'seed', { count: 100, status: S.Deployed });
    const id = await maas.machine();
    const { json: subnets } = await maas.api('GET', 'subnets/');
    expect(subnets.length).toBe(2);
    const { json: nics } = await maas.api('GET', `nodes/${id}/interfaces/`);
    const nic = `nodes/${id}/interfaces/${nics[0].id}`;
    await maas.api('POST', `${nic}/?op=unlink_subnet`, { id: String(nics[0].links[0].id) });
    // 100 machines are on the first subnet: 153 more addresses, and then none.
    for (let i = 0; i < 154; i++) await maas.api('POST', `${nic}/?op=link_subnet`, { mode: 'AUTO', subnet: 'prov' });
    const refused = await maas.api('POST', `machines/${id}/?op=deploy`, { distro_series: 'noble' });
    expect([refused.status, refused.text]).toEqual([
      503,
      `${id}: Unable to allocate static IP due to address exhaustion.`,
    ]);
    expect((await maas.api('GET', `machines/${id}/`)).json).toMatchObject({ status: S.Ready, owner: null });
  });
});
