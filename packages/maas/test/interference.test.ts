import { describe, expect, it } from 'vitest';
import { deployMachine } from '../src/deploy-machine.ts';
import { prepareMachine } from '../src/prepare-machine.ts';
import { releaseMachine } from '../src/release-machine.ts';
import { type FakeMachine, FaultyMaas, type FaultyMaasOptions } from './rig/faulty-maas.ts';
import { LeapingClock } from './rig/leaping-clock.ts';
import { maasProcess } from './rig/maas-process.ts';

const id = 'abc123';
const request = { systemId: id, site: 'dc1', node: 'n1', run: 'r7', distroSeries: 'jammy' };
const mark = (run: string) => ({ sitewright_site: 'dc1', sitewright_node: 'n1', sitewright_run: run });

function scene(state: Partial<FakeMachine>, options: Omit<FaultyMaasOptions, 'clock'> = {}) {
  const clock = new LeapingClock();
  const maas = new FaultyMaas({ ...options, clock });
  const machine = maas.add(id, state);
  maas.start(machine);
  return { clock, maas, machine, context: maasProcess(maas, clock) };
}

/** Acts once, at the first look at the machine in this state. */
function at(status: number, act: () => void) {
  let done = false;
  return {
    heartbeat(machine: { readonly status: number } | undefined) {
      if (machine?.status !== status || done) return;
      done = true;
      act();
    },
  };
}

describe('a person at MAAS in the middle of a deployment', () => {
  it('releases the machine: it is not touched, and the failure names who and why', async () => {
    const { maas, context } = scene({}, { releaseMs: 0 });
    const outcome = await deployMachine(
      context,
      request,
      at(9, () => maas.byHand(id, 'release', 'alice', 'rack moves')),
    );
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'released-by-hand', request: { by: 'alice', comment: 'rack moves' } },
      machine: { status: 4 },
    });
    expect(!outcome.ok && outcome.failure.message).toMatch(
      /released in MAAS .* by the MAAS user alice \("rack moves"\) on Sat, 21 Nov\. 2026 12:\d\d:\d\d UTC: .* is Ready/,
    );
    expect(maas.count(id, 'deploy')).toBe(1);
    expect(maas.count(id, 'allocate')).toBe(1);
  });

  it('releases it, and the process that looks next knows nothing of the deployment', async () => {
    const { maas, context, clock } = scene({}, { releaseMs: 0 });
    const killed = new AbortController();
    const died = deployMachine(context, request, { signal: killed.signal, ...at(9, () => killed.abort()) });
    await expect(died).rejects.toThrow();
    maas.byHand(id, 'release');
    expect(await deployMachine(maasProcess(maas, clock), request)).toMatchObject({
      ok: false,
      failure: { kind: 'released-by-hand', request: { by: 'alice' } },
    });
    expect(maas.count(id, 'deploy')).toBe(1);
    // A retry of the node is another request.
    const again = await deployMachine(maasProcess(maas, clock), { ...request, run: 'r7#2' });
    expect(again).toMatchObject({ ok: true, actions: ['allocate', 'annotate', 'deploy'] });
  });

  it('aborts it, and the process that looks next knows nothing of the deployment', async () => {
    const { maas, context, clock } = scene({});
    const killed = new AbortController();
    const died = deployMachine(context, request, { signal: killed.signal, ...at(9, () => killed.abort()) });
    await expect(died).rejects.toThrow();
    maas.byHand(id, 'abort', 'bob');
    const outcome = await deployMachine(maasProcess(maas, clock), request);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'deployment-aborted', request: { by: 'bob' } } });
    expect(maas.count(id, 'deploy')).toBe(1);
  });

  it('releases it and deploys it with the same key: neither taken over nor marked', async () => {
    const { maas, machine, context } = scene({}, { releaseMs: 0 });
    const outcome = await deployMachine(
      context,
      request,
      at(9, () => {
        maas.byHand(id, 'release');
        maas.byHand(id, 'allocate');
        maas.byHand(id, 'deploy');
      }),
    );
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'released-by-hand' }, machine: { status: 9 } });
    expect(machine.owner_data).toEqual({});
  });

  it('releases it right before our deployment reaches it: it is given back', async () => {
    const { maas, machine, context } = scene({}, { releaseMs: 0 });
    const outcome = await deployMachine(context, request, {
      acting: async (action) => {
        if (action === 'deploy') maas.byHand(id, 'release');
      },
    });
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'released-by-hand' }, machine: { status: 4 } });
    expect(outcome.actions).toEqual(['allocate', 'annotate', 'deploy', 'release']);
    expect(machine).toMatchObject({ status: 4, owner: null });
  });

  it('releases it right before our deployment reaches it, and the process that looks next knows nothing of it', async () => {
    const { maas, machine, context, clock } = scene({}, { releaseMs: 0 });
    const killed = new AbortController();
    const died = deployMachine(context, request, {
      signal: killed.signal,
      acting: async (action) => {
        if (action === 'deploy') maas.byHand(id, 'release');
      },
      ...at(9, () => killed.abort()),
    });
    await expect(died).rejects.toThrow();
    expect(machine).toMatchObject({ status: 9, owner_data: {} });
    const outcome = await deployMachine(maasProcess(maas, clock), request);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'released-by-hand' }, machine: { status: 4 } });
    expect(outcome.actions).toEqual(['release']);
  });

  it('had done so before the step began: no interference, also for a second process', async () => {
    const { maas, context } = scene({}, { releaseMs: 0 });
    for (const op of ['allocate', 'deploy', 'abort', 'release'] as const) maas.byHand(id, op, 'alice', 'trying');
    expect(await deployMachine(context, request)).toMatchObject({
      ok: true,
      actions: ['allocate', 'annotate', 'deploy'],
    });
  });

  it('leaves no log that this user may read: the failure is reported without names', async () => {
    const { maas, clock } = scene({}, { releaseMs: 0 });
    const { send, close } = maas.transport();
    const blind = maasProcess(
      Object.assign(Object.create(maas) as FaultyMaas, {
        transport: () => ({
          close,
          send: (request: Parameters<typeof send>[0]) =>
            request.url.includes('/events/') ? { status: 403, headers: {}, body: '' } : send(request),
        }),
      }),
      clock,
    );
    const outcome = await deployMachine(
      blind,
      request,
      at(9, () => maas.byHand(id, 'release')),
    );
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'released-by-hand' } });
    expect(!outcome.ok && outcome.failure).not.toHaveProperty('request');
  });
});

describe('a person at MAAS in the middle of a commissioning', () => {
  const prepare = { systemId: id, site: 'dc1' };

  it('aborts it: it is not started again', async () => {
    const { maas, context } = scene({ status: 0, commissioned: false });
    const outcome = await prepareMachine(
      context,
      prepare,
      at(1, () => maas.byHand(id, 'abort')),
    );
    expect(outcome).toMatchObject({
      ok: false,
      failure: { kind: 'commissioning-aborted', request: { by: 'alice' } },
      machine: { status: 0 },
    });
    expect(maas.count(id, 'commission')).toBe(1);
  });

  it('aborts it, and the process that looks next knows nothing of it', async () => {
    const { maas, context, clock } = scene({ status: 0, commissioned: false });
    const since = clock.now();
    const killed = new AbortController();
    const died = prepareMachine(
      context,
      { ...prepare, since },
      { signal: killed.signal, ...at(1, () => killed.abort()) },
    );
    await expect(died).rejects.toThrow();
    maas.byHand(id, 'abort');
    const next = () => maasProcess(maas, clock);
    expect(await prepareMachine(next(), { ...prepare, since })).toMatchObject({
      ok: false,
      failure: { kind: 'commissioning-aborted' },
    });
    clock.leap(5_000);
    expect(await prepareMachine(next(), { ...prepare, since: clock.now() })).toMatchObject({
      ok: true,
      warnings: [{ code: 'commissioned' }],
    });
  });
});

describe('no machine is deployed without the marker of its site', () => {
  it('an owned Ready machine is marked first', async () => {
    const { maas, context, machine } = scene({ owner: 'admin' });
    expect(await deployMachine(context, request)).toMatchObject({ ok: true, actions: ['annotate', 'deploy'] });
    expect(machine.owner_data).toMatchObject(mark('r7'));
    expect(maas.effects.map(({ what }) => what)).toEqual(['annotate', 'deploy']);
  });

  it('a MAAS that refuses the marker is asked for no deployment', async () => {
    const { maas, clock } = scene({});
    const { send, close } = maas.transport();
    const refusing = maasProcess(
      Object.assign(Object.create(maas) as FaultyMaas, {
        transport: () => ({
          close,
          send: (request: Parameters<typeof send>[0]) =>
            request.url.includes('annotations') ? { status: 403, headers: {}, body: '' } : send(request),
        }),
      }),
      clock,
    );
    const outcome = await deployMachine(refusing, request);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'refused', action: 'annotate' } });
    expect(!outcome.ok && outcome.failure.hint).toMatch(/before that, this step had allocated it$/);
    expect(maas.count(id, 'deploy')).toBe(0);
  });

  it('a label that MAAS cannot take does not cost the marker', async () => {
    const { context, machine } = scene({});
    const outcome = await deployMachine(context, { ...request, labels: { 'rack no': '1', row: '2' } });
    expect(outcome).toMatchObject({ ok: true, warnings: [{ code: 'label-not-set' }] });
    expect(machine.owner_data).toMatchObject({ ...mark('r7'), row: '2' });
  });
});

describe('hints list the changes', () => {
  const bobs = { status: 6, owner: 'bob' };
  it('none, if there can be none', async () => {
    const first = await releaseMachine(scene(bobs).context, request, { isFirstTry: true });
    expect(!first.ok && first.failure.hint).toMatch(/; this step changed nothing$/);
    // An earlier attempt may have changed something.
    const later = await releaseMachine(scene(bobs).context, request);
    expect(!later.ok && later.failure.hint).not.toMatch(/nothing/);
  });

  it('those made before another owner took the machine', async () => {
    const { context, machine } = scene({ status: 11, owner: 'admin', owner_data: mark('r6') }, { releaseMs: 1_000 });
    const outcome = await deployMachine(context, request, {
      isFirstTry: true,
      ...at(12, () => Object.assign(machine, { status: 10, owner: 'bob', ends: undefined })),
    });
    expect(!outcome.ok && outcome.failure).toMatchObject({
      kind: 'other-owner',
      hint: expect.stringMatching(/before that, this step had released it$/),
    });
  });
});
