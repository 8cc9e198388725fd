import { describe, expect, it } from 'vitest';
import { checkGraphUpload } from '../../../src/graph/index.ts';
import { checkPackage, packageTree } from '../../../src/packages/index.ts';
import { cluster, type Json, resultOf } from '../graph/recorded.ts';

const METADATA = {
  name: 'p',
  title: 'p',
  version: '1.0.0',
  description: 'd',
  licenses: [],
  authors: [],
  homepage: 'h',
  groups: [],
};

const base = { id: 't', type: 'shell', version: '2.1.0', tags: ['x'], parameters: { cmd: 'true', timeout: 9 } };
const yaql = (expression: string) => ({ yaql_exp: expression });
const relation = { name: 'first', role: 'self', policy: 'all' };

/** Every field of a task but `id`, and its content: each can be an expression. */
const FIELDS: readonly (readonly [string, Json])[] = [
  ['type', { type: yaql('shell') }],
  ['version', { version: yaql("'2.1.0'") }],
  ['condition', { condition: yaql('true') }],
  ['tags', { tags: yaql('[x]') }],
  ['an item of tags', { tags: [yaql('x')] }],
  ['roles', { tags: undefined, roles: yaql('[x]') }],
  ['an item of roles', { tags: undefined, roles: [yaql('x')] }],
  ['role', { tags: undefined, role: yaql('[x]') }],
  ['an item of role', { tags: undefined, role: [yaql('x')] }],
  ['groups', { tags: undefined, groups: yaql('[x]') }],
  ['an item of groups', { tags: undefined, groups: [yaql('x')] }],
  ['requires', { requires: yaql('[first]') }],
  ['an item of requires', { requires: [yaql('first')] }],
  ['required_for', { required_for: yaql('[last]') }],
  ['an item of required_for', { required_for: [yaql('last')] }],
  ['cross-depends', { 'cross-depends': yaql('[{name => first, role => self}]') }],
  ['an item of cross-depends', { 'cross-depends': [yaql('{name => first, role => self}')] }],
  ['a name of cross-depends', { 'cross-depends': [{ ...relation, name: yaql('first') }] }],
  ['a role of cross-depends', { 'cross-depends': [{ ...relation, role: yaql('self') }] }],
  ['an item of a role of cross-depends', { 'cross-depends': [{ ...relation, role: [yaql('x')] }] }],
  ['tags of cross-depends', { 'cross-depends': [{ name: 'first', tags: yaql('[x]') }] }],
  ['a policy of cross-depends', { 'cross-depends': [{ ...relation, policy: yaql('any') }] }],
  ['cross-depended-by', { 'cross-depended-by': yaql('[{name => last, role => self}]') }],
  ['a name of cross-depended-by', { 'cross-depended-by': [{ name: yaql('last'), role: 'self' }] }],
  ['parameters', { parameters: yaql("{cmd => 'true', timeout => 9}") }],
  ['a text of parameters', { parameters: { cmd: yaql("'true'"), timeout: 9 } }],
  ['a number of parameters', { parameters: { cmd: 'true', timeout: yaql('9') } }],
  ['strategy', { parameters: { ...base.parameters, strategy: yaql('{type => one_by_one}') } }],
  ['the type of a strategy', { parameters: { ...base.parameters, strategy: { type: yaql('parallel'), amount: 1 } } }],
  [
    'the amount of a strategy',
    { parameters: { ...base.parameters, strategy: { type: 'parallel', amount: yaql('1') } } },
  ],
  ['fail_on_error', { fail_on_error: yaql('true') }],
  ['fault_tolerance', { fault_tolerance: yaql('1') }],
  ['reexecute_on', { reexecute_on: yaql('[deploy_changes]') }],
  ['an item of reexecute_on', { reexecute_on: [yaql('deploy_changes')] }],
  ['refresh_on', { refresh_on: yaql('[nova_config]') }],
  ['stage', { stage: yaql('post_deployment') }],
  ['tasks', { type: 'group', tasks: yaql('[first]'), parameters: undefined }],
  ['an item of tasks', { type: 'group', tasks: [yaql('first')], parameters: undefined }],
  ['a custom field', { test_pre: { cmd: yaql('x') } }],
];

const plain = (id: string): Json => ({ ...base, id });
const taskWith = (field: Json): Json => JSON.parse(JSON.stringify({ ...base, ...field })) as Json;

function errorsInPackage(task: Json, version: string, where: 'graph' | 'deployment_tasks.yaml'): readonly unknown[] {
  // Before 4.0.0, tasks of most types must have a role.
  const tasks = [plain('first'), task, plain('last')].map((one) =>
    version === '3.0.0' ? { role: ['x'], ...one } : one,
  );
  const record =
    where === 'graph'
      ? {
          is_release: true,
          release_name: 'p',
          description: 'd',
          operating_system: 'ubuntu',
          version: 'p-1.0',
          graphs: [{ type: 'default', tasks }],
        }
      : { os: 'ubuntu', version: 'p-1.0', deployment_scripts_path: 's/', repository_path: 's/', mode: ['ha'] };
  const metadata = {
    ...METADATA,
    package_version: version,
    ...(version === '5.0.0' ? {} : { is_hotpluggable: false, fuel_version: ['9.0'] }),
    releases: [record],
  };
  const files: [string, string][] = [
    ['metadata.yaml', JSON.stringify(metadata)],
    ['s/x', ''],
    ['environment_config.yaml', 'attributes: {}'],
  ];
  if (where !== 'graph') files.push(['deployment_tasks.yaml', JSON.stringify(tasks)]);
  const { errors, warnings } = checkPackage(packageTree('p', files));
  // Fuel accepted packages before 5.0.0 without parsing their expressions.
  const unparsed = version === '5.0.0' ? [] : warnings.filter(({ code }) => code === 'package.bad-yaql');
  return [...errors, ...unparsed].map(({ code, path, message, severity }) => ({ code, path, message, severity }));
}

const WAYS = [
  ['a graph of a release', (task: Json) => errorsInPackage(task, '5.0.0', 'graph')],
  ['deployment_tasks.yaml 5.0.0', (task: Json) => errorsInPackage(task, '5.0.0', 'deployment_tasks.yaml')],
  ['deployment_tasks.yaml 4.0.0', (task: Json) => errorsInPackage(task, '4.0.0', 'deployment_tasks.yaml')],
  ['deployment_tasks.yaml 3.0.0', (task: Json) => errorsInPackage(task, '3.0.0', 'deployment_tasks.yaml')],
  [
    'an upload',
    (task: Json) =>
      checkGraphUpload({ tasks: [plain('first'), task, plain('last')] }).problems.filter(
        ({ severity }) => severity === 'error',
      ),
  ],
] as const;

describe.each(WAYS)('in %s, a YAQL expression', (_way, errorsOf) => {
  it.each(FIELDS)('is accepted as %s', (_field, given) => {
    expect(errorsOf(taskWith(given))).toEqual([]);
  });

  it('that cannot be parsed is found in any place', () => {
    const broken = FIELDS.map(([field, given]) => [field, JSON.parse(JSON.stringify(given, broke)) as Json] as const);
    const accepted = broken.filter(([, given]) => errorsOf(taskWith(given)).length === 0).map(([field]) => field);
    expect(accepted).toEqual([]);
  });

  it('is refused as id', () => {
    expect(errorsOf({ ...base, id: yaql('t') })).not.toEqual([]);
  });
});

/** Makes each expression one that cannot be parsed. */
const broke = (key: string, value: unknown) => (key === 'yaql_exp' ? `${value} +` : value);

it('an expression that cannot be parsed is an error in 5.0.0, and a warning in formats where Fuel accepted it', () => {
  const broken = { ...base, condition: yaql('$.a and') };
  expect(
    ['3.0.0', '4.0.0', '5.0.0'].map((version) => errorsInPackage(broken, version, 'deployment_tasks.yaml')),
  ).toMatchObject(['warning', 'warning', 'error'].map((severity) => [{ code: 'package.bad-yaql', severity }]));
});

it('all broken expressions of a package are reported, each with its line and place', () => {
  const graph = [
    { ...base, condition: yaql('$.a and') },
    { ...base, id: 'u', parameters: { cmd: 'x', timeout: 1, deep: [{ regex: yaql('no +') }, yaql(' \n$..')] } },
    { ...base, id: 'v', requires: { yaql_exp: 5 } },
  ];
  const release = (more: Json) => ({ release_name: 'p', description: 'd', os: 'ubuntu', version: 'p-1.0', ...more });
  const metadata = {
    ...METADATA,
    package_version: '5.0.0',
    releases: [
      release({ is_release: true, base_release_path: 'base.yaml' }),
      release({ is_release: true, graphs: [{ type: 'default', tasks: [base], metadata: { node_filter: '$.a =' } }] }),
    ],
    graphs: [{ type: 'default', tasks: [{ ...base, condition: yaql('$.(') }] }],
  };
  const { errors, warnings } = checkPackage(
    packageTree('p', [
      ['metadata.yaml', JSON.stringify(metadata)],
      ['base.yaml', `graphs:\n- {type: default, tasks: ${JSON.stringify(graph)}}\n`],
      ['deployment_tasks.yaml', JSON.stringify([{ ...base, condition: yaql('(') }])],
    ]),
  );
  const found = [...errors, ...warnings].filter(({ code }) => code === 'package.bad-yaql');
  expect(found.map(({ severity, file, line, path }) => `${severity} ${file}:${line} ${path}`)).toEqual([
    'error deployment_tasks.yaml:1 deployment_tasks[0].condition.yaql_exp',
    'error base.yaml:2 releases[0].graphs[0].tasks[0].condition.yaql_exp',
    'error base.yaml:2 releases[0].graphs[0].tasks[1].parameters.deep[1].yaql_exp',
    'error base.yaml:2 releases[0].graphs[0].tasks[2].requires.yaql_exp',
    'error metadata.yaml:1 releases[1].graphs[0].metadata.node_filter',
    // No tool ever checked the graphs of the plugin itself: their problems are only warnings.
    'warning metadata.yaml:1 graphs[0].tasks[0].condition.yaql_exp',
  ]);
  expect(found.slice(1, 3).map(({ message }) => message)).toEqual([
    expect.stringMatching(/^YaqlGrammarException: .* at line 1, column 8 of the expression$/),
    expect.stringMatching(/ at line 2, column 3 of the expression$/),
  ]);
  expect(found[2]!.hint).toContain('^');
});

it.each(FIELDS)('as %s an expression is evaluated as if its value had been written', (_field, given) => {
  const written = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(written);
    if (typeof value !== 'object' || value === null) return value;
    if ('yaql_exp' in value) return VALUES[value.yaql_exp as string] ?? value.yaql_exp;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, written(one)]));
  };
  const planned = (task: Json) =>
    resultOf({ tasks: [plain('first'), task, plain('last')], cluster: cluster({ '1': ['x'], '2': ['y'] }) });
  expect(planned(taskWith(given))).toEqual(planned(written(taskWith(given)) as Json));
});

/** The values of the expressions above, where they differ from their texts. */
const VALUES: Readonly<Record<string, unknown>> = {
  true: true,
  9: 9,
  1: 1,
  "'2.1.0'": '2.1.0',
  "'true'": 'true',
  '[x]': ['x'],
  '[first]': ['first'],
  '[last]': ['last'],
  '[deploy_changes]': ['deploy_changes'],
  '[nova_config]': ['nova_config'],
  '[{name => first, role => self}]': [{ name: 'first', role: 'self' }],
  '[{name => last, role => self}]': [{ name: 'last', role: 'self' }],
  '{name => first, role => self}': { name: 'first', role: 'self' },
  "{cmd => 'true', timeout => 9}": { cmd: 'true', timeout: 9 },
  '{type => one_by_one}': { type: 'one_by_one' },
};
