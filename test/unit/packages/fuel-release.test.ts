import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkPackage, packageContents, readPackageFolder } from '../../../src/packages/index.ts';

const folder = fileURLToPath(new URL('../../../examples/fuel-release', import.meta.url));
const recorded = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../data/fuel/${name}`, import.meta.url), 'utf8')) as never;

it('the example release is valid without warnings and holds the recorded graphs', async () => {
  const report = checkPackage(await readPackageFolder(folder));
  expect([...report.errors, ...report.warnings]).toEqual([]);
  const contents = packageContents(report)!;
  expect(contents.releases).toHaveLength(1);
  const release = contents.releases[0] as {
    name: string;
    operating_system: string;
    version: string;
    roles_metadata: Record<string, { tags: string[] }>;
    tags_metadata: Record<string, { has_primary: boolean }>;
    graphs: { type: string; tasks: object[]; metadata?: Record<string, unknown> }[];
  };
  expect(release).toMatchObject({ name: 'fuel-newton', operating_system: 'ubuntu', version: 'newton-10.0' });
  const graphs = new Map(release.graphs.map((graph) => [graph.type, graph]));
  expect(graphs.get('default')!.tasks).toEqual(recorded('tasks.raw.json'));
  const extra = recorded('graphs.extra.json') as Record<string, { tasks: object[]; on_success: object }>;
  const others = { provisioning: 'provision', deletion: 'deletion', network_verification: 'net-verification' };
  expect([...graphs.keys()]).toEqual(['default', ...Object.keys(others)]);
  for (const [type, name] of Object.entries(others)) {
    expect(graphs.get(type)!.tasks).toEqual(extra[name]!.tasks);
    expect(graphs.get(type)!.metadata).toMatchObject({ on_success: extra[name]!.on_success });
  }
  expect(release.roles_metadata.controller!.tags).toEqual([
    'controller',
    'rabbitmq',
    'database',
    'keystone',
    'neutron',
  ]);
  const primary = Object.entries(release.tags_metadata).filter(([, { has_primary }]) => has_primary);
  expect(primary.map(([name]) => name).sort()).toEqual([
    'controller',
    'database',
    'keystone',
    'mongo',
    'neutron',
    'rabbitmq',
  ]);
});
