import { MaasClient, MachineStatus } from '@sitewright/maas';
import { simulatorKeys } from '@sitewright/maas-simulator';
import { WorkflowFailedError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readClusterSources } from '../../src/clusters/read-sources.ts';
import { clusterStates } from '../../src/clusters/state/cluster-state.ts';
import type { RunStatus } from '../../src/core/contracts/site-run.ts';
import type { RunReport } from '../../src/core/contracts/site-run-report.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { CONFIGURATION, document, node, profile } from '../unit/documents/site-files.ts';

let rig: TemporalRig;
let site: LivingSite;
beforeAll(async () => {
  rig = await temporalRig();
});
afterEach(() => site.close());
afterAll(() => rig.close());

const machines = exampleHosts.map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' }));
const oneDeployEach = Object.fromEntries(exampleHosts.map((host) => [host, 1]));

async function run(
  type: string,
  input: object = {},
): Promise<{ report: RunReport; error: Error | null; runId: string }> {
  const handle = await rig.client.workflow.start(type, {
    taskQueue: site.worker.taskQueue,
    workflowId: rig.workflowId(type),
    args: [{ site: site.name, ...input }],
  });
  const error = await handle.result().then(
    () => null,
    (thrown: Error) => thrown,
  );
  const runId = handle.firstExecutionRunId;
  // A refused run never existed: it has no row and no report.
  const report = await site.store.runs.getReport(runId).catch(() => null);
  return { report: report as unknown as RunReport, error, runId };
}

const states = (report: RunReport) =>
  Object.fromEntries(report.baremetal!.groups.map((group) => [group.name, group.state]));

describe('the example site on a simulated MAAS', () => {
  it('deploys from bare, once per node; a second run finds nothing to do, and the end of both is logged', async () => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    const first = await run('deploy_site', { started_by: 'nina' });
    expect(first.error).toBeNull();
    const { fields, message } = site.log[0]!;
    expect(message).toBe('deploy_site of site stl1 has ended');
    expect(fields).toEqual({ site: 'stl1', run: first.runId, outcome: 'success', done: 6, total: 6, failed_nodes: 0 });
    expect(states(first.report)).toEqual({ masters: 'success', worker_group_0: 'success', workers: 'success' });
    expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);
    expect(await site.entered(MachineStatus.Commissioning)).toEqual(oneDeployEach);

    const second = await run('deploy_site');
    expect(second.report.outcome).toBe('success');
    const update = await run('update_site');
    expect(update.report.baremetal!.groups.every((group) => group.calls.length === 0)).toBe(true);
    expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);

    const record = await site.store.sites.get(site.name);
    expect(record.lastGoodRevision).toBe(1);
    const rows = await site.store.runs.listNodes(first.runId);
    expect(rows.map(({ report }) => [report.name, report.state, report.group])).toContainEqual([
      'stl1r01s05',
      'success',
      'worker_group_0',
    ]);
    const tested = await run('test_site');
    expect(tested.report.phases.at(-1)).toMatchObject({ name: 'inspect_nodes', detail: '6 Deployed' });
  });

  it('interfaces, disks, kernel options and networks of its documents are configured before the deployment; changed ones need a redeployment; addresses are facts of the cluster', async () => {
    const seed = {
      machines: ['n1', 'n2'].map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' })),
    };
    site = await livingSite(rig, { seed });
    const documents = (address: string, cidr: string, root = '40g') => [
      {
        name: 'site.yaml',
        text: `${CONFIGURATION}
${document('drydock/NetworkLink/v1', 'pxe', '{}')}
${document('drydock/Network/v1', 'prov', '{cidr: 10.76.0.0/24, dns: {servers: 10.76.0.2}, ranges: [{type: reserved, start: 10.76.0.1, end: 10.76.0.9}], routes: [{subnet: 0.0.0.0/0, gateway: 10.76.0.1}]}')}
${document('drydock/Network/v1', 'other', `{cidr: ${cidr}}`)}
${profile('base', `{primary_network: prov, platform: {kernel_params: {intel_iommu: "on", quiet: true}}, storage: {physical_devices: {sda: {partitions: [{name: root, size: ${root}, filesystem: {mountpoint: /}}, {name: var, size: ">1g", filesystem: {mountpoint: /var, fstype: xfs}}]}}}}`)}
${node('n1', `{host_profile: base, interfaces: {nic: {device_link: pxe, slaves: [eth0], networks: [prov]}}, addressing: [{network: prov, address: ${address}}]}`)}
${node('n2', '{interfaces: {nic: {device_link: pxe, slaves: [eth0], networks: [other]}}, addressing: [{network: other, address: dhcp}]}')}`,
      },
    ];
    await site.commit(documents('10.76.0.66', '10.99.0.0/24'));
    const release = await site.store.releases.create({
      name: 'lab',
      version: 'lab-1.0',
      operatingSystem: 'Ubuntu',
      rolesMetadata: { web: {} },
      tagsMetadata: {},
      metadata: { network_roles_metadata: [{ id: 'mgmt/vip', default_mapping: 'management', properties: {} }] },
    });
    const networkConfig = { networks: [{ name: 'management', subnet: 'prov' }] };
    const cluster = await site.store.clusters.create({
      name: 'lab',
      releaseId: release.id,
      site: site.name,
      networkConfig,
    });
    const member = await site.store.nodes.create({ name: 'n1', hostname: 'n1', site: site.name, status: 'discover' });
    await site.store.nodes.assign(cluster.id, [{ id: member.id, roles: ['web'] }]);
    const first = await run('deploy_site');
    const ended = Object.fromEntries(first.report.baremetal!.nodes.map((one) => [one.name, one]));
    expect(ended.n1).toMatchObject({ state: 'success' });
    expect(ended.n2).toMatchObject({
      state: 'failed',
      failure_kind: 'layout-refused',
      reason: expect.stringContaining('MAAS has no subnet 10.99.0.0/24 (network other)'),
    });
    const client = new MaasClient({ url: site.maasUrl, apiKey: simulatorKeys.admin });
    const machineOf = async (hostname: string) => {
      const [machine] = await client.machines.list({ hostnames: [hostname] });
      return client.layouts.hardware(machine!.systemId);
    };
    const configured = await machineOf('n1');
    expect(configured.interfaces.map(({ links }) => links.map(({ ipAddress }) => ipAddress))).toEqual([['10.76.0.66']]);
    const kernel = configured.tags.find((tag) => tag.startsWith('sitewright-kernel-'))!;
    expect((await client.inventory.findTag(kernel))?.kernelOptions).toBe('intel_iommu=on quiet');
    expect(first.report.phases.find(({ name }) => name === 'prepare_site')).toMatchObject({
      detail:
        'set the DNS servers 10.76.0.2 of 10.76.0.0/24 (network prov); make the reserved range 10.76.0.1 to 10.76.0.9 of 10.76.0.0/24 (network prov)',
    });
    expect(configured.disks[0]!.partitions.map(({ filesystem }) => filesystem?.mountPoint)).toEqual(['/', '/var']);

    const now = clusterStates(await readClusterSources(site.store, cluster.id), { states: {}, tasks: [] }).now;
    expect(now.nodes[member.id]!.network_scheme).toEqual({
      version: '1.1',
      provider: 'lnx',
      interfaces: { eth0: { vendor_specific: {} } },
      transformations: [],
      endpoints: { eth0: { IP: ['10.76.0.66/24'], gateway: '10.76.0.1' } },
      roles: { management: 'eth0', 'mgmt/vip': 'eth0', provisioning: 'eth0' },
    });
    expect(now.nodes[member.id]!.ip).toBe('10.76.0.66');
    expect(now.common.network_metadata).toMatchObject({
      nodes: { n1: { network_roles: { management: '10.76.0.66', 'mgmt/vip': '10.76.0.66' } } },
    });
    // Values from users take precedence.
    const given = { common: {}, nodes: { [member.id]: { network_scheme: { roles: { management: 'br-mgmt' } } } } };
    await site.store.clusters.update(cluster.id, { deploymentInfo: given });
    const after = clusterStates(await readClusterSources(site.store, cluster.id), { states: {}, tasks: [] }).now;
    expect(after.nodes[member.id]!.network_scheme).toEqual({ roles: { management: 'br-mgmt' } });

    await site.commit(documents('10.76.0.77', '10.76.0.0/24'));
    const second = await run('deploy_site');
    const then = Object.fromEntries(second.report.baremetal!.nodes.map((one) => [one.name, one]));
    expect([then.n1!.failure_kind, then.n2!.state]).toEqual(['other-layout', 'success']);
    const third = await run('redeploy_nodes', { nodes: ['n1'] });
    expect(third.error).toBeNull();
    expect((await machineOf('n1')).interfaces[0]!.links[0]!.ipAddress).toBe('10.76.0.77');
    // Misfits are reported while the machine still has its disks.
    await site.commit(documents('10.76.0.77', '10.76.0.0/24', '999t'));
    const refused = await run('redeploy_nodes', { nodes: ['n1'] });
    expect(refused.report.reason).toMatch(
      /nothing was released.*n1: it cannot be configured as described: disk sda has/s,
    );
    expect((await machineOf('n1')).status).toBe(MachineStatus.Deployed);
    await client.close();
  });

  it('a failed deployment is reported with the message of MAAS; another run repairs it and touches nothing else', async () => {
    site = await livingSite(rig, { seed: { machines }, auto: { fail: { deploy: ['stl1r01s03'] } } });
    await site.commit(await exampleDocuments());
    const failed = await run('deploy_site');
    expect(failed.error).toBeInstanceOf(WorkflowFailedError);
    expect(states(failed.report)).toEqual({ masters: 'failed', worker_group_0: 'failed', workers: 'failed' });
    const node = failed.report.baremetal!.nodes.find((one) => one.name === 'stl1r01s03')!;
    expect(node).toMatchObject({ state: 'failed', failed_in: 'deploy', failure_kind: 'deployment-failed' });
    expect(failed.report.reason).toContain('masters (after deploy: wanted 100 % successful nodes, got 66.67 %)');

    await site.control('auto', { commission_ms: 20, deploy_ms: 50, release_ms: 20, fail: {} });
    const repaired = await run('deploy_site');
    expect(repaired.report.outcome).toBe('success');
    expect(await site.entered(MachineStatus.Deploying)).toEqual({ ...oneDeployEach, stl1r01s03: 2 });
  });

  it('a machine of another owner is left untouched, and reported', async () => {
    const seeded = machines.map((machine) =>
      machine.hostname === 'stl1r01s07'
        ? { ...machine, status: MachineStatus.Deployed, owner: 'oper', osystem: 'ubuntu', distro_series: 'jammy' }
        : machine,
    );
    site = await livingSite(rig, { seed: { machines: seeded } });
    await site.commit(await exampleDocuments());
    const { report } = await run('deploy_site');
    expect(report.outcome).toBe('success_with_failures');
    expect(report.baremetal!.nodes.find((one) => one.name === 'stl1r01s07')).toMatchObject({
      failure_kind: 'other-owner',
      reason: expect.stringContaining('belongs to the MAAS user oper'),
    });
    const inventory = await site.store.nodes.list({ site: site.name });
    expect(inventory.map(({ name }) => name).sort()).toEqual(machines.map(({ hostname }) => hostname).sort());
    expect(inventory.filter(({ status }) => status !== 'provisioned')).toMatchObject([
      {
        ...{ name: 'stl1r01s07', status: 'error', errorType: 'provision' },
        errorMsg: expect.stringContaining('belongs to the MAAS user oper'),
      },
    ]);
    expect(
      (await site.effects()).filter((effect) => effect.hostname === 'stl1r01s07' && effect.cause !== 'seed'),
    ).toEqual([]);
  });

  it('update_site deploys new nodes, keeps deployed ones, and releases removed ones only on request', async () => {
    site = await livingSite(rig, { seed: { machines } });
    const documents = await exampleDocuments();
    const withoutLast = documents.map((file) =>
      file.name === 'nodes.yaml' ? { ...file, text: dropNode(file.text, 'stl1r01s07') } : file,
    );
    await site.commit(withoutLast);
    expect((await run('deploy_site')).report.outcome).toBe('success');
    await site.commit(documents);
    const grown = await run('update_site');
    expect(
      grown.report.baremetal!.groups.map((group) => group.calls.map((call) => `${call.call}:${call.nodes}`)),
    ).toEqual([[], ['prepare:1', 'deploy:1'], []]);
    await site.commit(withoutLast);
    const kept = await run('update_site');
    expect(kept.report.removed_nodes).toEqual(['stl1r01s07']);
    expect(await site.entered(MachineStatus.Releasing)).toEqual({});
    await site.commit(documents);
    expect((await run('update_site')).report.outcome).toBe('success');
    await site.commit(withoutLast);
    const released = await run('update_site', { release_removed: true });
    expect(released.report.released).toMatchObject([{ name: 'stl1r01s07', state: 'success' }]);
    expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);
  });

  it('kernel options and tags of the documents leave a machine with its release; a node that stays has them after it, and tags of people stay', async () => {
    const seed = {
      machines: ['n1', 'n2'].map((hostname) => ({ hostname, status: MachineStatus.New, power_type: 'ipmi' })),
    };
    site = await livingSite(rig, { seed, auto: { fail: { deploy: ['n1'] } } });
    const client = new MaasClient({ url: site.maasUrl, apiKey: simulatorKeys.admin });
    const tagsOf = async (hostname: string) => {
      const [machine] = await client.machines.list({ hostnames: [hostname] });
      const own = `sitewright-kernel-${machine!.systemId}`;
      return machine!.tags.filter((tag) => tag !== 'virtual').map((tag) => (tag === own ? 'kernel' : tag));
    };
    const found = await client.machines.list();
    await client.inventory.ensureTag('rack');
    await client.inventory.changeTag('rack', { add: found.map(({ systemId }) => systemId) });
    const data = '{metadata: {tags: [gpu, rack]}, platform: {kernel_params: {isolcpus: 2-5}}}';
    const documents = (...names: string[]) => [
      { name: 'site.yaml', text: [CONFIGURATION, ...names.map((name) => node(name, data))].join('\n') },
    ];
    await site.commit(documents('n1', 'n2'));
    await run('deploy_site');
    const ofUs = ['gpu', 'rack', 'kernel'];
    expect([await tagsOf('n1'), await tagsOf('n2')]).toEqual([ofUs, ofUs]);
    // The next run releases the failed deployment.
    await site.control('auto', { commission_ms: 20, deploy_ms: 50, release_ms: 20, fail: {} });
    expect((await run('deploy_site')).report.outcome).toBe('success');
    expect(await tagsOf('n1')).toEqual(ofUs);
    expect((await run('redeploy_nodes', { nodes: ['n2'] })).report.outcome).toBe('success');
    expect(await tagsOf('n2')).toEqual(ofUs);
    await site.commit(documents('n1'));
    expect((await run('update_site', { release_removed: true })).report.released).toMatchObject([{ state: 'success' }]);
    expect([await tagsOf('n1'), await tagsOf('n2')]).toEqual([ofUs, ['rack']]);
    expect([...(await site.store.givenTags.list(site.name)).values()]).toEqual([['gpu']]);
    await client.close();
  });

  it('redeploy_nodes releases and deploys just the named nodes', async () => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    await run('deploy_site');
    const { report } = await run('redeploy_nodes', { nodes: ['stl1r01s05', 'stl1r01s06'] });
    expect(report.outcome).toBe('success');
    expect(report.baremetal!.nodes.map((node) => node.name)).toEqual(['stl1r01s05', 'stl1r01s06']);
    expect(await site.entered(MachineStatus.Deploying)).toEqual({ ...oneDeployEach, stl1r01s05: 2, stl1r01s06: 2 });
    expect((await run('redeploy_nodes', { nodes: ['nosuch'] })).error).toMatchObject({
      cause: { type: 'NodesNotFound' },
    });
    // As it opens, as the API says at once.
    const { items } = await site.store.runs.list({ kind: 'redeploy_nodes', limit: 1 });
    const { workflowId, id } = items[0]!;
    const { events } = await rig.client.workflow.getHandle(workflowId, id).fetchHistory();
    const types = events!.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
    expect(types).toContain('open_run');
    expect(types).not.toContain('load_plan');
  });

  it('a site has one run at a time, and a terminated run does not hold it', async () => {
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 } });
    await site.commit(await exampleDocuments());
    const start = (type: string) =>
      rig.client.workflow.start(type, {
        taskQueue: site.worker.taskQueue,
        workflowId: rig.workflowId(type),
        args: [{ site: site.name }],
      });
    const holder = await start('deploy_site');
    for (;;) if ((await holder.query<RunStatus>('status')).current?.call === 'deploy') break;
    const refused = await run('update_site');
    expect(refused.error).toMatchObject({
      cause: {
        type: 'SiteBusy',
        message: expect.stringContaining(`${holder.workflowId} (run ${holder.firstExecutionRunId})`),
      },
    });
    await holder.terminate('tests');
    await site.control('auto', { deploy_ms: 20 });
    for (const machine of exampleHosts.slice(0, 3)) await deployed(machine);
    const next = await run('deploy_site');
    expect(next.report.outcome).toBe('success');
    expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);
    // No run is left open: neither the terminated one nor the one that was refused.
    const { items } = await site.store.runs.list({ site: site.name });
    expect(items.map(({ kind, outcome, phase }) => `${kind} ${phase}: ${outcome}`)).toEqual([
      'deploy_site finished: success',
      'update_site finished: failed',
      'deploy_site finished: terminated',
    ]);
    const reasons = await Promise.all(items.map(async ({ id }) => (await site.store.runs.getReport(id)) as RunReport));
    expect(reasons.slice(1).map(({ reason }) => reason)).toEqual([
      expect.stringContaining(`busy with ${holder.workflowId}`),
      'tests',
    ]);
  });

  it('cancel aborts deployments in MAAS', async () => {
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 } });
    await site.commit(await exampleDocuments());
    const handle = await rig.client.workflow.start('deploy_site', {
      taskQueue: site.worker.taskQueue,
      workflowId: rig.workflowId('deploy_site'),
      args: [{ site: site.name }],
    });
    const deploying = async () => Object.keys(await site.entered(MachineStatus.Deploying)).length === 3;
    while (!(await deploying()));
    await handle.cancel();
    await handle.result().catch(() => undefined);
    const report = (await site.store.runs.getReport(handle.firstExecutionRunId)) as unknown as RunReport;
    expect(report.outcome).toBe('cancelled');
    const last = new Map((await site.effects()).map((effect) => [effect.hostname, effect.to]));
    expect(['stl1r01s02', 'stl1r01s03', 'stl1r01s04'].map((host) => last.get(host))).toEqual([10, 10, 10]);
  });

  it.each([
    ['answers are lost after the deed', ['drop_after', '504_after']],
    ['requests are lost on their way', ['drop_before', '502']],
    ['requests arrive twice', ['double']],
    ['answers are web pages', ['garbled']],
    ['MAAS is busy with itself', ['500', '503']],
  ])('each node is deployed once despite: %s', async (_what, kinds) => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    const calls = ['op=allocate', 'op=set_workload_annotations', 'op=deploy', 'op=commission', 'GET .*machines'];
    await site.control(
      'faults',
      kinds.flatMap((kind) =>
        calls.map((call) => ({ match: call.startsWith('GET') ? call : `POST .*${call}`, kind, times: 2 })),
      ),
    );
    const { report, error } = await run('deploy_site');
    expect(error).toBeNull();
    expect(report.outcome).toBe('success');
    expect(await site.entered(MachineStatus.Deploying)).toEqual(oneDeployEach);
  });

  it('a MAAS that knows none of the nodes ends the run before anything is touched', async () => {
    site = await livingSite(rig, { seed: { machines: [{ hostname: 'stranger' }] } });
    await site.commit(
      (await exampleDocuments()).map((file) => ({
        ...file,
        text: file.text.replace('verify_timeout: 60', 'verify_timeout: 2'),
      })),
    );
    const { error, report } = await run('deploy_site');
    expect(error).toMatchObject({
      cause: { type: 'VerifySiteFailed', message: expect.stringContaining('knows none of the 6 nodes of site stl1') },
    });
    expect(report.phases.at(-1)).toMatchObject({ name: 'verify_site', state: 'failed' });
    expect((await site.effects()).filter((effect) => effect.cause !== 'seed')).toEqual([]);
  });

  it('a MAAS that refuses the key ends the run immediately, with the next step once', async () => {
    const apiKey = simulatorKeys.admin.replace(/[^:]*$/, 'wrong');
    site = await livingSite(rig, { seed: { machines }, apiKey });
    await site.commit(await exampleDocuments());
    const { error, report } = await run('deploy_site');
    expect(error).toMatchObject({ cause: { type: 'VerifySiteFailed' } });
    const { message } = (error as WorkflowFailedError).cause!;
    expect(message.match(/copy the key again/gi)).toHaveLength(1);
    expect(report.reason?.match(/copy the key again/gi)).toHaveLength(1);
    expect((await site.effects()).filter((effect) => effect.cause !== 'seed')).toEqual([]);
  });

  it('the secret of the MAAS key is in no history', async () => {
    site = await livingSite(rig, { seed: { machines } });
    await site.commit(await exampleDocuments());
    await site.control('faults', [{ match: 'GET .*machines', kind: 'drop_before', times: 3 }]);
    const handle = await rig.client.workflow.start('deploy_site', {
      taskQueue: site.worker.taskQueue,
      workflowId: rig.workflowId('deploy_site'),
      args: [{ site: site.name }],
    });
    await handle.result();
    const text = JSON.stringify(await handle.fetchHistory(), (_key, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString() : value,
    );
    expect(text).not.toContain('tokensecretadmin');
    expect(text).toContain('stl1r01s02');
  });

  async function deployed(hostname: string): Promise<void> {
    const effect = (await site.effects()).find((one) => one.hostname === hostname)!;
    await site.control(`${effect.system_id}/deployed`, {});
  }
});

/** The documents without one node's. */
function dropNode(text: string, name: string): string {
  return text
    .split(/^---$/m)
    .filter((document) => !new RegExp(`^  name: ${name}$`, 'm').test(document))
    .join('---');
}
