import { dump } from 'js-yaml';
import { expect, it } from 'vitest';
import { checkPackage, packageInstallation, packageTree } from '../../../src/packages/index.ts';

/* docs/explain/design.md#spec-4: of a plugin's release record, "attributes except deployment scripts, repository path and graph will be ignored". */
const task = (id: string) => ({
  id,
  type: 'shell',
  version: '2.1.0',
  tags: ['x'],
  parameters: { cmd: 'true', timeout: 9 },
});
const metadata = {
  ...{ name: 'p', title: 'p', version: '1.0.0', package_version: '5.0.0', description: 'd', licenses: [], authors: [] },
  ...{ homepage: 'h', groups: [], fuel_version: ['9.1'] },
  releases: [
    {
      ...{ os: 'ubuntu', version: 'mitaka-9.0', mode: ['ha'], deployment_scripts_path: 'scripts/' },
      repository_path: 'repositories/ubuntu',
      graphs: [
        { type: 'default', tasks_path: 'graphs/default.yaml' },
        { type: 'deletion', name: 'clean up', tasks_path: 'graphs/deletion.yaml' },
      ],
    },
  ],
};

it('the graphs of a plugin’s release record are installed, with their task places', () => {
  const files = {
    'metadata.yaml': dump(metadata),
    'graphs/default.yaml': dump([task('first')]),
    'graphs/deletion.yaml': dump([task('last')]),
    'deployment_tasks.yaml': dump([task('other')]),
    'environment_config.yaml': dump({ attributes: {} }),
  };
  const tree = packageTree('p', new Map(Object.entries(files)), ['scripts', 'repositories/ubuntu']);
  const report = checkPackage(tree);
  expect(report.errors).toEqual([]);
  const { graphs } = packageInstallation(report)!.plugin;
  expect(graphs.map(({ type, body }) => [type, body])).toEqual([
    ['default', { tasks: [task('first')] }],
    ['deletion', { name: 'clean up', tasks: [task('last')] }],
  ]);
  expect(graphs[1]!.locate(['tasks', 0, 'id'])).toMatchObject({
    path: 'releases[0].graphs[1].tasks[0].id',
    place: { file: 'graphs/deletion.yaml', line: 1 },
  });
});

it('a graph type in two records is one graph: an equal one is accepted, a different one refused at its place', () => {
  const [record] = metadata.releases;
  const both = (second: string) =>
    checkPackage(
      packageTree(
        'p',
        new Map(
          Object.entries({
            'metadata.yaml': dump({
              ...metadata,
              releases: [
                { ...record, graphs: [{ type: 'default', tasks_path: 'graphs/first.yaml' }] },
                { ...record, version: 'newton-10.0', graphs: [{ type: 'default', tasks_path: second }] },
              ],
            }),
            'graphs/first.yaml': dump([task('first')]),
            'graphs/second.yaml': dump([task('second')]),
            'deployment_tasks.yaml': dump([task('other')]),
            'environment_config.yaml': dump({ attributes: {} }),
          }),
        ),
        ['scripts', 'repositories/ubuntu'],
      ),
    );
  const same = both('graphs/first.yaml');
  expect(same.errors).toEqual([]);
  expect(packageInstallation(same)!.plugin.graphs.map(({ body }) => body)).toEqual([{ tasks: [task('first')] }]);
  const differing = both('graphs/second.yaml');
  expect(differing.verdict).toBe('invalid');
  expect(differing.errors).toMatchObject([
    {
      code: 'package.graphs-differ',
      path: 'releases[1].graphs[0].type',
      message: expect.stringContaining('releases[0]'),
    },
  ]);
});
