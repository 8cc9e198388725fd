import { readFileSync } from 'node:fs';
import { dump, load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { catalogueOf } from '../../../src/clusters/tags/catalogue.ts';
import { resolveTaggedNodes } from '../../../src/clusters/tags/tagged-nodes.ts';
import { simulateStrategy } from '../../../src/core/deployment/simulate.ts';
import { parseStrategyData, parseYaml } from '../../../src/documents/index.ts';
import { checkPackage, packageInstallation, packageTree } from '../../../src/packages/index.ts';
import { cluster, type Json, resultOf, running } from '../graph/recorded.ts';
import { spec } from './spec.ts';

/* The examples of the specification, verbatim (test/data/specification). */

describe('computable task fields', () => {
  const condition = spec('condition.yaql').trim();
  const controllers = (status: string): Json => ({
    nodes: [{ status, roles: ['controller'], pending_addition: status === 'discover' }],
  });
  /** The example's task, with the example's condition in its place. */
  const [task] = load(
    spec('computed-task.txt').replaceAll(
      'yaql_exp: {some yaql expression}',
      `{yaql_exp: ${JSON.stringify(condition.replace(/\s+/g, ' '))}}`,
    ),
  ) as [Json];

  it('the task runs where the condition of the document holds, with the data that the expression gives', () => {
    const given = { ...task, type: 'shell', version: '2.1.0', tags: '*' };
    const planned = (common: Json) => resultOf({ tasks: [given], cluster: cluster({ '1': ['x'] }, common) });
    // Nothing ran before, so everything has changed.
    const first = planned(controllers('ready'));
    expect(running(first)).toEqual(['task-id@1']);
    expect((first as Json).tasks_graph['1'][0].parameters).toMatchObject({ data: true });
  });

  it('every function of the document is documented, with a link to the syntax', () => {
    const page = readFileSync(new URL('../../../docs/reference/yaql.md', import.meta.url), 'utf8');
    const functions = new Set(
      [...`${spec('changes.txt')}${condition}`.matchAll(/\b([a-z_]+)\(/g)].map(([, name]) => name!),
    );
    expect([...functions].sort()).toEqual(['changed', 'network_scheme', 'new', 'old', 'where']);
    for (const name of functions) expect(page, name).toMatch(new RegExp(`\\| [^|\\n]*\\b${name}\\([^\\n]*→ `));
    expect(page).toMatch(/\[syntax\]\(https:\/\/yaql\.readthedocs\.io[^)]*\)/);
  });
});

describe('role decomposition', () => {
  const tasks = (load(spec('tags-tasks.yaml')) as Json[]).map((one) => ({
    ...{ type: 'shell', version: '2.1.0', parameters: { cmd: 'true', timeout: 9 } },
    ...one,
  }));
  const [node] = load(spec('tags-nodes.yaml')) as [{ roles: string[]; tags: string[] }];
  const catalogue = catalogueOf({
    release: { roles: { controller: { tags: ['mysql', 'neutron', 'keystone', 'rabbitmq'] } }, tags: {} },
    cluster: { roles: {}, tags: {} },
    plugins: [],
  });
  const placed = (tags: readonly string[], of: readonly Json[] = tasks) => {
    const known = { status: 'provisioned', pendingDeletion: false, primaryTags: [] } as const;
    const { nodes } = resolveTaggedNodes({
      ...{ nodes: [{ id: 1, ...known, roles: node.roles, tags }], catalogue },
      ...{ tagsEngine: true, highAvailability: true },
    });
    return running(resultOf({ tasks: of, cluster: cluster({ '1': nodes[0]!.tags }) }));
  };

  it('the three tasks are placed as in the text', () => {
    expect(placed(node.tags)).toEqual(['globals@1', 'haproxy@1', 'mysql@1']);
  });

  it('a node without tags runs only the tasks for the name of its role', () => {
    // All three name the role: `tags: [controller, mysql]`, `role: [controller]`, and `/.*/`, which matches its name.
    expect(placed([])).toEqual(['globals@1', 'haproxy@1', 'mysql@1']);
    const [mysql] = tasks;
    expect(placed([], [{ ...mysql!, tags: ['mysql'] }])).toEqual([]);
    expect(placed(['mysql'], [{ ...mysql!, tags: ['mysql'] }])).toEqual(['mysql@1']);
  });
});

describe('release as a plugin', () => {
  it('a record that does not define a release keeps scripts, repositories and graphs, and the rest is ignored', () => {
    const about = {
      ...{ title: 'Example', licenses: ['MIT'], authors: ['Somebody'], homepage: 'https://example.org', groups: [] },
      ...{ description: 'An example' },
    };
    const metadata = `${dump(about)}${spec('release-metadata.yaml').replace('is_release: true', 'is_release: false')}`;
    const record = (load(metadata) as Json).releases[0] as Json;
    const graph = (id: string) =>
      dump([{ id, type: 'shell', version: '2.1.0', tags: '*', parameters: { cmd: id, timeout: 9 } }]);
    const files = new Map<string, string>([
      ['metadata.yaml', metadata],
      ['environment_config.yaml', 'attributes: {}'],
      ...Object.entries(record).flatMap(([key, path]): [string, string][] =>
        key.endsWith('_path') && String(path).endsWith('.yaml') ? [[String(path), '{}']] : [],
      ),
      ...(record.graphs as Json[]).map(({ type, tasks_path }): [string, string] => [tasks_path, graph(`of_${type}`)]),
    ]);
    const report = checkPackage(
      packageTree('ExampleRelease', files, ['ubuntu-10.0.0/deployment_scripts', 'ubuntu-10.0.0/repositories']),
    );
    expect(report.errors).toEqual([]);
    const ignored = report.warnings.filter(({ code }) => code === 'package.ignored-in-extension');
    const kept = ['operating_system', 'version', 'is_release', 'graphs', 'deployment_scripts_path', 'repository_path'];
    expect(ignored.map(({ path }) => String(path).replace('releases[0].', '')).sort()).toEqual(
      Object.keys(record)
        .filter((key) => !kept.includes(key))
        .map((key) => key.replace(/_path$/, ''))
        .sort(),
    );
    const { plugin, releases } = packageInstallation(report)!;
    expect(releases).toEqual([]);
    expect(plugin.graphs.map(({ type, body }) => [type, (body.tasks as Json[])[0]!.id])).toEqual(
      ['default', 'provisioning', 'deletion', 'network_verification'].map((type) => [type, `of_${type}`]),
    );
  });
});

describe('deployment groups', () => {
  const strategy = () => {
    const { documents, diagnostics } = parseYaml(spec('deployment-strategy.yaml'));
    expect(diagnostics).toEqual([]);
    const read = parseStrategyData((documents[0]!.value as Json).data);
    if (!read.ok) throw new Error(JSON.stringify(read));
    expect(read.warnings).toEqual([]);
    return read.strategy;
  };
  const at = { rack: 'rack01', labels: {}, tags: [] as readonly string[] };
  const nodes = [
    { ...at, name: 'ntp01', rack: 'rack04' },
    ...[1, 2, 3].map((one) => ({ ...at, name: `ctl0${one}`, rack: 'rack03', tags: ['control'] })),
    { ...at, name: 'cmp11', tags: ['compute'] },
    { ...at, name: 'cmp21', rack: 'rack02', tags: ['compute'] },
    { ...at, name: 'mon01', tags: ['monitoring'] },
  ];

  it('the strategy of the document loads, and its groups run in one of the orders it lists', () => {
    const result = simulateStrategy({ strategy: strategy(), nodes });
    const orders = [...spec('group-orders.txt').matchAll(/• (.*)/g)].map(([, line]) => line!.split(' > '));
    expect(orders).toHaveLength(3);
    expect(orders).toContainEqual('processed' in result && result.processed);
  });

  it('a failure in deploying compute-nodes-2 ends as the document shows', () => {
    const outcomes = { cmp21: { deploy: 'failure' } } as const;
    const result = simulateStrategy({ strategy: strategy(), nodes, outcomes });
    if ('rejected' in result) throw new Error(String(result.rejected));
    const shown = [...spec('compute-nodes-2-fails.txt').matchAll(/^\| (prepare|deploy) (\S+) +<(\w+)>$/gm)];
    expect(shown).toHaveLength(10);
    // Independent groups may run in any order; the effects of each are the same.
    const calls = result.calls.map(({ group, step }) => `${step} ${group}`);
    expect([...calls].sort()).toEqual(shown.map(([, step, group]) => `${step} ${group}`).sort());
    const failed = Object.entries(result.groups).flatMap(([group, state]) => (/FAIL/i.test(state) ? [group] : []));
    expect(failed).toEqual(shown.flatMap(([, , group, state]) => (state === 'FAILED' ? [group] : [])));
    expect(result.halts).toBe(false);
  });
});
