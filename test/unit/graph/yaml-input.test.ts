import { describe, expect, it } from 'vitest';
import {
  checkGraph,
  planGraph,
  readPlanText,
  readSource,
  readTasks,
  serializedText,
} from '../../../src/graph/index.ts';

const JSON_INPUT = {
  tasks: [
    {
      id: 'a',
      type: 'shell',
      version: '2.1.0',
      roles: ['web'],
      parameters: { cmd: 'true', timeout: 5, interval: 0.5 },
    },
    { id: 'b', type: 'shell', version: '2.1.0', roles: '*', requires: ['a'], parameters: { cmd: { yaql_exp: '$.x' } } },
  ],
  cluster: {
    resolver: [{ uid: '1', tags: ['web'] }],
    deployment_info: { common: { x: 'date' }, nodes: { '1': { uid: '1' } } },
  },
};

const YAML_INPUT = `
tasks:
  - id: a
    type: shell
    version: 2.1.0
    roles: [web]
    parameters: &limits {cmd: 'true', timeout: 5, interval: 0.5}
  - {id: b, type: shell, version: 2.1.0, roles: '*', requires: [a], parameters: {cmd: {yaql_exp: $.x}}}
cluster:
  resolver:
    - {uid: '1', tags: [web]}
  deployment_info:
    common: {x: date}
    nodes:
      1: {uid: '1'}
`;

const serialized = (text: string, file: string): string => {
  const read = readPlanText(text, file);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const planned = planGraph(read.input);
  if (!planned.ok) throw new Error(JSON.stringify(planned.problems));
  return [...serializedText(planned.plan)].join('');
};

describe('a graph as YAML', () => {
  it('is planned like the same graph in JSON', () => {
    expect(serialized(YAML_INPUT, 'input.yaml')).toBe(serialized(JSON.stringify(JSON_INPUT), 'input.json'));
  });

  it('has scalars read as by PyYAML', () => {
    const read = readSource('- {id: on, version: 2.10, mode: 0644, when: 2020-01-02, f: 1.0, n: ~}', 'tasks.yaml');
    expect(read.ok && JSON.parse(JSON.stringify(read.source.value))).toEqual([
      { id: true, version: 2.1, mode: 420, when: expect.stringMatching(/^2020-01-02/), f: expect.anything(), n: null },
    ]);
  });

  it('has problems with line and column', () => {
    const read = readPlanText(YAML_INPUT.replace("roles: '*'", 'roles: "/(/"'), 'input.yaml');
    const planned = read.ok ? planGraph(read.input) : read;
    expect(planned.ok).toBe(false);
    const source = readSource(YAML_INPUT, 'input.yaml');
    expect(source.ok && source.source.place(['tasks', 1, 'requires', 0])).toMatchObject({ line: 8, column: 65 });
    expect(source.ok && source.source.place(['cluster', 'deployment_info', 'nodes', '1', 'uid'])).toMatchObject({
      line: 15,
      column: 16,
    });
  });

  it('has syntax errors reported with their place, and tags refused', () => {
    const broken = readSource('- id: a\n  type: [shell\n', 'tasks.yaml');
    expect(!broken.ok && broken.problems[0]).toMatchObject({ severity: 'error', file: 'tasks.yaml' });
    const tagged = readSource('- id: !!python/object:os.system a', 'tasks.yaml');
    expect(!tagged.ok && tagged.problems[0]).toMatchObject({ line: 1 });
  });

  it('is read as JSON if it begins like JSON, unless the file name differs', () => {
    const flow = '[{id: a, type: skipped}]';
    expect(readSource(flow, '-').ok).toBe(false);
    const read = readSource(flow, 'tasks.yaml');
    expect(read.ok && readTasks(read.source.value).tasks.map(({ task }) => task.id)).toEqual(['a']);
  });
});

describe('unused keys', () => {
  it('are refused if they are near misses of known keys, with their places', () => {
    const { cluster, tasks } = JSON_INPUT;
    const typo = readPlanText(
      JSON.stringify({ tasks, cluster, old_sate: {}, selected_task: ['a'] }, null, 1),
      'x.json',
    );
    const { problems } = typo;
    expect(typo.ok).toBe(false);
    expect(problems.map(({ severity, path, hint }) => ({ severity, path, hint }))).toEqual([
      { severity: 'error', path: 'old_sate', hint: "Did you mean 'old_state'?" },
      { severity: 'error', path: 'selected_task', hint: "Did you mean 'selected_tasks'?" },
    ]);
    for (const { line } of problems) expect(line).toBeGreaterThan(1);
  });

  it('are only reported in a recorded case, which may have extra data', () => {
    const read = readPlanText(JSON.stringify({ ...JSON_INPUT, expected: {}, about: 'x' }), 'x.json');
    expect(read.ok).toBe(true);
    expect(read.problems.map(({ severity, code, path }) => [severity, code, path])).toEqual([
      ['warning', 'graph.unknown-key', 'expected'],
      ['warning', 'graph.unknown-key', 'about'],
    ]);
  });
});

it('a group that lists an undefined task is reported with the effect, as is an undefined dependency', () => {
  const tasks = [
    { id: 'a', type: 'shell', version: '2.1.0', tags: '*', requires: ['gone'] },
    { id: 'g', type: 'group', tags: ['web'], tasks: ['a', 'nope'] },
  ];
  const { tasks: merged } = readTasks(tasks);
  const found = checkGraph(merged).map(({ severity, message, hint }) => [severity, message, hint]);
  expect(found).toEqual([
    ['warning', expect.stringContaining("'gone'"), 'Correct the name; the dependency has no effect.'],
    ['warning', expect.stringContaining("'nope'"), expect.stringMatching(/remove it from the group: no run/)],
  ]);
});

it('role and roles are deprecated in favour of tags: one warning for all tasks', () => {
  const tasks = ['role', 'roles', 'tags', 'groups'].map((field) => ({ id: field, type: 'shell', [field]: ['web'] }));
  const found = checkGraph(readTasks(tasks).tasks).filter(({ code }) => code === 'graph.deprecated-roles');
  expect(found).toMatchObject([
    {
      severity: 'warning',
      path: '[0]',
      message: "'role' and 'roles' are deprecated; used by role, roles",
      hint: "Write 'tags' instead: every node has the names of its roles as tags.",
    },
  ]);
});
