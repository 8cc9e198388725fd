import { EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenOperations } from '../../src/ops/tokens.ts';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { newton } from '../api/fuel-inventory-rig.ts';
import { type FuelAnswer, type FuelClient, findFuelClient, startFuelClient } from '../rig/fuel-client.ts';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';

/*
 * fuel2 of python-fuelclient 11.0.0, as published, against a living system.
 */
const found = await findFuelClient();
if (!found.ok) console.log(`skipped: the tests of the published fuel2 client, because ${found.reason}`);

const TASKS = [
  { id: 'prepare', type: 'shell', version: '2.1.0', roles: ['*'], parameters: { cmd: 'true', timeout: 10 } },
  {
    id: 'database',
    type: 'puppet',
    version: '2.1.0',
    roles: ['/(primary-)?controller/'],
    requires: ['prepare'],
    parameters: { puppet_manifest: 'm.pp', puppet_modules: '/m', timeout: 10 },
  },
];
const ROLE = (name: string) => ({ name, description: `A ${name}.`, has_primary: name === 'controller' });

/** Commands that succeeded here or were refused, to compare with the page about them. */
const ran = { succeeded: new Set<string>(), refused: new Map<string, string>() };
let published: Awaited<ReturnType<FuelClient['commands']>>;

describe.skipIf(!found.ok)('the published fuel2 client', () => {
  let rig: TemporalRig;
  let system: LivingCluster;
  let fuel: FuelClient;
  let home: string;
  const file = (name: string): string => join(home, name);

  /** Holds the task `linger` on its node until it is let go. */
  const linger = new EventEmitter();

  /** Runs a command that must succeed. */
  const fuel2 = async (...args: readonly string[]): Promise<string> => {
    const answer = await fuel.run(...args);
    expect(answer.code, `fuel2 ${args.join(' ')} said: ${answer.err}`).toBe(0);
    ran.succeeded.add(`fuel2 ${args.join(' ')}`);
    return answer.out;
  };
  /** The same, of a command that can print JSON. */
  const asJson = async (...args: readonly string[]) => JSON.parse(await fuel2(...args, '-f', 'json'));
  /** Runs a command that must be refused, and returns its message. */
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, out, err }: FuelAnswer = await fuel.run(...args);
    expect(code, `fuel2 ${args.join(' ')} printed: ${out}`).not.toBe(0);
    expect(err).not.toContain('Traceback');
    expect(err).not.toContain('Internal Server Error');
    ran.refused.set(`fuel2 ${args.join(' ')}`, err);
    return err;
  };

  beforeAll(async () => {
    rig = await temporalRig({ namespace: 'own' });
    system = await livingCluster(rig);
    home = mkdtempSync(join(tmpdir(), 'sitewright-fuel2-'));
    fuel = startFuelClient((found as { python: string }).python, system.port, home);
    published = await fuel.commands();
    writeFileSync(file('tasks.yaml'), JSON.stringify(TASKS));
    writeFileSync(file('bad.yaml'), JSON.stringify([...TASKS, { id: 'prepare', type: 'shell' }]));
    writeFileSync(file('circle.yaml'), JSON.stringify([{ ...TASKS[0], requires: ['database'] }, TASKS[1]]));
    await system.store.releases.create({
      name: 'Newton on Ubuntu',
      version: 'newton-10.0',
      operatingSystem: 'Ubuntu',
      rolesMetadata: { controller: ROLE('controller'), compute: ROLE('compute') },
      tagsMetadata: { controller: { has_primary: true }, compute: { has_primary: false } },
      metadata: {
        attributes_metadata: {
          editable: { repo_setup: { repos: { type: 'custom_repo_configuration', value: [] } } },
        },
        vmware_attributes_metadata: { editable: { metadata: {}, value: {} } },
        volumes_metadata: {
          volumes: [{ id: 'os', type: 'vg' }],
          volumes_roles_mapping: {
            controller: [{ id: 'os', allocate_size: 'min' }],
            compute: [{ id: 'os', allocate_size: 'all' }],
          },
        },
      },
    });
    for (const at of [1, 2, 3]) {
      const mac = `52:54:00:00:00:0${at}`;
      const made = await system.ask('POST', '/api/v1/nodes/', {
        mac,
        status: at < 3 ? 'provisioned' : 'discover',
        ip: `10.20.0.${at}`,
      });
      expect(made.status).toBe(201);
    }
  }, 300_000);
  afterAll(async () => {
    await fuel?.close();
    await system?.close();
    await rig?.close();
    if (home) rmSync(home, { recursive: true, force: true });
  });

  it('needs no password', async () => {
    expect(await asJson('fuel-version')).toMatchObject({ auth_required: false, api: '1.0' });
  });

  it('release list', async () => {
    expect(await asJson('release', 'list')).toMatchObject([
      { id: 1, name: 'Newton on Ubuntu', operating_system: 'Ubuntu' },
    ]);
  });

  it('env create, list, show, update', async () => {
    await fuel2('env', 'create', '-r', '1', 'dc1');
    expect(await asJson('env', 'list')).toMatchObject([{ id: 1, name: 'dc1', status: 'new', release_id: 1 }]);
    expect(await asJson('env', 'update', '1', '-n', 'east')).toMatchObject({ name: 'east' });
    expect(await asJson('env', 'show', '1')).toMatchObject({ id: 1, name: 'east', changes: [] });
    expect(await refused('env', 'create', '-r', '1', 'east')).toContain('409 Client Error');
    expect(await refused('env', 'create', '-r', '9', 'west')).toContain('Invalid release ID');
    expect(await refused('env', 'show', '9')).toContain('(Cluster not found. ');
    expect(await refused('env', 'update', '9', '-n', 'x')).toContain('(Cluster not found. ');
  });

  it('env add nodes, remove nodes; node list, show, update', async () => {
    expect(await fuel2('env', 'add', 'nodes', '-e', '1', '-n', '1', '-r', 'controller')).toContain('were added');
    await fuel2('env', 'add', 'nodes', '-e', '1', '-n', '2', '3', '-r', 'compute');
    expect(await refused('env', 'add', 'nodes', '-e', '1', '-n', '3', '-r', 'queen')).toContain(
      'queen is not a valid role',
    );
    expect(await refused('env', 'add', 'nodes', '-e', '1', '-n', '77', '-r', 'compute')).toMatch(/40[04] Client Error/);
    await fuel2('env', 'remove', 'nodes', '-e', '1', '-n', '3');
    expect(await refused('env', 'remove', 'nodes', '-e', '9', '--nodes-all')).toContain("doesn't have nodes to remove");
    const facts = { platform_name: 'PowerEdge R640', manufacturer: 'Dell Inc.', os_platform: 'ubuntu' };
    expect(await system.ask('PUT', '/api/v1/nodes/1', facts)).toMatchObject({ status: 200 });
    const listed = await asJson('node', 'list', '-e', '1');
    expect(listed[0]).toMatchObject({
      mac: '52:54:00:00:00:01',
      platform_name: 'PowerEdge R640',
      os_platform: 'ubuntu',
    });
    expect(listed.map(({ id }: { id: number }) => id)).toEqual([1, 2]);
    expect(await asJson('node', 'show', '1')).toMatchObject({ id: 1, cluster: 1, pending_roles: ['controller'] });
    expect(await asJson('node', 'update', '3', '--name', 'third', '-H', 'third')).toMatchObject({
      name: 'third',
      hostname: 'third',
    });
    expect(await refused('node', 'update', '2', '-H', 'third')).toContain('Client Error');
    expect(await refused('node', 'show', '77')).toContain('404 Client Error');
  });

  it('node label set, list, delete', async () => {
    await fuel2('node', 'label', 'set', '-l', 'rack=r1', 'spare', '-n', '1', '2');
    expect(await asJson('node', 'label', 'list', '-n', '1')).toEqual([
      { node_id: 1, label_name: 'rack', label_value: 'r1' },
      { node_id: 1, label_name: 'spare', label_value: null },
    ]);
    expect((await asJson('node', 'list', '-l', 'rack=r1')).map(({ id }: { id: number }) => id)).toEqual([1, 2]);
    await fuel2('node', 'label', 'delete', '-l', 'rack', '-n', '1');
    await fuel2('node', 'label', 'delete', '--labels-all', '-n', '2');
    expect(await asJson('node', 'label', 'list')).toEqual([{ node_id: 1, label_name: 'spare', label_value: null }]);
  });

  it('role list, download, create, update, delete', async () => {
    expect((await asJson('role', 'list', '-r', '1')).map(({ name }: { name: string }) => name).sort()).toEqual([
      'compute',
      'controller',
    ]);
    await fuel2('role', 'download', '-r', '1', '-n', 'compute', '-f', 'yaml', '-d', home);
    const role = load(readFileSync(file('releases_1/compute.yaml'), 'utf8')) as Record<string, unknown>;
    expect(role).toMatchObject({ name: 'compute' });
    writeFileSync(file('releases_1/storage.yaml'), JSON.stringify({ ...role, name: 'storage' }));
    await fuel2('role', 'create', '-r', '1', '-n', 'storage', '-f', 'yaml', '-d', home);
    await fuel2('role', 'update', '-r', '1', '-n', 'storage', '-f', 'yaml', '-d', home);
    await fuel2('role', 'delete', '-r', '1', '-n', 'storage');
    expect(await refused('role', 'download', '-r', '1', '-n', 'storage', '-f', 'yaml', '-d', home)).toContain('404');
    expect(await refused('role', 'delete', '-r', '1', '-n', 'controller')).toContain('Client Error');
  });

  it('graph upload, list, download, delete', async () => {
    expect(await fuel2('graph', 'upload', '-e', '1', '-t', 'default', '-f', file('tasks.yaml'))).toContain(
      'successfully uploaded',
    );
    await fuel2('graph', 'upload', '-r', '1', '-t', 'extra', '-f', file('tasks.yaml'));
    expect(await refused('graph', 'upload', '-e', '1', '-t', 'default', '-f', file('bad.yaml'))).toContain(
      'Tasks duplication found: prepare',
    );
    expect(await refused('graph', 'upload', '-e', '1', '-t', 'default', '-f', file('circle.yaml'))).toContain(
      'wait for each other',
    );
    expect(await refused('graph', 'upload', '-e', '9', '-t', 'default', '-f', file('tasks.yaml'))).toContain('404');
    const listed = await fuel2('graph', 'list', '-e', '1');
    expect(listed).toContain('as "default" to cluster(ID=1)');
    expect(listed).toContain('as "extra" to release(ID=1)');
    for (const [flag, type, name] of [
      ['-a', 'default', 'all.yaml'],
      ['-c', 'default', 'own.yaml'],
      ['-r', 'extra', 'release.yaml'],
    ] as const) {
      await fuel2('graph', 'download', '-e', '1', flag, '-t', type, '-f', file(name));
      const tasks = load(readFileSync(file(name), 'utf8')) as { id: string }[];
      expect(tasks.map(({ id }) => id)).toEqual(['prepare', 'database']);
    }
    await fuel2('graph', 'upload', '-e', '1', '-t', 'default', '-f', file('all.yaml'));
    await fuel2('graph', 'delete', '-r', '1', '-t', 'extra');
    expect(await refused('graph', 'delete', '-r', '1', '-t', 'extra')).toContain(
      'Graph with type: extra is not defined',
    );
  });

  it('sequence create, upload, list, show, update, download, delete', async () => {
    await fuel2('sequence', 'create', '-r', '1', '-n', 'night', '-t', 'default');
    expect(await refused('sequence', 'create', '-r', '1', '-n', 'night', '-t', 'default')).toContain('already exist');
    expect(await asJson('sequence', 'list', '-e', '1')).toMatchObject([{ id: 1, name: 'night' }]);
    await fuel2('sequence', 'update', '1', '-n', 'day');
    await fuel2('sequence', 'download', '1', '--file', file('sequence.yaml'));
    expect(load(readFileSync(file('sequence.yaml'), 'utf8'))).toMatchObject({
      name: 'day',
      graphs: [{ type: 'default' }],
    });
    writeFileSync(file('other.yaml'), JSON.stringify({ name: 'other', graphs: [{ type: 'default' }] }));
    await fuel2('sequence', 'upload', '-r', '1', '--file', file('other.yaml'));
    expect(await asJson('sequence', 'show', '1')).toMatchObject({ name: 'day' });
    await fuel2('sequence', 'delete', '2');
    expect(await refused('sequence', 'show', '2')).toContain('404 Client Error');
  });

  it('tag list, download, create, update, delete: whatever is listed can be downloaded', async () => {
    const there = ['-f', 'yaml', '-d', home];
    for (const [flag, folder, name] of [
      ['-r', 'releases_1', 'mysql'],
      ['-e', 'clusters_1', 'swift'],
    ] as const) {
      mkdirSync(file(folder), { recursive: true });
      writeFileSync(file(`${folder}/${name}.yaml`), JSON.stringify({ name, meta: { has_primary: true } }));
      await fuel2('tag', 'create', flag, '1', '-n', name, ...there);
      await fuel2('tag', 'update', flag, '1', '-n', name, ...there);
      const listed = (await asJson('tag', 'list', flag, '1')).map((tag: { name: string }) => tag.name);
      // A cluster has its release's tags, and those that roles imply.
      expect(listed).toEqual(['compute', 'controller', 'mysql', ...(flag === '-e' ? ['swift'] : [])]);
      for (const tag of listed) {
        await fuel2('tag', 'download', flag, '1', '-n', tag, ...there);
        expect(load(readFileSync(file(`${folder}/${tag}.yaml`), 'utf8'))).toMatchObject({ name: tag });
      }
    }
    expect(await refused('tag', 'download', '-e', '1', '-n', 'mysq', ...there)).toContain(
      "(Tag 'mysq' is not found for the cluster 1. ",
    );
    expect(await refused('tag', 'delete', '-e', '1', '-n', 'mysql')).toContain('It is a tag of release 1');
    await fuel2('tag', 'delete', '-e', '1', '-n', 'swift');
    await fuel2('tag', 'delete', '-r', '1', '-n', 'mysql');
  });

  it('env settings download, upload', async () => {
    await fuel2('env', 'settings', 'download', '1', '-f', 'yaml', '-d', home);
    expect(existsSync(file('environment_1/settings.yaml'))).toBe(true);
    await fuel2('env', 'settings', 'upload', '1', '-f', 'yaml', '-d', home);
    expect(await refused('env', 'settings', 'download', '9', '-f', 'yaml', '-d', home)).toContain('404 Client Error');
  });

  it('graph execute, then task list, show, history show and its settings', async () => {
    await system.serveNodes('cluster-1', ['1', '2'], async ({ task }) => {
      if (task === 'linger') {
        const enough = once(linger, 'enough');
        linger.emit('started');
        await enough;
      }
      return { outcome: 'success' };
    });
    expect(await refused('graph', 'execute', '-e', '1', '-t', 'nosuch')).toContain('Client Error');
    expect(await refused('graph', 'execute', '-e', '1', '-t', 'default', '-n', '77')).toContain('400 Client Error');
    expect(await refused('graph', 'execute', '-e', '9', '-t', 'default')).toContain('404 Client Error');
    const started = await fuel2('graph', 'execute', '-e', '1', '-t', 'default');
    const id = /Deployment task with id (\d+) for the environment 1 has been started/.exec(started)![1]!;
    await ended(Number(id));
    expect(await asJson('task', 'show', id)).toMatchObject({ name: 'deploy', status: 'ready', cluster: 1 });
    const tasks = await asJson('task', 'list', '-e', '1');
    const graph = tasks.find((one: { graph_type: string | null }) => one.graph_type === 'default');
    expect(graph).toMatchObject({ status: 'ready', progress: 100 });
    const rows = await asJson('task', 'history', 'show', String(graph.id));
    const ran = rows.filter((row: { status: string }) => row.status === 'ready');
    expect(ran.map((row: { task_name: string; node_id: string }) => `${row.task_name}@${row.node_id}`).sort()).toEqual([
      'database@1',
      'prepare@1',
      'prepare@2',
    ]);
    expect(await asJson('task', 'history', 'show', String(graph.id), '-n', '2', '-t', 'ready')).toHaveLength(1);
    await fuel2('task', 'history', 'show', String(graph.id), '-p');
    await fuel2('task', 'deployment-info', 'download', String(graph.id), '-f', file('info.yaml'));
    expect(load(readFileSync(file('info.yaml'), 'utf8'))).toHaveProperty('common');
    await fuel2('task', 'settings', 'download', String(graph.id), '-f', file('settings.yaml'));
    await fuel2('task', 'network-configuration', 'download', String(graph.id), '-f', file('network.yaml'));
    expect(await refused('task', 'show', '999')).toContain('404 Client Error');
    expect(await refused('task', 'history', 'show', '999')).toContain('404 Client Error');
    await fuel2('task', 'delete', id);
    expect(await refused('task', 'delete', '999')).toContain('404 Client Error');
  });

  it('env deploy, redeploy, nodes deploy, stop-deployment; sequence execute', async () => {
    for (const args of [
      ['env', 'redeploy', '1'],
      ['env', 'nodes', 'deploy', '-e', '1', '-n', '1', '-f'],
      ['sequence', 'execute', '1', '-e', '1', '--force'],
      ['env', 'deploy', '1'],
    ]) {
      const text = await fuel2(...args);
      const id = /\b(?:id|ID)[ =]*(\d+)\b/.exec(text.replace(/environment with id\D*\d+/i, ''))?.[1];
      expect(id, text).toBeDefined();
      await ended(Math.max(...(await system.store.transactions.list()).map((one) => one.id)));
    }
    expect(await refused('env', 'stop-deployment', '1')).toContain('Nothing to stop');
    expect(await refused('env', 'redeploy', '9')).toContain('404 Client Error');
    expect(await refused('env', 'nodes', 'deploy', '-e', '1', '-n', '77')).toContain('Client Error');
  });

  it('env nodes provision, by the graph of type provision', async () => {
    await fuel2('graph', 'upload', '-e', '1', '-t', 'provision', '-f', file('tasks.yaml'));
    const started = await fuel2('env', 'nodes', 'provision', '-e', '1', '-n', '1');
    await ended(Number(/task with id (\d+)/.exec(started)![1]));
  });

  it('env stop-deployment, and stop of the older client', async () => {
    const slow = { ...TASKS[0], id: 'linger' };
    writeFileSync(file('slow.yaml'), JSON.stringify([slow]));
    await fuel2('graph', 'upload', '-e', '1', '-t', 'slow', '-f', file('slow.yaml'));
    for (const client of ['fuel2', 'fuel']) {
      const running = once(linger, 'started');
      const started = await fuel2('graph', 'execute', '-e', '1', '-t', 'slow', '-n', '1');
      await running;
      // What the client prints of an answer is its `message` alone.
      expect(await refused('graph', 'execute', '-e', '1', '-t', 'slow', '-n', '1')).toMatch(
        /\(Deployment already started: .*, started by .* since .*Stop it: .*fuel2 env stop-deployment 1'\)/,
      );
      if (client === 'fuel2') {
        expect(await fuel2('env', 'stop-deployment', '1')).toContain('has been started');
      } else {
        expect((await fuel.runOld('stop', '--env', '1')).err).toBe('');
        ran.succeeded.add('fuel stop');
      }
      linger.emit('enough');
      await ended(Number(/task with id (\d+)/.exec(started)![1]));
    }
  });

  it('env network verify, by the graph that does it', async () => {
    expect(await refused('env', 'network', 'verify', '1')).toContain("graph type 'network_verification'");
    for (const type of ['net-verification', 'network_verification']) {
      await fuel2('graph', 'upload', '-e', '1', '-t', type, '-f', file('tasks.yaml'));
      const text = await fuel2('env', 'network', 'verify', '1');
      await ended(Number(/task with id (\d+)/.exec(text)![1]));
      expect((await system.store.transactions.list()).map(({ graphType }) => graphType)).toContain(type);
    }
  });

  it('env network, deployment-facts, provisioning-facts: down and up again', async () => {
    const there = ['-f', 'yaml', '-d', home];
    await fuel2('env', 'network', 'download', '1', ...there);
    await fuel2('env', 'network', 'upload', '1', ...there);
    for (const kind of ['deployment-facts', 'provisioning-facts']) {
      await fuel2('env', kind, 'get-default', '-e', '1', ...there);
      await fuel2('env', kind, 'upload', '-e', '1', ...there);
      await fuel2('env', kind, 'download', '-e', '1', ...there);
      await fuel2('env', kind, 'delete', '1');
    }
    writeFileSync(file('template.yaml'), JSON.stringify({ adv_net_template: {} }));
    await fuel2('network-template', 'upload', '1', '-f', file('template.yaml'));
    await fuel2('network-template', 'download', '1', '-d', home);
    await fuel2('network-template', 'delete', '1');
  });

  it('node attributes, disks, interfaces: down and up again; ansible-inventory; undiscover', async () => {
    await fuel2('node', 'attributes-download', '1', '--dir', home);
    await fuel2('node', 'attributes-upload', '1', '--dir', home);
    for (const part of ['disks', 'interfaces']) {
      for (const command of ['download', 'get-default', 'upload']) {
        await fuel2('node', part, command, '1', '-f', 'yaml', '-d', home);
      }
    }
    expect(await fuel2('node', 'ansible-inventory', '-e', '1')).toContain('[controller]');
    await fuel2('node', 'undiscover', '-n', '3', '--force');
    expect(await refused('node', 'show', '3')).toContain('404');
  });

  it('release component list, repos list, repos update', async () => {
    await fuel2('release', 'component', 'list', '1');
    writeFileSync(file('repos.yaml'), JSON.stringify([{ name: 'ubuntu', uri: 'http://mirror.example/' }]));
    await fuel2('release', 'repos', 'update', '1', '-f', file('repos.yaml'));
    expect(await asJson('release', 'repos', 'list', '1')).toMatchObject([{ uri: 'http://mirror.example/' }]);
  });

  it('extension list, env extension show', async () => {
    expect(await asJson('extension', 'list')).toEqual([]);
    await fuel2('env', 'extension', 'show', '1');
  });

  it.each([
    ['env', 'extension', 'enable', '1', '-E', 'x'],
    ['env', 'extension', 'disable', '1', '-E', 'x'],
    ['env', 'reset', '1'],
    ['env', 'spawn-vms', '1'],
    ['node', 'create-vms-conf', '1', '--conf', '{"id": 1}'],
    ['node', 'list-vms-conf', '1'],
    ['health', 'list', '-e', '1'],
    ['health', 'start', '-e', '1', '--force'],
    ['health', 'restart', '1'],
    ['health', 'stop', '1'],
    ['health', 'status', 'list'],
    ['health', 'status', 'show', '1'],
    ['network-group', 'create', '-N', '1', '-C', '10.0.0.0/24', 'storage'],
    ['network-group', 'delete', '1'],
    ['network-group', 'list'],
    ['network-group', 'show', '1'],
    ['network-group', 'update', '1', '-n', 'x'],
    ['snapshot', 'create'],
    ['snapshot', 'get-default-config', '-f', 'yaml'],
    ['vip', 'create', '-e', '1', '-N', 'x', '-a', '10.0.0.9'],
    ['vip', 'download', '-e', '1'],
    ['openstack-config', 'list', '-e', '1'],
    ['openstack-config', 'download', '1', '--file', '/dev/null'],
    ['openstack-config', 'execute', '-e', '1'],
    ['openstack-config', 'delete', '1'],
  ])('is refused with the alternative: %s %s %s', async (...args) => {
    expect(await refused(...args)).toMatch(/\(.{20,}; instead, .{10,}\)/s);
  });

  it('openstack-config upload, vip upload, snapshot get-link', async () => {
    writeFileSync(file('nova.yaml'), 'configuration:\n  nova_config:\n    debug: {value: true}\n');
    const upload = ['openstack-config', 'upload', '-e', '1', '--file', file('nova.yaml')];
    expect(await refused(...upload)).toContain('; instead, ');
    writeFileSync(file('vips.yaml'), '[]');
    writeFileSync(file('vips.yaml.yaml'), '[]');
    expect(await refused('vip', 'upload', '-e', '1', '-f', file('vips.yaml'))).toContain('; instead, ');
    expect(await refused('snapshot', 'get-link', await newest())).toContain('not a snapshot');
  });

  it('plugins list, sync', async () => {
    expect(await fuel2('plugins', 'list')).toBe('\n');
    await fuel2('plugins', 'sync');
    expect(await refused('plugins', 'sync', '9')).toContain('404 Client Error');
  });

  it.each([
    'deployment --env 1 --default',
    'environment',
    'environment --env 1',
    'fuel-version',
    'graph --env 1 --download',
    'network --env 1 --download',
    'node',
    'plugins --list',
    'provisioning --env 1 --default',
    'release',
    'role --rel 1',
    'settings --env 1 --download',
    'token',
  ])('the older client: fuel %s', async (line) => {
    const { code, err } = await fuel.runOld(...line.split(' '));
    expect(code, err).toBe(0);
    ran.succeeded.add(`fuel ${line}`);
  });

  it('the older client: deployment-tasks, deploy-changes, redeploy-changes, network-template', async () => {
    expect(await fuel.runOld('deployment-tasks', '--tid', await newest())).toMatchObject({ code: 0 });
    ran.succeeded.add('fuel deployment-tasks');
    for (const command of ['redeploy-changes', 'deploy-changes']) {
      const { err } = await fuel.runOld(command, '--env', '1');
      expect(err).toBe('');
      ran.succeeded.add(`fuel ${command}`);
      await ended(Math.max(...(await system.store.transactions.list()).map((one) => one.id)));
    }
    writeFileSync(file('network_template_1.yaml'), JSON.stringify({ adv_net_template: {} }));
    const { code, err } = await fuel.runOld('network-template', '--env', '1', '--upload', '--dir', home);
    expect(code, err).toBe(0);
    ran.succeeded.add('fuel network-template');
  });

  it.each([
    'health --env 1',
    'network-group --list',
    'nodegroup --list',
    'notifications --list',
    'notify -m x',
    'openstack-config --env 1 --list',
    'reset --env 1',
    'snapshot',
    'vip --env 1 --download',
  ])('the older client is refused with the alternative: fuel %s', async (line) => {
    const { code, err } = await fuel.runOld(...line.split(' '));
    expect(code).not.toBe(0);
    expect(err).toMatch(/\(.{20,}; instead, .{10,}\)/s);
    ran.refused.set(`fuel ${line}`, err);
  });

  it('env delete; its nodes can be used in the next environment, whatever their status was', async () => {
    for (const [node, status] of [
      ['1', 'stopped'],
      ['2', 'ready'],
    ] as const)
      expect(await system.ask('PUT', `/api/v1/nodes/${node}`, { status })).toMatchObject({ status: 200 });
    await fuel2('env', 'delete', '1', '--force');
    expect(await refused('env', 'delete', '1')).toContain('(Cluster not found. ');
    const free = (await asJson('node', 'list')).filter(({ id }: { id: number }) => id < 3);
    expect(free).toMatchObject([
      { status: 'provisioned', cluster: null },
      { status: 'provisioned', cluster: null },
    ]);
    await fuel2('env', 'create', '-r', '1', 'next');
    const [{ id: next }] = await asJson('env', 'list');
    await system.serveNodes(`cluster-${next}`, ['1', '2'], async () => ({ outcome: 'success' }));
    await fuel2('env', 'add', 'nodes', '-e', String(next), '-n', '1', '2', '-r', 'compute');
    await fuel2('graph', 'upload', '-e', String(next), '-t', 'default', '-f', file('tasks.yaml'));
    await fuel2('graph', 'execute', '-e', String(next), '-t', 'default');
    await ended(Number(await newest()));
    const statuses = (await asJson('node', 'list', '-e', String(next))).map((one: { status: string }) => one.status);
    expect(statuses).toEqual(['ready', 'ready']);
  });

  /** Id of the newest run. */
  const newest = async () =>
    String(Math.max(...(await system.store.transactions.list({ parentId: null })).map(({ id }) => id)));

  /** Resolves when the run of a transaction has ended: its workflow has. */
  async function ended(transaction: number): Promise<void> {
    const row = await system.store.transactions.get(transaction);
    const top = row.parentId === null ? row : await system.store.transactions.get(row.parentId);
    await rig.client.workflow
      .getHandle(top.workflowId!)
      .result()
      .catch(() => undefined);
  }
});

describe.skipIf(!found.ok)('the published clients, against an API that needs tokens', () => {
  const { python } = found as { python: string };
  let rig: ApiRig;
  let home: string;
  const clients: FuelClient[] = [];
  const started: Record<string, string> = {};
  const clientOf = (OS_USERNAME: string, OS_PASSWORD: string): FuelClient => {
    const { port } = rig.api.server.address() as AddressInfo;
    const client = startFuelClient(python, port, home, { OS_USERNAME, OS_PASSWORD });
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'sitewright-fuel2-'));
    rig = await apiAlone({ tokens: true });
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    const tokens = new TokenOperations(rig.store);
    for (const [name, role] of [
      ['nina', 'operator'],
      ['vera', 'viewer'],
    ] as const) {
      started[name] = (await tokens.create({ name, role }, 'test')).token;
    }
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await rig?.close();
    rmSync(home, { recursive: true, force: true });
  });

  it('log in with the name of a token and the token, and act as its owner', async () => {
    const nina = clientOf('nina', started.nina!);
    expect(JSON.parse((await nina.run('fuel-version', '-f', 'json')).out)).toMatchObject({ auth_required: true });
    const { code, err } = await nina.run('release', 'list');
    expect(code, err).toBe(0);
    expect((await nina.runOld('token')).out.trim()).toBe(started.nina);
    const { err: said } = await nina.runOld('user', '--change-password', '--new-pass', 'x');
    expect(said).toContain('sitewright token create');
    ran.refused.set('fuel user', said);
    await rig.ask('POST', '/api/v1/releases', newton, { authorization: `Bearer ${started.nina}` });
    expect((await clientOf('vera', started.vera!).run('env', 'create', '-r', '1', 'x')).err).toContain(
      "this requires the role operator; the token 'vera' has the role viewer",
    );
  });

  it.each([
    ['nina', () => 'a guess', 'is not a token of this API'],
    ['vera', () => started.nina!, "is the token of 'nina', not of 'vera'"],
  ])('are refused as %s with another password, with the reason', async (name, password, why) => {
    const { code, err } = await clientOf(name, password()).run('release', 'list');
    expect(code).not.toBe(0);
    expect(err).toContain(why);
  });

  it('can log in by Keystone 3, with the token in its header', async () => {
    const login = (user: object) => ({ auth: { identity: { methods: ['password'], password: { user } } } });
    const nina = { name: 'nina', password: started.nina, domain: { id: 'default' } };
    const { status, headers, body } = await rig.ask('POST', '/keystone/v3/auth/tokens', login(nina));
    expect(status).toBe(201);
    expect(body.token).toMatchObject({ user: { name: 'nina' }, roles: [{ name: 'operator' }] });
    expect(Date.parse(body.token.expires_at)).toBeGreaterThan(Date.now());
    const token = headers['x-subject-token']!;
    expect((await rig.ask('GET', '/api/v1/me', undefined, { 'x-auth-token': token })).body.name).toBe('nina');
    const renew = { auth: { identity: { methods: ['token'], token: { id: token } } } };
    expect((await rig.ask('POST', '/keystone/v3/auth/tokens', renew)).status).toBe(201);
    const wrong = await rig.ask('POST', '/keystone/v3/auth/tokens', login({ ...nina, password: 'x' }));
    expect(wrong).toMatchObject({ status: 401, body: { error: { code: 401 } } });
  });
});

describe.skipIf(!found.ok)('docs/how-to/coming-from-fuel.md', () => {
  it('has a line for every command of both clients, and each behaves as described', () => {
    const page = readFileSync(new URL('../../docs/how-to/coming-from-fuel.md', import.meta.url), 'utf8');
    const lines = new Map<string, string>();
    for (const [, commands, here] of page.matchAll(/^\| ((?:`[^`|]+`(?:, )?)+) \| (works|not here)\b/gm)) {
      for (const [, command] of commands!.matchAll(/`([^`]+)`/g)) lines.set(command!, here!);
    }
    expect(published.fuel2.length).toBeGreaterThan(100);
    const names = [...published.fuel2.map((name) => `fuel2 ${name}`), ...published.fuel.map((name) => `fuel ${name}`)];
    expect([...lines.keys()].sort()).toEqual(names.sort());
    const is = (name: string) => (line: string) => line === name || line.startsWith(`${name} `);
    const otherwise = names.filter((name) =>
      lines.get(name) === 'works'
        ? ![...ran.succeeded].some(is(name))
        : [...ran.succeeded].some(is(name)) || ![...ran.refused.keys()].some(is(name)),
    );
    expect(otherwise).toEqual([]);
  });
});
