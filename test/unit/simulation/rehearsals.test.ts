import { MaasConfigurationError, openMachines, prepareMachine } from '@sitewright/maas';
import { simulateMaas, simulatorKeys } from '@sitewright/maas-simulator';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Rehearsal } from '../../../src/core/contracts/rehearsals.ts';
import type { GraphRunInput } from '../../../src/core/graph-run/input.ts';
import type { SiteRunInput } from '../../../src/core/site-run/input.ts';
import type { SiteRunKind, TaskStatus } from '../../../src/core/words.ts';
import { loadSite, readDocumentFiles } from '../../../src/documents/index.ts';
import { normaliseTask } from '../../../src/graph/index.ts';
import { createOperations, type OpsDependencies } from '../../../src/ops/index.ts';
import type { AskedFaults } from '../../../src/ops/rehearsals/index.ts';
import { installationFile } from '../../../src/platform/installation.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { openRehearser } from '../../../worker/parts/rehearsals/rehearser.ts';
import { seedOfSite } from '../../../worker/parts/site-seed.ts';
import { bundleOurWorkflows } from '../../../worker/parts/workflow-bundle.ts';
import { endStoredRun } from '../../rig/ended-run.ts';
import { BOX, CONFIGURATION, document, files, node, profile } from '../documents/site-files.ts';

const settings = { max_parallel_nodes: 8, heartbeat_seconds: 30, offline_wait_seconds: 120 };
let rehearser: ReturnType<typeof openRehearser>;
beforeAll(async () => {
  // The thread gives way to others: it finds them made.
  await bundleOurWorkflows({});
  rehearser = openRehearser({ settings });
});
afterAll(() => rehearser.close());

const noMaas = () => {
  throw new MaasConfigurationError(['no MAAS here']);
};

/** Rehearsals as the API asks for them: of a site, a deployment unless told otherwise. */
function rehearsalsOf(store: Store, maas: OpsDependencies['maas'] = noMaas, ours = rehearser) {
  const { rehearsals } = createOperations({ store, temporal: {} as never, maas, rehearser: ours });
  return {
    site: (
      site: string,
      faults: AskedFaults = {},
      { kind = 'deploy_site', ...input }: Omit<SiteRunInput, 'site'> & { readonly kind?: SiteRunKind } = {},
    ) => rehearsals.site(kind, { site, ...input }, faults),
    cluster: (cluster: number, input: Omit<GraphRunInput, 'cluster'> = {}, faults: AskedFaults = {}) =>
      rehearsals.cluster({ cluster, ...input }, faults),
  };
}

async function openEmpty(): Promise<Store> {
  const store = await openStore('sqlite::memory:');
  onTestFinished(() => store.close());
  return store;
}

/** A site of the documents of an example. */
async function siteOf(example: string, store: Store, name = 'dc1'): Promise<void> {
  const { files } = await readDocumentFiles([installationFile(`examples/${example}`)]);
  await store.sites.create({ name });
  await store.sites.addRevision(name, { files, resolved: loadSite(files).site!, diagnostics: [] });
}

/** Cards and disks by the addresses of a hardware profile, of which one is bonded. */
const ALIASED = [
  CONFIGURATION,
  document('drydock/NetworkLink/v1', 'pxe', '{bonding: {mode: disabled}, allowed_networks: [pxe]}'),
  document('drydock/NetworkLink/v1', 'data', '{bonding: {mode: 802.3ad}, allowed_networks: [oam]}'),
  document('drydock/Network/v1', 'pxe', '{cidr: 10.76.0.0/22}'),
  document('drydock/Network/v1', 'oam', '{cidr: 10.23.21.0/24}'),
  BOX,
  profile(
    'base',
    `{hardware_profile: box, primary_network: oam,
      interfaces: {
        pxe: {device_link: pxe, slaves: [pxe0], networks: [pxe]},
        bond0: {device_link: data, slaves: [left, right], networks: [oam]}},
      storage: {physical_devices: {boot: {partitions: [
        {name: root, size: 30g, bootable: true, filesystem: {mountpoint: /, fstype: ext4}}]}}}}`,
  ),
  ...['n1', 'n2'].map((name, at) =>
    node(
      name,
      `{host_profile: base, addressing: [{network: pxe, address: dhcp}, {network: oam, address: 10.23.21.1${at}}]}`,
    ),
  ),
];

/** A cluster of three nodes: each is configured, then checked; the control node before the others. */
async function clusterOf(store: Store): Promise<number> {
  const { id: release } = await store.releases.create({
    name: 'Newton',
    version: 'newton-10.0',
    operatingSystem: 'Ubuntu',
    rolesMetadata: { compute: { name: 'compute' }, control: { name: 'control' } },
    tagsMetadata: {},
  });
  const { id: cluster } = await store.clusters.create({ name: 'lab', releaseId: release });
  for (const [name, role] of [
    ['node-1', 'control'],
    ['node-2', 'compute'],
    ['node-3', 'compute'],
  ] as const) {
    const { id } = await store.nodes.create({ name, status: 'provisioned' });
    await store.nodes.assign(cluster, [{ id, roles: [role] }]);
    await store.nodes.update(id, { roles: [role], pendingRoles: [], pendingAddition: false, status: 'provisioned' });
  }
  const task = (id: string, roles: string[], requires: string[]) =>
    normaliseTask({ id, type: 'shell', version: '2.1.0', roles, requires, parameters: { cmd: 'true', timeout: 600 } });
  await store.graphs.put({ kind: 'release', id: release }, 'default', {
    tasks: [
      task('configure', ['/.*/'], []),
      task('control-plane', ['control'], ['configure']),
      task('check', ['/.*/'], ['configure']),
    ],
  });
  return cluster;
}

const outcomes = ({ report }: Rehearsal): Readonly<Record<string, string>> => {
  if (report === null || !('site' in report)) throw new Error('not the report of a site');
  return Object.fromEntries((report.baremetal?.nodes ?? []).map(({ name, state }) => [name, state]));
};

describe('a rehearsal of a site', () => {
  it('does not fail by what it assumes, whatever the time limits of the site', async () => {
    const { files } = await readDocumentFiles([installationFile('examples/first-site')]);
    const short = files.map((file) => ({
      ...file,
      text: file.text.replace('deploy_timeout: 3600', 'deploy_timeout: 240\n    prepare_node_timeout: 120'),
    }));
    expect(short).not.toEqual(files);
    const store = await openEmpty();
    await store.sites.create({ name: 'dc1' });
    const loaded = loadSite(short);
    expect(loaded.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    await store.sites.addRevision('dc1', { files: short, resolved: loaded.site!, diagnostics: [] });
    expect(await rehearsalsOf(store).site('dc1', {})).toMatchObject({ outcome: 'success' });
  });

  it('gives the report of each example, and how long it would take', async () => {
    const ends: Record<string, unknown> = {};
    for (const example of ['stl1', 'first-site', 'webstack/site']) {
      const store = await openEmpty();
      await siteOf(example, store);
      const rehearsal = await rehearsalsOf(store).site('dc1', {});
      ends[example] = [
        rehearsal.outcome,
        Object.values(outcomes(rehearsal)).join(' '),
        Math.round(rehearsal.seconds / 60),
      ];
    }
    const all = (count: number): string => Array.from({ length: count }, () => 'success').join(' ');
    expect(ends).toEqual({
      // Two groups, one after the other, of ten minutes each.
      stl1: ['success', all(6), 20],
      'first-site': ['success', all(4), 21],
      'webstack/site': ['success', all(9), 21],
    });
  });

  it('goes through the waves of a rollout: its checks are well, and it is stopped where it is held', async () => {
    const store = await openEmpty();
    const strategy =
      '{groups: [{name: a, critical: false, depends_on: [], selectors: [], rollout: {first: 1, checks: [up, web]}}]}';
    const written = files(
      ...[CONFIGURATION, node('n1'), node('n2'), node('n3')],
      document('shipyard/DeploymentStrategy/v1', 'deployment-strategy', strategy),
      document('sitewright/Check/v1', 'up', '{prometheus: {url: "http://p:9090", query: up, is: {between: [1, 2]}}}'),
      document('sitewright/Check/v1', 'web', '{http: {url: {yaql_exp: "\'http://\' + $.node.address"}, contains: ok}}'),
    );
    const { site, diagnostics } = loadSite(written);
    await store.sites.create({ name: 'dc1' });
    await store.sites.addRevision('dc1', { files: written, resolved: site!, diagnostics });
    const rehearsal = await rehearsalsOf(store).site('dc1');
    expect(rehearsal.outcome).toBe('success');
    const held = await rehearsalsOf(store).site('dc1', { fail_nodes: ['n1'] });
    expect(held.outcome).toBe('stopped');
  });

  it('goes beyond a freeze where the run may', async () => {
    const store = await openEmpty();
    const freezes = '{freezes: [{from: 2000-01-01, to: 2001-01-01, why: year end}]}';
    const written = files(CONFIGURATION, node('n1'), document('sitewright/Limits/v1', 'limits', freezes));
    const { site, diagnostics } = loadSite(written);
    await store.sites.create({ name: 'dc1' });
    await store.sites.addRevision('dc1', { files: written, resolved: site!, diagnostics });
    const beyond = await rehearsalsOf(store).site('dc1', {}, { override_limits: 'its disk is dying' });
    expect(beyond).toMatchObject({ outcome: 'success', report: { limits: { overridden: 'its disk is dying' } } });
    expect(beyond.seconds).toBeLessThan(24 * 3600);
  });

  it('shows a machine that fails to deploy, and what becomes of its group', async () => {
    const store = await openEmpty();
    await siteOf('stl1', store);
    const rehearsal = await rehearsalsOf(store).site('dc1', { fail_nodes: ['stl1r01s02'] });
    expect(rehearsal.outcome).toBe('failed');
    expect(outcomes(rehearsal)).toMatchObject({
      stl1r01s02: 'failed',
      stl1r01s03: 'success',
      stl1r01s05: 'not_reached',
    });
    const failed = rehearsal.steps.filter(({ state }) => state === 'failed');
    expect(failed).toMatchObject([{ what: 'deploy', node: 'stl1r01s02', graph: null }]);
    expect(rehearsal.events.map(({ text }) => text).join('\n')).toContain('deploy failed on stl1r01s02');
  });

  it('waits for a MAAS that is away for ten minutes, and fails no node', async () => {
    const store = await openEmpty();
    await siteOf('first-site', store);
    const rehearsals = rehearsalsOf(store);
    const usual = await rehearsals.site('dc1', {});
    const away = await rehearsals.site('dc1', { maas_away: [{ seconds: 600, after: 300 }] });
    expect(away.outcome).toBe('success');
    expect(away.seconds - usual.seconds).toBeGreaterThan(240);
    const said = away.events.filter(({ text }) => text.startsWith('MAAS'));
    expect(said).toEqual([
      { at: 300, text: 'MAAS no longer answers' },
      { at: 900, text: 'MAAS answers again' },
    ]);
  });

  it('takes the durations of earlier runs', async () => {
    const store = await openEmpty();
    await siteOf('first-site', store);
    const rehearsals = rehearsalsOf(store);
    const { report } = await rehearsals.site('dc1', {});
    const started = '2026-01-05T08:00:00.000Z';
    const run = { id: 'r1', workflowId: 'deploy_site:dc1', kind: 'deploy_site', site: 'dc1', sequence: 1 };
    await store.runs.put({
      ...run,
      phase: 'finished',
      outcome: 'success',
      startedAt: started,
      endedAt: started,
    } as never);
    if (report === null || !('site' in report) || report.baremetal === undefined) throw new Error('no report');
    const { baremetal } = report;
    const earlier = {
      ...report,
      baremetal: {
        ...baremetal,
        groups: baremetal.groups.map((group) => ({
          ...group,
          calls: group.calls.map((call) => ({ ...call, started_at: started })),
        })),
        nodes: baremetal.nodes.map((node) => ({ ...node, ended_at: '2026-01-05T08:02:00.000Z' })),
      },
    };
    await store.runs.putReport('r1', 1, earlier);
    const again = await rehearsals.site('dc1', {});
    expect(again.seconds).toBeLessThan(6 * 60);
    expect(again.assumptions.join('\n')).toContain('A deployment takes 2 minutes');
  });

  it('changes neither store nor MAAS, which it asks for its machines', async () => {
    const maas = await simulateMaas({
      port: 0,
      seed: {
        machines: [{ hostname: 'control01' }, { hostname: 'worker01', status: 'broken' }, { hostname: 'worker02' }],
      },
    });
    onTestFinished(() => maas.close());
    const context = openMachines({
      url: maas.url,
      apiKey: simulatorKeys.admin,
      pollMinSeconds: 5,
      pollMaxSeconds: 30,
    });
    onTestFinished(() => context.close());
    const store = await openEmpty();
    await siteOf('first-site', store);
    const subject = { site: 'dc1' };
    const before = JSON.stringify([await store.copies.of(subject), await store.runs.list(), await store.audit.list()]);
    const rehearsal = await rehearsalsOf(store, () => context).site('dc1', {});
    expect(outcomes(rehearsal)).toEqual({
      control01: 'success',
      // A run marks a broken machine as fixed, and goes on.
      worker01: 'success',
      worker02: 'success',
      worker03: 'failed',
    });
    expect(rehearsal.assumptions).toContain('MAAS has no machine for worker03.');
    const after = JSON.stringify([await store.copies.of(subject), await store.runs.list(), await store.audit.list()]);
    expect(after).toBe(before);
    const asked = (await (await fetch(`${maas.controlUrl}/requests`)).json()) as { readonly method: string }[];
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('waits where a run waits for approval, and approves in place of people', async () => {
    const store = await openEmpty();
    await siteOf('first-site', store);
    const rehearsals = rehearsalsOf(store);
    const usual = await rehearsals.site('dc1');
    const held = await rehearsals.site('dc1', {}, { hold_before: ['*', 'workers'], started_by: 'ann' });
    expect(held.outcome).toBe('success');
    expect(held.seconds - usual.seconds).toBeLessThan(60);
    const said = held.events.map(({ text }) => text);
    const points = ['before any change', 'before workers'].flatMap((point) => [
      `waits for approval ${point}`,
      `approved ${point}`,
    ]);
    expect(said.filter((text) => points.includes(text))).toEqual(points);
    expect(held.assumptions).toContain('Whatever waits for approval is approved at once.');
    await expect(rehearsals.site('dc1', {}, { hold_before: ['worker'] })).rejects.toThrow(/Did you mean 'workers'/);
  });

  it('refuses unknown names with the nearest ones, and what a start would refuse', async () => {
    const store = await openEmpty();
    await siteOf('stl1', store);
    const rehearsals = rehearsalsOf(store);
    await expect(rehearsals.site('dc1', { fail_nodes: ['stl1r01s2'] })).rejects.toThrow(/Did you mean 'stl1r01s02'/);
    await expect(rehearsals.site('dc1', {}, { kind: 'redeploy_nodes', nodes: ['nobody'] })).rejects.toThrow(/nobody/);
    await expect(rehearsals.site('dc1', {}, { fetch: true })).rejects.toThrow(/fetches no documents/);
    await expect(rehearsals.site('dc2', {})).rejects.toThrow(/dc2/);
  });
});

describe('a rehearsal of a cluster', () => {
  it('runs its tasks in their order, each for its time, and the same again to the byte', async () => {
    const store = await openEmpty();
    const cluster = await clusterOf(store);
    const rehearsals = rehearsalsOf(store);
    const one = await rehearsals.cluster(cluster, { graphs: [{ type: 'default' }] });
    expect(one.outcome).toBe('success');
    const at = (what: string, node: string) => one.steps.find((step) => step.what === what && step.node === node)!;
    expect(one.steps).toHaveLength(7);
    expect(at('control-plane', 'node-1').from).toBeGreaterThanOrEqual(at('configure', 'node-1').to);
    expect(at('check', 'node-3').from).toBeGreaterThanOrEqual(at('configure', 'node-3').to);
    // Two tasks in a row on node-2, three on node-1, of 30 seconds each.
    expect(one.seconds).toBeGreaterThan(90);
    expect(one.seconds).toBeLessThan(120);
    const fresh = openRehearser({ settings });
    onTestFinished(() => fresh.close());
    const again = await rehearsalsOf(store, noMaas, fresh).cluster(cluster, { graphs: [{ type: 'default' }] });
    expect(JSON.stringify(again)).toBe(JSON.stringify(one));
  });

  it('plans with the helper functions of the installation', async () => {
    const store = await openEmpty();
    const cluster = await clusterOf(store);
    const condition = { yaql_exp: "fqdn('a') = 'a.example.org'" };
    const task = {
      id: 'named',
      type: 'shell',
      version: '2.1.0',
      roles: ['control'],
      condition,
      parameters: { cmd: 'true' },
    };
    await store.graphs.put({ kind: 'cluster', id: cluster }, 'named', { tasks: [normaliseTask(task)] });
    const helpers = installationFile('examples/yaql-helpers/helpers.mjs');
    const ours = openRehearser({ settings, helpers });
    onTestFinished(() => ours.close());
    const graphs = [{ type: 'named' }];
    const { steps } = await rehearsalsOf(store, noMaas, ours).cluster(cluster, { graphs });
    expect(steps.map(({ what }) => what)).toEqual(['named']);
    const without = await rehearsalsOf(store).cluster(cluster, { graphs });
    expect([without.outcome, without.report?.reason]).toEqual(['failed', expect.stringContaining('fqdn')]);
  });

  it('shows a task that fails, and what does not run because of it', async () => {
    const store = await openEmpty();
    const cluster = await clusterOf(store);
    const graphs = [{ type: 'default' }];
    const rehearsals = rehearsalsOf(store);
    const rehearsal = await rehearsals.cluster(
      cluster,
      { graphs },
      { fail_tasks: [{ task: 'configure', node: 'node-2' }] },
    );
    expect(rehearsal.outcome).toBe('failed');
    const report = rehearsal.report;
    if (report === null || 'site' in report) throw new Error('not the report of graphs');
    expect(report.graphs[0]?.failed_tasks).toMatchObject([
      { task: 'configure', reason: 'it fails in this rehearsal, at each of 3 tries (exit code 1)' },
    ]);
    // Its number is that of no run.
    expect(report.next_step).toContain('sitewright graph execute --from RUN');
    expect(rehearsal.steps.some(({ what, node }) => what === 'check' && node === 'node-2')).toBe(false);
    await expect(rehearsals.cluster(cluster, { graphs }, { fail_tasks: [{ task: 'configur' }] })).rejects.toThrow(
      /Did you mean 'configure'/,
    );
  });

  /** A run of all that failed on node-2, as the store has it after it ended. */
  async function earlierRun(store: Store, cluster: number): Promise<number> {
    const { run, graphs } = await store.transactions.createRun({
      clusterId: cluster,
      mode: 'apply',
      input: { cluster },
      workflowId: 'execute_graph:1:x',
      temporalRunId: 'x',
      graphs: [{ graphType: 'default', input: { type: 'default' } }],
    } as never);
    const tasks: [task: string, node: string, status: TaskStatus][] = [
      ['configure', '1', 'success'],
      ['control-plane', '1', 'success'],
      ['check', '1', 'success'],
      ['configure', '2', 'failed'],
      ['check', '2', 'blocked'],
      ['configure', '3', 'success'],
      ['check', '3', 'success'],
    ];
    const graph = graphs[0]!.id;
    await store.taskHistory.plan(
      graph,
      tasks.map(([task, node, status]) => ({ task, node, status, attempts: 1 })) as never,
    );
    await store.transactions.update(graph, { status: 'failed' });
    await endStoredRun(store, run.id, 'failed');
    return run.id;
  }

  it('continues an earlier run: only what it has not done', async () => {
    const store = await openEmpty();
    const cluster = await clusterOf(store);
    const from = await earlierRun(store, cluster);
    const rehearsals = rehearsalsOf(store);
    const { outcome, steps } = await rehearsals.cluster(cluster, { from });
    expect(outcome).toBe('success');
    expect(steps.map(({ what, node }) => `${what}@${node}`)).toEqual(['configure@node-2', 'check@node-2']);
    const failing = await rehearsals.cluster(cluster, { from }, { fail_tasks: [{ task: 'check', node: 'node-2' }] });
    expect(failing.outcome).toBe('failed');
    await expect(rehearsals.cluster(cluster, { from: from + 7 })).rejects.toThrow(/is not of cluster/);
  });

  it('runs only the tasks, nodes and parts that are chosen, on no more nodes at once than are wanted', async () => {
    const store = await openEmpty();
    const cluster = await clusterOf(store);
    const rehearsals = rehearsalsOf(store);
    const shown = ({ steps }: Rehearsal) => steps.map(({ what, node }) => `${what}@${node}`).sort();
    const [, second] = await store.nodes.list({ clusterId: cluster });
    const chosen = [{ type: 'default', nodes: [second!.id], tasks: ['check'] }];
    expect(shown(await rehearsals.cluster(cluster, { graphs: chosen }))).toEqual(['check@node-2']);
    const part = await rehearsals.cluster(cluster, { subgraphs: [{ start: ['control-plane'] }] });
    expect(shown(part)).toEqual(['control-plane@node-1']);
    const all = await rehearsals.cluster(cluster);
    const slow = await rehearsals.cluster(cluster, { max_nodes: 1 });
    expect(shown(slow)).toEqual(shown(all));
    expect(slow.seconds).toBeGreaterThan(all.seconds + 60);
  });

  it('stops a run that is held by failed tasks, and says so', async () => {
    const store = await openEmpty();
    const cluster = await clusterOf(store);
    const held = await rehearsalsOf(store).cluster(
      cluster,
      { hold_on_failure: true, hold_before: ['control-plane'] },
      { fail_tasks: [{ task: 'check', node: 'node-3' }] },
    );
    expect(held.outcome).toBe('failed');
    expect(held.seconds).toBeLessThan(200);
    const said = held.events.map(({ text }) => text);
    expect(said).toEqual(
      expect.arrayContaining([
        'waits for approval before control-plane',
        'approved before control-plane',
        'stopped: failed tasks wait for a person',
      ]),
    );
  });

  it('keeps to the time limits and the retries of tasks', async () => {
    const store = await openEmpty();
    const cluster = await clusterOf(store);
    const task = (id: string, parameters: object) =>
      normaliseTask({
        id,
        type: 'shell',
        version: '2.1.0',
        roles: ['control'],
        parameters: { cmd: 'true', ...parameters },
      });
    const tasks = [task('short', { timeout: 5 }), task('tried', { timeout: 600, retries: 2, interval: 7 })];
    await store.graphs.put({ kind: 'cluster', id: cluster }, 'limits', { tasks });
    const { steps, events, outcome } = await rehearsalsOf(store).cluster(
      cluster,
      { graphs: [{ type: 'limits' }] },
      { fail_tasks: [{ task: 'tried' }] },
    );
    const [short] = steps.filter(({ what }) => what === 'short');
    // Five seconds, and five to end when it is told to.
    expect(Math.round(short!.to - short!.from)).toBe(10);
    expect(outcome).toBe('failed');
    const [tried] = steps.filter(({ what }) => what === 'tried');
    // Three times, with a pause after the first two.
    expect(Math.round(tried!.to - tried!.from)).toBe(3 * 30 + 2 * 7);
    expect(events.map(({ text }) => text)).toContain(
      'task tried failed on node-1: it fails in this rehearsal, at each of 3 tries',
    );
  });
});

it('a rehearsal looks at machines as often as the installation does', async () => {
  const store = await openEmpty();
  await siteOf('first-site', store);
  const pace = { pollMinSeconds: 90, pollMaxSeconds: 90, readTimeoutMs: 60_000, changeTimeoutMs: 180_000 };
  const ours = openRehearser({ settings, pace });
  onTestFinished(() => ours.close());
  const deployed = ({ steps }: Rehearsal) =>
    steps.filter(({ what }) => what === 'deploy').map(({ from, to }) => to - from);
  const rarely = await rehearsalsOf(store, noMaas, ours).site('dc1');
  const usual = await rehearsalsOf(store).site('dc1');
  expect([rarely.outcome, usual.outcome]).toEqual(['success', 'success']);
  expect(deployed(rarely)).not.toEqual(deployed(usual));
});

it.each(['without MAAS', 'with the machines of MAAS'])(
  'devices that documents name by their addresses are those of the machines, %s',
  async (how) => {
    const store = await openEmpty();
    const aliased = files(...ALIASED);
    const { site: resolved } = loadSite(aliased);
    await store.sites.create({ name: 'dc1' });
    await store.sites.addRevision('dc1', { files: aliased, resolved: resolved!, diagnostics: [] });
    let maas = noMaas as OpsDependencies['maas'];
    if (how !== 'without MAAS') {
      const simulator = await simulateMaas({ port: 0, seed: seedOfSite(resolved!), auto: { commission_ms: 5 } });
      const machines = openMachines({
        url: simulator.url,
        apiKey: simulatorKeys.admin,
        pollMinSeconds: 0.05,
        pollMaxSeconds: 0.1,
      });
      onTestFinished(async () => {
        await machines.close();
        await simulator.close();
      });
      for (const { systemId } of await machines.client.machines.list())
        expect(await prepareMachine(machines, { systemId, site: 'dc1' })).toMatchObject({ ok: true });
      maas = () => machines;
    }
    const { outcome, steps } = await rehearsalsOf(store, maas).site('dc1');
    expect([outcome, steps.filter(({ what, state }) => what === 'deploy' && state === 'failed')]).toEqual([
      'success',
      [],
    ]);
  },
);
