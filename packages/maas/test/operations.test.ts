import { describe, expect, it } from 'vitest';
import { abortMachine } from '../src/abort-machine.ts';
import { deployMachine } from '../src/deploy-machine.ts';
import type { MachineOutcome } from '../src/machine-outcome.ts';
import { prepareMachine } from '../src/prepare-machine.ts';
import { releaseMachine } from '../src/release-machine.ts';
import { type FakeMachine, type Fault, FaultyMaas, type FaultyMaasOptions } from './rig/faulty-maas.ts';
import { LeapingClock } from './rig/leaping-clock.ts';
import { maasProcess } from './rig/maas-process.ts';

const id = 'abc123';
const request = { systemId: id, site: 'dc1', node: 'n1', run: 'r7', distroSeries: 'jammy' };
const mark = (run: string, site = 'dc1') => ({ sitewright_site: site, sitewright_node: 'n1', sitewright_run: run });
const jammy = { osystem: 'ubuntu', distro_series: 'jammy' };

/** A MAAS with one machine; the faults are used up in turn by the requests that match. */
function scene(
  state: Partial<FakeMachine>,
  options: Omit<FaultyMaasOptions, 'clock' | 'fault'> & { faults?: [RegExp, Fault][] } = {},
) {
  const clock = new LeapingClock();
  const faults = [...(options.faults ?? [])];
  const maas = new FaultyMaas({
    ...options,
    clock,
    fault({ method, target }) {
      const index = faults.findIndex(([pattern]) => pattern.test(`${method} ${target}`));
      return index < 0 ? undefined : faults.splice(index, 1)[0]?.[1];
    },
  });
  const machine = maas.add(id, state);
  maas.start(machine);
  return { clock, maas, machine, context: maasProcess(maas, clock) };
}

const kindOf = (outcome: MachineOutcome) => (outcome.ok ? 'ok' : outcome.failure.kind);
const changes = (maas: FaultyMaas) =>
  maas.requests.filter((r) => r.method !== 'GET').map((r) => /op=(\w+)/.exec(r.target)?.[1]);

describe('deploy', () => {
  it('another machine that MAAS allocated is named and given back, and nothing is deployed', async () => {
    const { maas, machine, clock } = scene({});
    const other = maas.add('zzz999', {});
    const { send, close } = maas.transport();
    const context = maasProcess(maas, clock, {
      transport: {
        close,
        send: (sent) =>
          send(sent.url.includes('op=allocate') ? { ...sent, body: sent.body?.replace(id, 'zzz999') ?? '' } : sent),
      },
    });
    await expect(deployMachine(context, request)).rejects.toMatchObject({
      failure: {
        kind: 'unexpected',
        retryable: false,
        text: expect.stringMatching(/zzz999.* instead of .*abc123.* released again/),
      },
    });
    expect(changes(maas)).toEqual(['allocate', 'release']);
    expect([machine.owner, machine.status]).toEqual([null, 4]);
    expect([4, 12]).toContain(other.status);
    expect(maas.count(id, 'deploy') + maas.count('zzz999', 'deploy')).toBe(0);
  });

  it('(14, 15) from Ready: allocate by system_id, mark, deploy, wait', async () => {
    const { maas, context, machine } = scene({});
    const outcome = await deployMachine(context, {
      ...request,
      hweKernel: 'ga-22.04',
      userData: '#!/bin/sh\n',
      labels: { rack: 'r1', none: '' },
    });
    expect(outcome).toMatchObject({
      ok: true,
      machine: { systemId: id, status: 6, owner: 'admin', osystem: 'ubuntu', distroSeries: 'jammy' },
      actions: ['allocate', 'annotate', 'deploy'],
      warnings: [],
    });
    expect(machine.owner_data).toEqual({ ...mark('r7'), sitewright_series: 'jammy', rack: 'r1' });
    const [allocate, , deploy] = maas.requests.filter((r) => r.method === 'POST');
    expect(allocate?.form.get('system_id')).toBe(id);
    expect(Buffer.from(deploy?.form.get('user_data') ?? '', 'base64').toString()).toBe('#!/bin/sh\n');
    expect(deploy?.form.get('hwe_kernel')).toBe('ga-22.04');
    expect(deploy?.form.get('distro_series')).toBe('jammy');
  });

  it('(15) from Allocated with our mark: deploy only', async () => {
    const { context, maas } = scene({ status: 10, owner: 'admin', owner_data: mark('r7') });
    expect(await deployMachine(context, request)).toMatchObject({ ok: true, actions: ['deploy'] });
    expect(changes(maas)).toEqual(['deploy']);
  });

  it('(14) an allocation that was already ours is not a failure', async () => {
    const { context, maas } = scene({}, { faults: [[/op=allocate/, 'drop_after']] });
    const outcome = await deployMachine(context, request);
    expect(outcome).toMatchObject({ ok: true, actions: ['allocate', 'annotate', 'deploy'] });
    expect(maas.count(id, 'allocate')).toBe(1);
  });

  it('(14) another owner takes it in between: a failure that names them, nothing deployed', async () => {
    const { context, maas, machine, clock } = scene({});
    const transport = maas.transport();
    const racing = maasProcess(
      Object.assign(Object.create(maas) as FaultyMaas, {
        transport: () => ({
          ...transport,
          send: (request: Parameters<typeof transport.send>[0]) => {
            if (request.url.includes('op=allocate')) Object.assign(machine, { status: 10, owner: 'bob' });
            return transport.send(request);
          },
        }),
      }),
      clock,
    );
    const outcome = await deployMachine(racing, request);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'other-owner', owner: 'bob' }, actions: [] });
    expect(changes(maas)).toEqual(['allocate']);
    expect(context.watcher.size).toBe(0);
  });

  it('(16) Deploying and ours: waits, sends nothing', async () => {
    const { context, maas } = scene({ status: 9, owner: 'admin', owner_data: mark('r7'), ...jammy });
    expect(await deployMachine(context, request)).toMatchObject({ ok: true, actions: [] });
    expect(changes(maas)).toEqual([]);
  });

  it.each([
    ['ours, wanted system', { owner_data: mark('r1'), ...jammy }, 'ok', []],
    ['ours, other system', { owner_data: mark('r7'), osystem: 'ubuntu', distro_series: 'noble' }, 'other-os', []],
    ['marked by another site', { owner_data: mark('r7', 'dc2'), ...jammy }, 'other-site', []],
    ['of another owner', { owner: 'bob', ...jammy }, 'other-owner', []],
  ])('(16) Deployed, %s: nothing is touched', async (_name, state, kind, sent) => {
    const { context, maas } = scene({ status: 6, owner: 'admin', ...state });
    expect(kindOf(await deployMachine(context, request))).toBe(kind);
    expect(changes(maas)).toEqual(sent);
  });

  it.each([
    ['Deployed', 6],
    ['Allocated', 10],
    ['Deploying', 9],
    ['Failed deployment', 11],
  ])(
    '(16) %s by our user without a mark: no step touches it, and each says who seems to use it',
    async (_name, status) => {
      const { context, maas } = scene({ status: 4 });
      const machine = maas.machines.get(id)!;
      maas.byHand(id, 'allocate', 'carol', 'terraform');
      Object.assign(machine, { status, owner_data: { 'juju-model-uuid': '7' }, ...jammy });
      const before = changes(maas);
      for (const step of [
        () => prepareMachine(context, { systemId: id, site: 'dc1' }),
        () => deployMachine(context, request),
        () => releaseMachine(context, { systemId: id, site: 'dc1' }),
      ]) {
        const outcome = await step();
        expect(outcome).toMatchObject({ ok: false, failure: { kind: 'not-marked' } });
        const { message, hint } = (outcome as Extract<MachineOutcome, { ok: false }>).failure;
        expect(message).toMatch(/owner data juju-model-uuid=7.* carol \("terraform"\)/);
        expect(hint).toContain('--adopt');
      }
      expect(changes(maas)).toEqual(before);
    },
  );

  it('(16) allocated by this site, which died before it marked the machine: any run of it goes on', async () => {
    const { context, maas } = scene({ status: 10, owner: 'admin', agent: 'sitewright:dc1' });
    expect(await deployMachine(context, request)).toMatchObject({ ok: true, actions: ['annotate', 'deploy'] });
    const other = scene({ status: 10, owner: 'admin', agent: 'sitewright:dc2' });
    expect(kindOf(await deployMachine(other.context, request))).toBe('not-marked');
    expect(maas.count(id, 'deploy')).toBe(1);
  });

  it('(16) Deployed by our user without a mark: taken over with a warning, if it is to be adopted', async () => {
    const { context, maas, machine } = scene({ status: 6, owner: 'admin', ...jammy });
    const outcome = await deployMachine(context, { ...request, adopt: true });
    expect(outcome).toMatchObject({ ok: true, actions: ['annotate'], warnings: [{ code: 'adopted' }] });
    expect(changes(maas)).toEqual(['set_workload_annotations']);
    // Somebody else deployed it: their request is unknown.
    expect(machine.owner_data).toEqual(mark('r7'));
  });

  it('(17) a deployment that fails is reported with reason and the last error events', async () => {
    const { context, maas } = scene({}, { deployEnds: [11] });
    // Of an earlier deployment: none of this one's business.
    maas.log(id, 'ERROR', 'Node installation failure', 'curtin: old disk');
    const seen = { onRequest: false };
    const outcome = await deployMachine(context, request, {
      heartbeat(machine) {
        if (machine?.status !== 9 || seen.onRequest) return;
        seen.onRequest = true;
        maas.log(id, 'ERROR', 'Node installation failure', 'curtin: no disk');
        maas.log(id, 'ERROR', 'Marking node failed', 'curtin failed');
        maas.log(id, 'ERROR', 'Node installation failure', 'curtin: no disk');
      },
    });
    expect(outcome).toMatchObject({
      ok: false,
      failure: {
        kind: 'deployment-failed',
        reason: 'curtin failed',
        events: ['Node installation failure: curtin: no disk'],
      },
      machine: { status: 11 },
    });
    expect(maas.count(id, 'deploy')).toBe(1);
    expect(maas.count(id, 'release')).toBe(0);
  });

  it('(17) the repetition of the same request reports it again; a new request releases and deploys once', async () => {
    const { context, maas } = scene({}, { deployEnds: [11] });
    expect(kindOf(await deployMachine(context, request))).toBe('deployment-failed');
    expect(kindOf(await deployMachine(context, request))).toBe('deployment-failed');
    expect(maas.count(id, 'release')).toBe(0);
    const again = await deployMachine(context, { ...request, run: 'r8' });
    expect(again).toMatchObject({ ok: true, actions: ['release', 'allocate', 'annotate', 'deploy'] });
    expect(maas.count(id, 'deploy')).toBe(2);
  });

  it('(17) a new request whose deployment fails too is not tried a third time', async () => {
    const { context, maas } = scene({ status: 11, owner: 'admin', owner_data: mark('r6') }, { deployEnds: [11] });
    expect(kindOf(await deployMachine(context, request))).toBe('deployment-failed');
    expect(maas.count(id, 'release')).toBe(1);
    expect(maas.count(id, 'deploy')).toBe(1);
  });

  it.each([
    [
      'an unknown series',
      400,
      { distro_series: ["'warty' is not a valid distro_series."] },
      "distro_series: 'warty' is not a valid",
    ],
    ['no network', 400, { network: ['Node must be configured to use a network'] }, 'Node must be configured'],
  ])(
    '(18) %s: refused for good in MAAS’ words, asked once, and the machine is released',
    async (_name, status, body, text) => {
      const { maas, clock, machine } = scene({ status: 10, owner: 'admin', owner_data: mark('r7') });
      const transport = maas.transport();
      let asked = 0;
      const refusing = maasProcess(
        Object.assign(Object.create(maas) as FaultyMaas, {
          transport: () => ({
            ...transport,
            send: (request: Parameters<typeof transport.send>[0]) => {
              if (!request.url.includes('op=deploy')) return transport.send(request);
              asked++;
              return Promise.resolve({ status, headers: {}, body: JSON.stringify(body) });
            },
          }),
        }),
        clock,
      );
      const outcome = await deployMachine(refusing, request);
      expect(outcome).toMatchObject({
        ok: false,
        failure: { kind: 'refused', action: 'deploy', maas: { kind: 'invalid', retryable: false } },
      });
      expect(!outcome.ok && outcome.failure.message).toContain(text);
      expect(asked).toBe(1);
      expect(!outcome.ok && outcome.failure.hint).toContain('it was released again');
      expect([machine.status, maas.count(id, 'release')]).toEqual([4, 1]);
    },
  );

  it.each<Fault>(['drop_after', 'timeout_after', '504_after', 'drop_before', 'delayed', 'doubled'])(
    '(19) %s on deploy: exactly one deployment',
    async (fault) => {
      const { context, maas } = scene({}, { faults: [[/op=deploy/, fault]] });
      const outcome = await deployMachine(context, request);
      expect(outcome).toMatchObject({ ok: true, actions: ['allocate', 'annotate', 'deploy'] });
      expect(maas.count(id, 'deploy')).toBe(1);
    },
  );

  it('(20) the HTML 409 is repeated after its Retry-After, not before', async () => {
    const { context, maas, clock } = scene(
      { status: 10, owner: 'admin', owner_data: mark('r7') },
      { faults: [[/op=deploy/, '409html']], deployMs: 0 },
    );
    const start = clock.now();
    expect(kindOf(await deployMachine(context, request))).toBe('ok');
    expect(clock.now() - start).toBeGreaterThanOrEqual(5_000);
    expect(maas.count(id, 'deploy')).toBe(1);
  });

  it.each<Fault>(['500', '503', '503retry', '502'])(
    '(21) %s: the machine is read before anything is sent again',
    async (fault) => {
      const { context, maas } = scene(
        { status: 10, owner: 'admin', owner_data: mark('r7') },
        { faults: [[/op=deploy/, fault]] },
      );
      expect(kindOf(await deployMachine(context, request))).toBe('ok');
      const firstDeploy = maas.requests.findIndex((r) => r.target.includes('op=deploy'));
      expect(
        maas.requests.slice(0, firstDeploy).filter((r) => r.method === 'GET' && r.target === `machines/${id}/`),
      ).toHaveLength(3);
    },
  );

  it('(21) a MAAS that keeps saying it cannot reach the BMC is a failure of the node', async () => {
    const { context, maas } = scene(
      { status: 10, owner: 'admin', owner_data: mark('r7') },
      { faults: Array(9).fill([/op=deploy/, '503']) },
    );
    const outcome = await deployMachine(context, request);
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'maas-error', action: 'deploy', maas: { status: 503 } },
    });
    expect(maas.count(id, 'deploy')).toBe(0);
  });

  it('(21) an unavailable MAAS is thrown, to be retried', async () => {
    const { context } = scene(
      { status: 10, owner: 'admin', owner_data: mark('r7') },
      { faults: Array(9).fill([/op=deploy/, '502']) },
    );
    await expect(deployMachine(context, request)).rejects.toMatchObject({
      failure: { kind: 'unavailable', retryable: true },
    });
    const away = scene({}, { faults: Array(9).fill([/GET machines/, 'drop_before']) });
    await expect(deployMachine(away.context, request)).rejects.toMatchObject({
      failure: { kind: 'connection-lost', retryable: true },
    });
  });

  it('a machine that vanishes, at the start or in the middle, has its own kind of failure', async () => {
    const { context, maas } = scene({});
    expect(kindOf(await deployMachine(context, { ...request, systemId: 'zzzzzz' }))).toBe('vanished');
    const vanishing = deployMachine(context, request, {
      heartbeat: (machine) => {
        if (machine?.status === 9) maas.machines.delete(id);
      },
    });
    expect(await vanishing).toMatchObject({ ok: false, failure: { kind: 'vanished', systemId: id } });
  });

  it('(28, 29) an unknown state counts as in progress until the deadline', async () => {
    const { context, clock, maas } = scene({ status: 42 });
    const outcome = await deployMachine(context, request, { deadline: clock.now() + 3_600_000 });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'timed-out', status: 42, statusName: 'status 42' } });
    expect(changes(maas)).toEqual([]);
  });

  it('(28) the deadline ends a deployment that MAAS never ends; a heartbeat per poll', async () => {
    const { context, clock, maas } = scene({}, { deployMs: Number.POSITIVE_INFINITY });
    const start = clock.now();
    let beats = 0;
    const outcome = await deployMachine(context, request, { deadline: start + 3_900_000, heartbeat: () => beats++ });
    expect(kindOf(outcome)).toBe('timed-out');
    expect(clock.now()).toBe(start + 3_900_000);
    expect(beats).toBeGreaterThanOrEqual(maas.sent(/GET machines\/\?id=/));
  });

  it('(28) cancelling ends the wait immediately; then one abort, and the state afterwards is reported', async () => {
    const { context, maas } = scene({}, { deployMs: Number.POSITIVE_INFINITY });
    const cancel = new AbortController();
    const running = deployMachine(context, request, {
      signal: cancel.signal,
      heartbeat: (machine) => {
        if (machine?.status === 9) cancel.abort(new Error('cancelled'));
      },
    });
    await expect(running).rejects.toThrow('cancelled');
    expect(await abortMachine(context, { systemId: id, site: 'dc1', run: 'r7' })).toMatchObject({
      ok: true,
      actions: ['abort'],
      machine: { status: 10, owner: 'admin' },
    });
    expect(await abortMachine(context, { systemId: id, site: 'dc1', run: 'r7' })).toMatchObject({
      ok: true,
      actions: [],
    });
    expect(maas.count(id, 'abort')).toBe(1);
  });

  it('(4) a refused key is thrown as final', async () => {
    const { maas, clock } = scene({});
    const send = () => Promise.resolve({ status: 401, headers: {}, body: 'Authorization Error: Invalid API key.' });
    const refused = maasProcess(
      Object.assign(Object.create(maas) as FaultyMaas, { transport: () => ({ send, close: () => Promise.resolve() }) }),
      clock,
    );
    await expect(deployMachine(refused, request)).rejects.toMatchObject({
      failure: { kind: 'unauthorised', retryable: false },
    });
  });
});

describe('prepare', () => {
  const ask = { systemId: id, site: 'dc1', commission: { testingScripts: [] } };

  it('(13) New → commission → Ready', async () => {
    const { context, maas } = scene({ status: 0 });
    expect(await prepareMachine(context, ask)).toMatchObject({
      ok: true,
      machine: { status: 4 },
      actions: ['commission'],
    });
    expect(maas.requests.find((r) => r.target.includes('op=commission'))?.form.get('testing_scripts')).toBe('none');
    expect(await prepareMachine(context, ask)).toMatchObject({ ok: true, actions: [] });
    expect(maas.count(id, 'commission')).toBe(1);
  });

  it('(13) found commissioning: waits; sends nothing', async () => {
    const { context, maas } = scene({ status: 1, owner: 'admin' });
    expect(await prepareMachine(context, ask)).toMatchObject({ ok: true, actions: [] });
    expect(changes(maas)).toEqual([]);
  });

  it('(13) no rack: 503, and we own the machine now; the next try succeeds', async () => {
    const { context, maas, machine } = scene({ status: 0 }, { faults: Array(4).fill([/op=commission/, '503']) });
    expect(await prepareMachine(context, ask)).toMatchObject({
      ok: false,
      failure: { kind: 'maas-error', action: 'commission' },
    });
    machine.owner = 'admin';
    expect(await prepareMachine(context, ask)).toMatchObject({ ok: true, machine: { status: 4 } });
    expect(maas.count(id, 'commission')).toBe(1);
    // The same on a Ready machine: it counts as prepared, and is deployed without `allocate`.
    Object.assign(machine, { status: 4, owner: 'admin' });
    expect(await prepareMachine(context, ask)).toMatchObject({ ok: true, actions: [] });
    expect(await deployMachine(context, request)).toMatchObject({ ok: true, actions: ['annotate', 'deploy'] });
    expect(maas.count(id, 'allocate')).toBe(0);
  });

  it('(13) a commissioning that fails is reported with its scripts, exit status and last lines', async () => {
    const { context, maas } = scene({ status: 2, owner: 'admin' }, { commissionEnds: [2] });
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join('\n');
    maas.results.set(`${id}/commissioning`, [
      {
        id: 3,
        results: [
          { name: '20-maas-01-install-lldpd', status: 2, exit_status: 0 },
          {
            name: '30-maas-01-bmc-config',
            status: 3,
            status_name: 'Failed',
            exit_status: 7,
            output: Buffer.from(lines).toString('base64'),
          },
        ],
      },
    ]);
    const outcome = await prepareMachine(context, ask);
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'commissioning-failed', scripts: [{ name: '30-maas-01-bmc-config', exitStatus: 7 }] },
    });
    const failure = !outcome.ok && outcome.failure.kind === 'commissioning-failed' ? outcome.failure : undefined;
    expect(failure?.message).toContain('30-maas-01-bmc-config (exit status 7)');
    expect(failure?.scripts[0]?.lastLines.at(-1)).toBe('line 30');
    expect(failure?.scripts[0]?.lastLines).toHaveLength(10);
    expect(maas.count(id, 'commission')).toBe(1);
  });

  it('(30) after a crash, a commissioning that failed since the request began is the result', async () => {
    const { context, maas, clock } = scene({ status: 2, owner: 'admin' });
    const since = clock.now();
    maas.results.set(`${id}/commissioning`, [
      { id: 3, results: [{ name: 's', status: 3, exit_status: 1, starttime: since / 1000 + 5 }] },
    ]);
    expect(kindOf(await prepareMachine(context, { ...ask, since }))).toBe('commissioning-failed');
    expect(maas.count(id, 'commission')).toBe(0);
    expect(await prepareMachine(context, { ...ask, since: since + 60_000 })).toMatchObject({
      ok: true,
      actions: ['commission'],
    });
  });

  it('an old failed deployment of ours is released; one that ends in New is commissioned', async () => {
    const { context } = scene({ status: 11, owner: 'admin', owner_data: mark('r6'), commissioned: false });
    expect(await prepareMachine(context, ask)).toMatchObject({
      ok: true,
      machine: { status: 4 },
      actions: ['release', 'commission'],
    });
  });

  it('commission refused with 400 because it runs already: follows the state', async () => {
    const { context, maas } = scene({ status: 0 }, { faults: [[/op=commission/, 'doubled']] });
    expect(await prepareMachine(context, ask)).toMatchObject({ ok: true, machine: { status: 4 } });
    expect(maas.count(id, 'commission')).toBe(1);
  });
});

describe('release', () => {
  const ask = { systemId: id, site: 'dc1' };
  const ours = { status: 6, owner: 'admin', owner_data: mark('r6'), ...jammy };

  it('(24) 12, then 4', async () => {
    const { context, maas } = scene(ours);
    expect(await releaseMachine(context, ask)).toMatchObject({
      ok: true,
      machine: { status: 4, owner: null },
      actions: ['release'],
    });
    expect(maas.requests.find((r) => r.target.includes('op=release'))?.form.has('erase')).toBe(false);
    expect(await releaseMachine(context, ask)).toMatchObject({ ok: true, actions: [] });
  });

  it('(24) erase only when asked: 14, then 4', async () => {
    const { context, maas } = scene(ours);
    expect(await releaseMachine(context, { ...ask, quickErase: true })).toMatchObject({
      ok: true,
      machine: { status: 4 },
    });
    const form = maas.requests.find((r) => r.target.includes('op=release'))?.form;
    expect([form?.get('erase'), form?.get('quick_erase'), form?.has('secure_erase'), form?.has('force')]).toEqual([
      'true',
      'true',
      false,
      false,
    ]);
  });

  it('(24) straight to 4 with manual power; to 0 where it was never commissioned', async () => {
    expect(await releaseMachine(scene(ours, { releaseMs: 0 }).context, ask)).toMatchObject({
      ok: true,
      machine: { status: 4 },
    });
    const uncommissioned = scene({ ...ours, commissioned: false });
    expect(await releaseMachine(uncommissioned.context, ask)).toMatchObject({ ok: true, machine: { status: 0 } });
  });

  it.each([[13], [15]])('(24) ending in %d is a failure', async (status) => {
    const { context, maas } = scene(ours, { releaseEnds: [status] });
    expect(await releaseMachine(context, { ...ask, erase: status === 15 })).toMatchObject({
      ok: false,
      failure: { kind: 'release-failed', status },
    });
    expect(maas.count(id, 'release')).toBe(1);
  });

  it.each([[12], [14]])('(24) called at %d: waits, sends nothing', async (status) => {
    const { context, maas } = scene({ ...ours, status });
    expect(await releaseMachine(context, ask)).toMatchObject({ ok: true, machine: { status: 4 }, actions: [] });
    expect(changes(maas)).toEqual([]);
  });

  it('(22) an error after which the state has moved: the state counts', async () => {
    const { maas, clock, machine } = scene(ours);
    const transport = maas.transport();
    const send = (request: Parameters<typeof transport.send>[0]) => {
      if (!request.url.includes('op=release')) return transport.send(request);
      machine.status = 15;
      return Promise.resolve({ status: 409, headers: {}, body: 'Invalid transition: Disk erasing -> Deployed.' });
    };
    const context = maasProcess(
      Object.assign(Object.create(maas) as FaultyMaas, { transport: () => ({ ...transport, send }) }),
      clock,
    );
    expect(await releaseMachine(context, { ...ask, erase: true })).toMatchObject({
      ok: false,
      failure: { kind: 'release-failed', status: 15 },
    });
  });

  it('(22) a release refused with 503 that cleared system and mark is resumed', async () => {
    const { context, maas, machine } = scene(ours, { faults: Array(4).fill([/op=release/, '503']) });
    expect(kindOf(await releaseMachine(context, ask))).toBe('maas-error');
    Object.assign(machine, { osystem: '', distro_series: '', owner_data: {} });
    maas.log(id, 'DEBUG', 'User releasing node', '(admin) - sitewright:dc1: run 7');
    expect(await releaseMachine(context, ask)).toMatchObject({ ok: true, machine: { status: 4 } });
    expect(maas.count(id, 'release')).toBe(1);
  });

  it('(25) a machine with a new owner is refused, nothing sent; a locked one is reported as such', async () => {
    for (const [state, kind] of [
      [{ owner: 'bob' }, 'other-owner'],
      [{ owner_data: mark('r1', 'dc2') }, 'other-site'],
      [{ owner_data: {} }, 'not-marked'],
      [{ locked: true }, 'locked'],
    ] as const) {
      const { context, maas } = scene({ ...ours, ...state });
      expect(kindOf(await releaseMachine(context, ask))).toBe(kind);
      expect(changes(maas)).toEqual([]);
    }
  });

  it('(19, 25) a lost answer is followed by a read; an interrupted release is not immediately repeated', async () => {
    const acted = scene(ours, { faults: [[/op=release/, 'drop_after']] });
    expect(await releaseMachine(acted.context, ask)).toMatchObject({ ok: true, actions: ['release'] });
    expect(acted.maas.count(id, 'release')).toBe(1);
    const lost = scene(ours, { faults: [[/op=release/, 'drop_before']], releaseMs: 0 });
    const start = lost.clock.now();
    expect(await releaseMachine(lost.context, ask)).toMatchObject({ ok: true });
    expect(lost.clock.now() - start).toBeGreaterThanOrEqual(20_000);
  });
});

describe('abort', () => {
  it('(23) the answer has the old state; the next reading decides', async () => {
    const { context, maas } = scene({ status: 9, owner: 'admin', owner_data: mark('r7') });
    expect(await abortMachine(context, { systemId: id, site: 'dc1' })).toMatchObject({
      ok: true,
      machine: { status: 10 },
      actions: ['abort'],
    });
    expect(maas.requests.at(-1)).toMatchObject({ method: 'GET', target: `machines/${id}/` });
  });

  it('of a commissioning; of nothing; of somebody else’s', async () => {
    expect(
      await abortMachine(scene({ status: 1, owner: 'admin' }).context, { systemId: id, site: 'dc1' }),
    ).toMatchObject({
      ok: true,
      machine: { status: 0 },
    });
    const idle = scene({ status: 6, owner: 'admin' });
    expect(await abortMachine(idle.context, { systemId: id, site: 'dc1' })).toMatchObject({ ok: true, actions: [] });
    expect(changes(idle.maas)).toEqual([]);
    const bobs = scene({ status: 9, owner: 'bob' });
    expect(kindOf(await abortMachine(bobs.context, { systemId: id, site: 'dc1' }))).toBe('other-owner');
    expect(changes(bobs.maas)).toEqual([]);
  });
});
