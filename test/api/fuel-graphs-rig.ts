import { readFileSync } from 'node:fs';
import type { Store } from '../../src/store/index.ts';
import type { ApiRig } from './api-rig.ts';

/** One exchange with the real Fuel API. */
interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly request?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly response: any;
}

const transcript = JSON.parse(
  readFileSync(new URL('../data/fuel/rest-transcript.json', import.meta.url), 'utf8'),
) as readonly Recorded[];

/** The entry of the recorded session at an index, which must be the exchange that the test is about. */
export function recorded(index: number, method: string, url: string): Recorded {
  const entry = transcript[index]!;
  if (entry.method !== method || entry.url !== url) throw new Error(`entry ${index} is ${entry.method} ${entry.url}`);
  return entry;
}

/** The tasks of the release in the recorded session. */
export const releaseTasks = [
  { id: 'pre_deployment_start', type: 'stage' },
  { id: 'pre_deployment_end', type: 'stage', requires: ['pre_deployment_start'] },
  { id: 'deploy_start', type: 'stage', requires: ['pre_deployment_end'] },
  { id: 'deploy_end', type: 'stage', requires: ['deploy_start'] },
  { id: 'post_deployment_start', type: 'stage', requires: ['deploy_end'] },
  { id: 'post_deployment_end', type: 'stage', requires: ['post_deployment_start'] },
];

export const myTask = {
  id: 'my-task',
  type: 'puppet',
  version: '2.1.0',
  role: ['controller'],
  requires: ['rel-a'],
  'cross-depends': [{ name: 'rel-a', role: 'controller' }],
  condition: { yaql_exp: 'changed($.uid)' },
  parameters: { puppet_manifest: 'm.pp', puppet_modules: 'mm', timeout: 10 },
};

export interface Environment {
  readonly release: number;
  readonly plugin: number;
  readonly cluster: number;
  /** A controller and a compute. */
  readonly nodes: readonly [number, number];
}

/** A release, an enabled plugin and a cluster of two ready nodes, made in the store. */
export async function environment(store: Store, name = 'env'): Promise<Environment> {
  const role = { has_primary: false };
  const release = await store.releases.create({
    name: `release of ${name}`,
    version: 'newton-10.0',
    operatingSystem: 'Ubuntu',
    rolesMetadata: { controller: { name: 'controller' }, compute: { name: 'compute' } },
    tagsMetadata: { controller: role, compute: role },
  });
  const plugin = await store.plugins.create({ name: `plug-${name}`, version: '0.1.0', packageVersion: '5.0.0' });
  const cluster = await store.clusters.create({ name, releaseId: release.id, mode: 'multinode' });
  await store.plugins.link(cluster.id, plugin.id, { enabled: true });
  const [controller, compute] = [
    await store.nodes.create({ name: `${name}-1`, status: 'ready' }),
    await store.nodes.create({ name: `${name}-2`, status: 'ready' }),
  ];
  await store.nodes.assign(cluster.id, [
    { id: controller.id, roles: ['controller'] },
    { id: compute.id, roles: ['compute'] },
  ]);
  for (const [id, one] of [
    [controller.id, 'controller'],
    [compute.id, 'compute'],
  ] as const)
    await store.nodes.update(id, { status: 'ready', roles: [one], pendingRoles: [], pendingAddition: false });
  return { release: release.id, plugin: plugin.id, cluster: cluster.id, nodes: [controller.id, compute.id] };
}

/** The messages and places of an error, in one line each. */
export const findings = (answer: Awaited<ReturnType<ApiRig['ask']>>): string[] =>
  (answer.body.errors ?? []).map((one: { path?: string; message: string }) => `${one.path ?? ''}: ${one.message}`);
