import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planCluster } from '../../../src/clusters/plan-cluster.ts';
import { readClusterSources, readGraphLayers } from '../../../src/clusters/read-sources.ts';
import { applyInstallation } from '../../../src/ops/packages/apply-installation.ts';
import { readPackage } from '../../../src/ops/packages/read-package.ts';
import { DEFAULT_ARCHIVE_LIMITS, readPackageFolder, writePackageArchive } from '../../../src/packages/index.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { serializedGraph } from '../../rig/serialized-graph.ts';
import { cli } from '../cli/recording-terminal.ts';

const cases = fileURLToPath(new URL('../../data/cases/fuel/', import.meta.url));

let store: Store;
let work: string;
beforeEach(async () => {
  work = mkdtempSync(join(tmpdir(), 'sitewright-fuel-'));
  store = await openStore('sqlite::memory:');
  await store.migrate();
});
afterEach(async () => {
  await store.close();
  rmSync(work, { recursive: true });
});

async function install(name: string, folder = join(cases, name)): Promise<void> {
  const { path } = await writePackageArchive(await readPackageFolder(folder), name, '1.0.0', work);
  const read = await readPackage(path, DEFAULT_ARCHIVE_LIMITS);
  const choices = { archive: readFileSync(path), force: false, beside: false, masterIp: '10.20.0.2' };
  await applyInstallation(store, read, choices);
}

/** The plan of a cluster of smallrel with one enabled plugin, and nodes of these roles. */
async function planWith(plugin: string, roles: readonly string[], folder = join(cases, plugin)) {
  await install('smallrel');
  const [release] = await store.releases.list();
  const { id: cluster } = await store.clusters.create({
    name: 'small',
    releaseId: release!.id,
    attributes: { editable: { common: { propagate_task_deploy: { value: true } } } },
  });
  for (const role of roles) {
    const { id } = await store.nodes.create({ name: `${role}-${roles.length}`, status: 'provisioned' });
    await store.nodes.assign(cluster, [{ id, roles: [role] }]);
  }
  await install(plugin, folder);
  for (const { plugin: one } of await store.plugins.ofCluster(cluster))
    await store.plugins.link(cluster, one.id, { enabled: true });
  const sources = await readClusterSources(store, cluster);
  const planned = planCluster(sources, await readGraphLayers(store, sources, 'default'), { type: 'default' });
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  const { tasks_graph } = serializedGraph(planned.plan);
  return {
    /** Each task with this parameter: where it runs, in which folder, and what it waits for. */
    having: (parameter: string) =>
      Object.entries(tasks_graph).flatMap(([node, tasks]) =>
        tasks.flatMap(({ id, parameters, requires = [] }) => {
          const { [parameter]: what, cwd } = (parameters ?? {}) as Record<string, unknown>;
          const waits = requires.map(({ name, node_id }) => `${name}@${node_id}`);
          return what === undefined ? [] : [{ on: `${id}@${node}`, what, cwd, waits }];
        }),
      ),
  };
}

describe('tasks of a plugin in tasks.yaml', () => {
  it('run in the folder of the plugin, after its files', async () => {
    const { having } = await planWith('v2plug', ['compute']);
    expect(having('cmd').filter(({ what }) => what === 'sh ./deploy.sh')).toEqual([
      {
        on: 'post_deployment_0@1',
        what: 'sh ./deploy.sh',
        cwd: '/etc/fuel/plugins/oldtwo-1.0/',
        waits: expect.arrayContaining(['oldtwo-1.0-files@1']),
      },
    ]);
  });

  it('run there beside those of its graph, in the order of their stages', async () => {
    const { having } = await planWith('v4plug', ['compute']);
    const folder = '/etc/fuel/plugins/oldfour-1.2/';
    for (const cmd of ['./before.sh', './first.sh', './second.sh', './main.sh', './new.sh'])
      expect(having('cmd')).toContainEqual(
        expect.objectContaining({
          what: cmd,
          cwd: folder,
          waits: expect.arrayContaining(['oldfour-1.2-files@1']),
        }),
      );
    expect(having('puppet_manifest')).toMatchObject([{ cwd: folder, on: 'post_deployment_0@1' }]);
  });

  it('of format 1 run on the primary controller too, in a folder with the whole version', async () => {
    const { having } = await planWith('v1plug', ['controller', 'controller']);
    expect(having('cmd').filter(({ what }) => what === './deploy.sh')).toEqual(
      [1, 2].map((node) => ({
        on: `post_deployment_0@${node}`,
        what: './deploy.sh',
        cwd: '/etc/fuel/plugins/oldone-1.0.0/',
        waits: expect.arrayContaining([`oldone-1.0.0-files@${node}`]),
      })),
    );
    expect(having('digest')).toMatchObject([1, 2].map((node) => ({ on: `oldone-1.0.0-files@${node}` })));
  });
});

describe('a plugin without scripts', () => {
  it.each([
    ['that names no folder', ''],
    ['whose folder is empty', 'deployment_scripts_path: scripts/, '],
  ])('%s runs its tasks in /, where every node can start them', async (_name, scripts) => {
    const folder = join(work, 'bare');
    mkdirSync(join(folder, 'scripts'), { recursive: true });
    const record = `{os: ubuntu, version: 2015.1.0-7.0, ${scripts}mode: [ha]}`;
    const about = 'title: t\nversion: 1.0.0\ndescription: d\nlicenses: [l]\nauthors: [a]\nhomepage: h\ngroups: []';
    writeFileSync(
      join(folder, 'metadata.yaml'),
      `name: bare\n${about}\npackage_version: '5.0.0'\nreleases:\n  - ${record}\n`,
    );
    const task = '{id: bare, type: shell, version: 2.1.0, tags: [compute], parameters: {cmd: apt-get -q update}}';
    writeFileSync(join(folder, 'deployment_tasks.yaml'), `- ${task}\n`);
    const { having } = await planWith('bare', ['compute'], folder);
    expect(having('cmd')).toContainEqual(
      expect.objectContaining({ on: 'bare@1', what: 'apt-get -q update', cwd: '/' }),
    );
  });
});

describe('the check of a plugin', () => {
  const findings = async (name: string) => {
    const { out } = await cli(['package', 'check', join(cases, name), '-f', 'json']);
    const { verdict, errors, warnings } = JSON.parse(out) as Record<string, { code: string }[]>;
    return { verdict, errors: errors!.map(({ code }) => code), warnings: warnings!.map(({ code }) => code) };
  };

  it('refuses two tasks of one id, of which one would be lost', async () => {
    expect(await findings('dup')).toMatchObject({ verdict: 'invalid', errors: ['graph.duplicate-task'] });
    await expect(install('dup')).rejects.toMatchObject({ problem: { errors: [{ code: 'graph.duplicate-task' }] } });
  });

  it('lets it use the roles of its release, which it does not know', async () => {
    const { verdict, warnings } = await findings('hint');
    expect([verdict, warnings.includes('package.unknown-tag')]).toEqual(['valid', false]);
  });
});
