import { MachineStatus as S } from '@sitewright/maas/status';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeLeftovers } from '../src/containers/leftovers.ts';
import { MachineContainers } from '../src/containers/machine-containers.ts';
import { type CommandEnd, podmanBy, type RunCommand } from '../src/containers/podman.ts';
import { processName } from '../src/containers/process-name.ts';
import { SimulatedMaas } from './simulated-maas.ts';

const ok = (stdout = ''): CommandEnd => ({ code: 0, stdout, stderr: '' });
const RESULT = '{"v1":{"datasource":"DataSourceNoCloud","errors":[]}}';

/** Podman that records its calls. Cloud-init runs in each started container until the test ends it. */
class FakePodman {
  readonly calls: string[] = [];
  readonly run: RunCommand = async (program, args) => {
    const said = (program === 'podman' ? args.slice(3) : args)
      .join(' ')
      .replaceAll(/\/\S*sitewright-seed-\w+/g, 'SEED');
    this.calls.push(program === 'podman' ? said : `${program} ${said}`);
    if (this.broken.test(said)) return { code: 125, stdout: '', stderr: 'Error: no space left on device' };
    if (said.startsWith('network inspect')) return ok('br-test');
    if (said.includes('result.json')) return await new Promise((end) => (this.endCloudInit = end));
    return ok();
  };
  broken = /^never$/;
  endCloudInit: (end: CommandEnd) => void = () => undefined;
  containerEnds: (name: string, code: number) => void = () => undefined;

  /** The calls since the last look. */
  take(): string[] {
    return this.calls.splice(0).filter((call) => !call.startsWith('exec '));
  }
}

let podman: FakePodman;
let containers: MachineContainers;
let maas: SimulatedMaas;
let said: string[];

beforeEach(async () => {
  podman = new FakePodman();
  said = [];
  maas = await SimulatedMaas.start({
    auto: { deploy_ms: 60_000, release_ms: 1_000, erase_ms: 1_000, test_ms: 1_000 },
    startMachines: async (region, report) => {
      containers = new MachineContainers(region, report, {
        run: podman.run,
        image: 'the-image',
        owner: '7-70',
        watchEnds: (_owner, ended) => {
          podman.containerEnds = ended;
          return () => undefined;
        },
        say: (line) => said.push(line),
      });
      await containers.start();
      return containers;
    },
  });
});
afterEach(() => maas.close());

async function deployed(): Promise<string> {
  const id = await maas.machine({ power_type: 'ipmi' });
  await deploy(id);
  podman.endCloudInit(ok(RESULT));
  await expect.poll(() => maas.status(id)).toBe(S.Deployed);
  podman.take();
  return id;
}

async function deploy(id: string): Promise<void> {
  const user_data = Buffer.from('#!/bin/sh\n').toString('base64');
  expect((await maas.api('POST', `machines/${id}/?op=deploy`, { user_data })).status).toBe(200);
  await containers.settled();
}

const power = async (id: string): Promise<string> =>
  (await maas.api('GET', `machines/${id}/`)).json.power_state as string;

describe('machines as containers', () => {
  it('have a network with the gateway of their subnet before the first machine boots', () => {
    expect(podman.take()).toEqual([
      'network create --disable-dns --subnet 10.76.0.0/24 --gateway 10.76.0.1 --label sitewright.simulator=7-70 sitewright-7-70-1',
      'network inspect --format {{.NetworkInterface}} sitewright-7-70-1',
      'ip link add br-test type bridge',
      'ip address add 10.76.0.1/24 dev br-test',
      'ip link set br-test up',
    ]);
  });

  it('boot with their own name, address and user data, and are deployed when cloud-init is done', async () => {
    podman.take();
    const id = await maas.machine({ hostname: 'web-1', power_type: 'ipmi', mac: '52:54:00:00:00:01' });
    await deploy(id);
    const [create, ...others] = podman.take();
    expect(create).toBe(
      'create --name sitewright-web-1 --hostname web-1 --label sitewright.simulator=7-70 --systemd always' +
        ' --cap-add NET_ADMIN,NET_RAW,SYS_ADMIN,SYS_BOOT --ulimit nofile=20000:20000 --ulimit nproc=10000:10000' +
        ' --network sitewright-7-70-1:ip=10.76.0.2,mac=52:54:00:00:00:01,interface_name=eth0 the-image',
    );
    expect(others).toEqual(['cp SEED/. sitewright-web-1:/var/lib/cloud/seed/nocloud/', 'start sitewright-web-1']);
    expect(await maas.status(id)).toBe(S.Deploying);
    podman.endCloudInit(ok(RESULT));
    await expect.poll(() => maas.status(id)).toBe(S.Deployed);
  });

  it('fail to deploy when cloud-init has errors, with these', async () => {
    const id = await maas.machine({ power_type: 'ipmi' });
    await deploy(id);
    podman.endCloudInit(ok('{"v1":{"errors":["(\'scripts-user\', RuntimeError())"]}}'));
    await expect.poll(() => maas.status(id)).toBe(S.FailedDeployment);
    const { json } = await maas.api('GET', `machines/${id}/`);
    expect(json.status_message).toContain("cloud-init: ('scripts-user', RuntimeError())");
  });

  it('stop without power, start again as they were, and are destroyed by a release', async () => {
    const id = await deployed();
    await maas.api('POST', `machines/${id}/?op=power_off`);
    await containers.settled();
    await maas.api('POST', `machines/${id}/?op=power_on`);
    await containers.settled();
    expect(podman.take()).toEqual(['kill sitewright-m1', 'start sitewright-m1']);
    await maas.api('POST', `machines/${id}/?op=release`);
    await containers.settled();
    expect(podman.take()).toEqual(['rm --force --time 0 sitewright-m1']);
    expect(await maas.status(id)).toBe(S.Ready);
    // The next installation has nothing of the last one.
    await deploy(id);
    expect(podman.take().map((call) => call.split(' ')[0])).toEqual(['create', 'cp', 'start']);
  });

  it('start again when they reboot, and have no power when they shut down', async () => {
    const id = await deployed();
    podman.containerEnds('sitewright-m1', 129);
    await containers.settled();
    expect(podman.take()).toEqual(['start sitewright-m1']);
    expect(await power(id)).toBe('on');
    podman.containerEnds('sitewright-m1', 130);
    expect(await power(id)).toBe('off');
    expect(podman.take()).toEqual([]);
    expect(await maas.status(id)).toBe(S.Deployed);
  });

  it('that cannot be made fail with the reason, and leave nothing behind', async () => {
    const id = await maas.machine({ power_type: 'ipmi' });
    podman.broken = /^start /;
    await deploy(id);
    expect(await maas.status(id)).toBe(S.FailedDeployment);
    expect((await maas.api('GET', `machines/${id}/`)).json.status_message).toContain('no space left on device');
    expect(said).toEqual([expect.stringContaining('no space left on device')]);
    podman.take();
    await maas.api('POST', `machines/${id}/?op=release`);
    await containers.settled();
    expect(podman.take()).toEqual(['rm --force --time 0 sitewright-m1']);
  });

  it.each([
    ['no_boot', []],
    ['dies', ['start sitewright-m1', 'kill sitewright-m1']],
  ])('%s: fails when MAAS has waited long enough', async (fault, expected) => {
    expect((await maas.control('POST', 'boots', { m1: [fault] })).json).toEqual({ m1: [fault] });
    const id = await maas.machine({ power_type: 'ipmi' });
    await deploy(id);
    expect(podman.take().filter((call) => /^(?:start|kill)/.test(call))).toEqual(expected);
    if (fault === 'dies') {
      podman.containerEnds('sitewright-m1', 137);
      podman.endCloudInit({ code: 137, stdout: '', stderr: '' });
    }
    expect(await maas.status(id)).toBe(S.Deploying);
    maas.clock.advance(60_000);
    expect(await maas.status(id)).toBe(S.FailedDeployment);
    expect((await maas.control('GET', 'effects')).json.at(-1)).toMatchObject({ cause: 'auto:failed' });
  });

  it('reboots: cloud-init starts again, and its end counts', async () => {
    await maas.control('POST', 'boots', { m1: ['reboots'] });
    const id = await maas.machine({ power_type: 'ipmi' });
    await deploy(id);
    const first = podman.endCloudInit;
    podman.containerEnds('sitewright-m1', 129);
    first({ code: 137, stdout: '', stderr: '' });
    await containers.settled();
    expect(podman.take().filter((call) => call === 'start sitewright-m1')).toHaveLength(2);
    podman.endCloudInit(ok(RESULT));
    await expect.poll(() => maas.status(id)).toBe(S.Deployed);
  });

  it('refuse faults that are none, each with its machine', async () => {
    const { status, json } = await maas.control('POST', 'boots', { m1: ['explodes'], m2: 'no_boot', m3: ['dies'] });
    expect(status).toBe(400);
    expect(json.problems).toEqual([
      'm1 must be a list of no_boot, dies, reboots',
      'm2 must be a list of no_boot, dies, reboots',
    ]);
  });

  it('end with the simulator', async () => {
    podman.take();
    await containers.close();
    expect(podman.take()).toEqual([
      'ps --all --quiet --filter label=sitewright.simulator=7-70',
      'network ls --quiet --filter label=sitewright.simulator=7-70',
    ]);
  });
});

it('containers of a killed simulator are removed; those of a running one stay', async () => {
  const own = processName(process.pid)!;
  const calls: string[] = [];
  const gone = await removeLeftovers(
    podmanBy(async (_program, args) => {
      const call = args.slice(3).join(' ');
      calls.push(call);
      if (call.startsWith('network') && call.includes('.Labels')) return { ...ok(), code: 125 };
      if (call.includes('index .Labels')) return ok(`999999999-1\n${own}\n`);
      if (call.includes('.Name')) return ok(`sitewright-${own}-1\nsitewright-999999998-1-1\n`);
      return ok(call.startsWith('ps') ? 'c1\nc2' : call.startsWith('network ls') ? 'n1' : '');
    }),
  );
  expect(gone).toEqual(['999999999-1', '999999998-1']);
  expect(calls).toContain('network ls --quiet --filter label=sitewright.simulator=999999998-1');
  expect(calls.slice(2, 6)).toEqual([
    'ps --all --quiet --filter label=sitewright.simulator=999999999-1',
    'rm --force --time 0 c1 c2',
    'network ls --quiet --filter label=sitewright.simulator=999999999-1',
    'network rm --force n1',
  ]);
});

it('on a machine without containers, simulated machines have no boots', async () => {
  const plain = await SimulatedMaas.start();
  expect((await plain.control('POST', 'boots', {})).status).toBe(409);
  await plain.close();
});
