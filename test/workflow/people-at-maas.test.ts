import { MachineStatus, openMachines } from '@sitewright/maas';
import { simulatorKeys } from '@sitewright/maas-simulator';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunStatus } from '../../src/core/contracts/site-run.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { takeOffLeft } from '../../src/ops/left-on-machines.ts';
import { recordHistory } from '../rig/histories.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookAgain } from '../rig/look-again.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { CONFIGURATION, document, files, node, profile } from '../unit/documents/site-files.ts';

let rig: TemporalRig;
let site: LivingSite;
beforeAll(async () => {
  rig = await temporalRig();
});
afterEach(() => site.close());
afterAll(() => rig.close());

const machines = exampleHosts.map((hostname) => ({ hostname, status: MachineStatus.Ready, power_type: 'manual' }));

const start = (type: string, input: object = {}) =>
  rig.client.workflow.start(type, {
    taskQueue: site.worker.taskQueue,
    workflowId: rig.workflowId(type),
    args: [{ site: site.name, ...input }],
  });

type Started = Awaited<ReturnType<typeof start>>;

async function reportOf(handle: Started): Promise<RunReport> {
  await handle.result().catch(() => undefined);
  return (await site.store.runs.getReport(handle.firstExecutionRunId)) as unknown as RunReport;
}

const nodeOf = (report: RunReport, name: string) => report.baremetal!.nodes.find((node) => node.name === name)!;

/** A person with a browser, logged in at the same MAAS. */
async function person<T>(act: (maas: ReturnType<typeof openMachines>) => Promise<T>): Promise<T> {
  const maas = openMachines({
    url: site.maasUrl,
    apiKey: simulatorKeys.admin,
    pollMinSeconds: 1,
    pollMaxSeconds: 1,
  });
  try {
    return await act(maas);
  } finally {
    await maas.close();
  }
}

async function systemId(hostname: string): Promise<string> {
  return (await site.effects()).find((effect) => effect.hostname === hostname)!.system_id;
}

describe('people who work at MAAS meanwhile', () => {
  it('a machine released by hand in mid-deploy fails its node, which is not deployed again', async () => {
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 4_000 } });
    await site.commit(await exampleDocuments());
    const handle = await start('deploy_site');
    while (!((await site.entered(MachineStatus.Deploying)).stl1r01s03 === 1)) await lookAgain();
    const id = await systemId('stl1r01s03');
    await person(({ client }) => client.machines.release(id, { comment: 'rack moves' }));
    const node = nodeOf(await reportOf(handle), 'stl1r01s03');
    expect(node).toMatchObject({ state: 'failed', failed_in: 'deploy', failure_kind: 'released-by-hand' });
    expect(node.reason).toMatch(/released in MAAS .* by the MAAS user admin \("rack moves"\) on .* is Ready/);
    expect((await site.entered(MachineStatus.Deploying)).stl1r01s03).toBe(1);
  });

  it('redeploy_nodes releases nothing when one of the nodes may not be released', async () => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    expect((await reportOf(await start('deploy_site'))).outcome).toBe('success');
    await person(async ({ client }) => client.machines.lock(await systemId('stl1r01s06')));
    const handle = await start('redeploy_nodes', { nodes: ['stl1r01s05', 'stl1r01s06'] });
    await expect(handle.result()).rejects.toMatchObject({
      cause: {
        type: 'VerifySiteFailed',
        message: expect.stringMatching(/nothing was released; stl1r01s06: .* is locked/),
      },
    });
    expect((await site.effects()).filter(({ cause }) => cause === 'release')).toEqual([]);
  });

  it('an image that MAAS lacks ends the run immediately, before anything is touched', async () => {
    site = await livingSite(rig, { seed: { machines }, distroSeries: 'warty' });
    await site.commit(await exampleDocuments());
    await expect((await start('deploy_site')).result()).rejects.toMatchObject({
      cause: { type: 'VerifySiteFailed', message: expect.stringContaining('MAAS has no image of warty') },
    });
    expect((await site.effects()).filter(({ cause }) => cause !== 'seed')).toEqual([]);
  });

  it('kernel options that the user may not give end the run before anything is touched, where they are still to be given', async () => {
    site = await livingSite(rig, { seed: { machines }, maasVersion: '3.8', apiKey: simulatorKeys.deployer });
    const documents = files(
      CONFIGURATION,
      profile('tuned', "{platform: {kernel_params: {quiet: 'true'}}}"),
      node(exampleHosts[0] as string, '{host_profile: tuned}'),
    );
    await site.commit(documents.map(({ name, text }) => ({ name, text })));
    await expect((await start('deploy_site')).result()).rejects.toMatchObject({
      cause: { type: 'VerifySiteFailed', message: expect.stringContaining('can_edit_global_entities') },
    });
    expect((await site.effects()).filter(({ cause }) => cause !== 'seed')).toEqual([]);

    const id = await systemId(exampleHosts[0] as string);
    await person(async ({ client }) => {
      await client.inventory.ensureTag(`sitewright-kernel-${id}`);
      await client.inventory.setKernelOptions(`sitewright-kernel-${id}`, 'quiet=true');
      await client.inventory.changeTag(`sitewright-kernel-${id}`, { add: [id] });
    });
    expect((await reportOf(await start('deploy_site'))).outcome).toBe('success');
  });

  it('a machine that someone deployed with our key is refused, and taken over only by name', async () => {
    const deployed = { status: MachineStatus.Deployed, owner: 'admin', osystem: 'ubuntu', distro_series: 'jammy' };
    const juju = { ...deployed, agent_name: 'juju-7', owner_data: { 'juju-model-uuid': '7' }, tags: ['theirs'] };
    site = await livingSite(rig, { seed: { machines: machines.map((one, i) => ({ ...one, ...(i < 2 && juju) })) } });
    await site.commit(await exampleDocuments());
    const [first, second] = exampleHosts as [string, string];
    const theirs = async () => {
      const found = await person(({ client }) => client.machines.list({ hostnames: [first, second] }));
      return found.map(({ hostname, annotations, tags, status }) => ({ hostname, annotations, tags, status }));
    };
    const before = await theirs();

    const refused = await reportOf(await start('deploy_site'));
    for (const name of [first, second]) {
      expect(nodeOf(refused, name)).toMatchObject({
        state: 'failed',
        failed_in: 'prepare',
        failure_kind: 'not-marked',
      });
      expect(nodeOf(refused, name).reason).toContain('juju-model-uuid=7');
    }
    const redeploy = await start('redeploy_nodes', { nodes: [second] });
    await expect(redeploy.result()).rejects.toMatchObject({ cause: { type: 'VerifySiteFailed' } });
    expect(await theirs()).toEqual(before);

    await expect((await start('deploy_site', { adopt: ['nobody'] })).result()).rejects.toMatchObject({
      cause: { type: 'NodesNotFound' },
    });
    const one = await reportOf(await start('deploy_site', { adopt: [first] }));
    expect(nodeOf(one, first).state).not.toBe('failed');
    expect(nodeOf(one, second)).toMatchObject({ state: 'failed', failure_kind: 'not-marked' });
    const report = await reportOf(await start('deploy_site', { adopt: [first, second], started_by: 'nina' }));
    expect(report.outcome).toBe('success');
    expect(nodeOf(report, second).warnings).toEqual([expect.stringContaining('as requested')]);
    const { items } = await site.store.audit.list({ action: 'machine.adopt' });
    expect(items.map(({ target, details }) => ({ target, details }))).toEqual(
      expect.arrayContaining(
        [first, second].map((node) => ({
          target: `site/${site.name}`,
          details: expect.objectContaining({ node, run: report.run_id }),
        })),
      ),
    );
    for (const { hostname, status, annotations } of await theirs()) {
      expect(status).toBe(MachineStatus.Deployed);
      expect(annotations).toMatchObject({
        'juju-model-uuid': '7',
        sitewright_site: site.name,
        sitewright_node: hostname,
      });
    }
    const again = await reportOf(await start('deploy_site'));
    expect(again.outcome).toBe('success');
  });

  it('tags that were added, and machines taken over, broken or commissioned again, are in the report', async () => {
    const deployed = { status: MachineStatus.Deployed, owner: 'admin', osystem: 'ubuntu', distro_series: 'jammy' };
    const found = [deployed, { status: MachineStatus.Broken }, { status: MachineStatus.FailedCommissioning }];
    site = await livingSite(rig, {
      seed: { machines: machines.map((one, i) => ({ ...one, ...found[i] })) },
    });
    await site.commit(await exampleDocuments());
    const report = await reportOf(await start('deploy_site', { adopt: ['stl1r01s02'] }));
    expect(report.phases.find(({ name }) => name === 'prepare_site')?.detail).toMatch(
      /^tag \S+ was added to \d machine/,
    );
    const notes = {
      stl1r01s02: 'taken over unchanged',
      stl1r01s03: 'was marked broken; it was commissioned again',
      stl1r01s04: 'was Failed commissioning; it was commissioned again',
    };
    const rows = await site.store.runs.listNodes(report.run_id);
    for (const [name, note] of Object.entries(notes)) {
      expect(nodeOf(report, name).warnings).toEqual([expect.stringContaining(note)]);
      expect(rows.find(({ node }) => node === name)!.report).toMatchObject({
        state: 'success',
        warnings: [expect.stringContaining(note)],
      });
    }
  });

  it('Pending Activities shows the state of the machine in MAAS', async () => {
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 } });
    await site.commit(await exampleDocuments());
    const handle = await start('deploy_site');
    const beats = async () => {
      const { raw } = await handle.describe();
      return (raw.pendingActivities ?? []).map(({ heartbeatDetails }) =>
        Buffer.from(heartbeatDetails?.payloads?.[0]?.data ?? []).toString(),
      );
    };
    let seen: string | undefined;
    while (seen === undefined) {
      seen = (await beats()).find((beat) => beat.includes('stl1r01s02') && beat.includes('"maas":"Deploying'));
      await lookAgain();
    }
    expect(JSON.parse(seen)).toMatchObject({
      machine: expect.stringMatching(/^stl1r01s02 \(\w{6}\)$/),
      maas: expect.stringMatching(/^Deploying/),
      minutes: 0,
    });
    await handle.cancel();
    await handle.result().catch(() => undefined);
  });
});

describe('a pause while MAAS is unreachable', () => {
  const heldIn = async (handle: Started, activity: string) => {
    const { raw } = await handle.describe();
    return (raw.pendingActivities ?? []).filter(
      ({ activityType, lastFailure }) =>
        activityType?.name === activity && lastFailure?.applicationFailureInfo?.type === 'RunHeld',
    ).length;
  };
  const isTried = async (handle: Started, activity: string, times: number) => {
    const { raw } = await handle.describe();
    const pending = (raw.pendingActivities ?? []).filter(({ activityType }) => activityType?.name === activity);
    return pending.some(({ attempt, lastStartedTime }) => lastStartedTime && (attempt ?? 0) >= times);
  };
  const changes = async () => (await site.requests()).filter(({ method }) => method !== 'GET').length;

  // Of other steps, the simulator shows it in each of its seeds (docs/explain/guarantees.md).
  it('holds when MAAS is back: deploy_node requests nothing of a machine before the resume', async () => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    await site.control('faults', [{ match: 'op=allocate', kind: 'drop_before', times: 10_000 }]);
    const handle = await start('deploy_site');
    while (!(await isTried(handle, 'deploy_node', 2))) await lookAgain();
    await handle.executeUpdate('pause', { args: [{ by: 'nina' }] });
    const before = await changes();
    await site.control('faults', []);
    while ((await heldIn(handle, 'deploy_node')) < 3) {
      expect(await changes()).toBe(before);
      await lookAgain();
    }
    await handle.executeUpdate('resume');
    expect((await reportOf(handle)).outcome).toBe('success');
  });
});

describe('what runs put on machines that the site does not have any more', () => {
  const [released, taken, kept, undeployed] = exampleHosts as [string, string, string, string];
  const stop = new AbortController().signal;
  const tags = async (): Promise<Record<string, readonly string[]>> => {
    const found = await person(({ client }) => client.machines.list({ hostnames: exampleHosts }));
    return Object.fromEntries(
      found.map(({ hostname, tags: all }) => [hostname, all.filter((tag) => tag !== 'virtual')]),
    );
  };

  async function deployed() {
    site = await livingSite(rig, { seed: { machines } });
    const tuned = (name: string) =>
      document('drydock/BaremetalNode/v1', name, '{host_profile: tuned, metadata: {tags: [gpu]}}');
    const texts = [CONFIGURATION, profile('tuned', "{platform: {kernel_params: {quiet: 'true'}}}")];
    const documents = files(...texts, ...[released, taken, kept].map(tuned));
    await site.commit(documents.map(({ name, text }) => ({ name, text })));
    expect((await reportOf(await start('deploy_site'))).outcome).toBe('success');
    const kernel = async (host: string) => `sitewright-kernel-${await systemId(host)}`;
    const [ofReleased, ofTaken, ofKept] = await Promise.all([released, taken, kept].map(kernel));
    expect(await tags()).toMatchObject({ [released]: ['gpu', ofReleased], [kept]: ['gpu', ofKept] });
    const id = await systemId(undeployed);
    await site.store.givenTags.put(site.name, new Map([[id, ['gpu']]]));
    await person(async ({ client }) => {
      await client.inventory.ensureTag('theirs');
      const ids = await Promise.all([released, taken].map(systemId));
      await client.inventory.changeTag('theirs', { add: ids });
      await client.inventory.changeTag('gpu', { add: [id] });
      for (const one of ids) await client.machines.release(one, { comment: 'by hand' });
    });
    await expect.poll(async () => (await site.entered(MachineStatus.Ready))[taken]).toBe(2);
    await person(async ({ client }) => client.machines.allocate(await systemId(taken), { agentName: 'juju' }));
    return { ofTaken, ofKept };
  }

  const deps = () => ({
    store: site.store,
    maas: () => openMachines({ url: site.maasUrl, apiKey: simulatorKeys.admin, pollMinSeconds: 1, pollMaxSeconds: 1 }),
  });

  it('is taken off, but for the tags of people and on machines that it has or was never deployed on', async () => {
    const { ofKept } = await deployed();
    await takeOffLeft(deps(), site.name, stop);
    expect(await tags()).toMatchObject({
      [released]: ['theirs'],
      [taken]: ['theirs'],
      [kept]: ['gpu', ofKept],
      [undeployed]: ['gpu'],
    });
    expect(await site.store.claims.holder({ site: site.name })).toBeNull();
    const before = (await site.requests()).length;
    await takeOffLeft(deps(), site.name, stop);
    const changes = (await site.requests()).slice(before).filter(({ method }) => method !== 'GET');
    expect(changes).toEqual([]);
  });

  it('stays while a run has the site, and a run that opens meanwhile waits until it is off', async () => {
    const { ofTaken } = await deployed();
    const { store, name } = site;
    const run = { workflowId: 'deploy_site:x', runId: 'x', executionId: 'x' };
    await store.claims.claim({ site: name }, run);
    await takeOffLeft(deps(), name, stop);
    expect((await tags())[taken]).toEqual(['gpu', ofTaken, 'theirs']);
    await store.claims.release({ site: name }, run);

    await site.control('faults', [{ match: 'tags/', kind: 'slow', ms: 1_000, times: 1 }]);
    const order: string[] = [];
    const taking = takeOffLeft(deps(), name, stop).then(() => order.push('off'));
    await expect.poll(() => store.claims.holder({ site: name })).not.toBeNull();
    expect((await reportOf(await start('test_site'))).outcome).toBe('success');
    order.push('run');
    await taking;
    expect(order).toEqual(['off', 'run']);
  });
});

describe('a MAAS that takes connections and does not answer', () => {
  const ends = [
    ['cancel', 'cancelled'],
    ['stop', 'stopped'],
  ] as const;

  async function endInTime(handle: Started, action: 'cancel' | 'stop'): Promise<RunReport> {
    const since = Date.now();
    await (action === 'cancel' ? handle.cancel() : handle.signal('stop', { by: 'nina' }));
    const report = await reportOf(handle);
    // Ten seconds on an idle machine. Waiting for an answer of MAAS would take an hour.
    expect(Date.now() - since).toBeLessThan(60_000);
    return report;
  }

  const hang = () => site.control('faults', [{ match: '.', kind: 'slow', ms: 3_600_000, times: 1_000 }]);
  const isAsked = async (handle: Started, activity: string) => {
    const { raw } = await handle.describe();
    return (raw.pendingActivities ?? []).some(
      ({ activityType, attempt, lastStartedTime }) =>
        activityType?.name === activity && attempt === 1 && lastStartedTime,
    );
  };

  it.each(ends)('%s ends a check of the site within ten seconds', async (action, outcome) => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    await hang();
    const handle = await start('test_site');
    while (!(await isAsked(handle, 'verify_site'))) await lookAgain();
    const report = await endInTime(handle, action);
    expect(report.outcome).toBe(outcome);
    expect(report.phases.at(-1)).toMatchObject({ name: 'verify_site', state: 'stopped' });
    await recordHistory(handle, `test_site--${outcome}-while-looking`);
  });

  it('stop ends steps of retried nodes within ten seconds, and reports the unknown', async () => {
    site = await livingSite(rig, { seed: { machines }, silenceAfterMs: 500, auto: { deploy_ms: 3_600_000 } });
    await site.commit(await exampleDocuments());
    const handle = await start('deploy_site');
    while (!((await site.entered(MachineStatus.Deploying)).stl1r01s03 === 1)) await lookAgain();
    await site.control('faults', [{ match: '.', kind: 'drop_before', times: 100_000 }]);
    while ((await handle.query<RunStatus>('status')).maas_silent_since === undefined) await lookAgain();
    const report = await endInTime(handle, 'stop');
    expect(report.outcome).toBe('stopped');
    expect(nodeOf(report, 'stl1r01s03')).toMatchObject({
      state: 'failed',
      failed_in: 'deploy',
      failure_kind: 'maas-silent',
      reason: expect.stringMatching(/^the run was stopped; .* \d\d:\d\d UTC: .* stl1r01s03 /),
    });
    await recordHistory(handle, 'deploy_site--stopped-while-maas-is-silent');
  });

  it.each([
    ['hangs', { kind: 'slow', ms: 3_600_000 }],
    ['is away', { kind: 'drop_before' }],
  ] as const)('stop ends a step within ten seconds, though MAAS %s only since then', async (_how, fault) => {
    // Nobody has reported a silence: the stop asks MAAS itself.
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 } });
    await site.commit(await exampleDocuments());
    const handle = await start('deploy_site');
    while (!((await site.entered(MachineStatus.Deploying)).stl1r01s03 === 1)) await lookAgain();
    await site.control('faults', [{ match: '.', times: 100_000, ...fault }]);
    const report = await endInTime(handle, 'stop');
    expect(report.outcome).toBe('stopped');
    expect(nodeOf(report, 'stl1r01s03')).toMatchObject({ state: 'failed', failure_kind: 'maas-silent' });
  });

  it.each(ends)(
    '%s ends the loading of a plan within ten seconds, with since when it waited',
    async (action, outcome) => {
      site = await livingSite(rig, { seed: { machines }, silenceAfterMs: 500 });
      await site.commit(await exampleDocuments());
      expect((await reportOf(await start('deploy_site'))).outcome).toBe('success');
      await hang();
      const handle = await start('update_site');
      while (!(await isAsked(handle, 'load_plan'))) await lookAgain();
      while ((await handle.query<RunStatus>('status')).maas_silent_since === undefined) await lookAgain();
      expect((await endInTime(handle, action)).outcome).toBe(outcome);
    },
  );
});
