import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

async function install(name: string): Promise<void> {
  const { path } = await writePackageArchive(await readPackageFolder(join(cases, name)), name, '1.0.0', work);
  const read = await readPackage(path, DEFAULT_ARCHIVE_LIMITS);
  const choices = { archive: readFileSync(path), force: false, beside: false, masterIp: '10.20.0.2' };
  await applyInstallation(store, read, choices);
}

/** The plan of a cluster of smallrel with one enabled plugin, and nodes of these roles. */
async function planWith(plugin: string, roles: readonly string[]) {
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
  await install(plugin);
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
