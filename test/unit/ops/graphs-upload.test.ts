import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseYaml } from '../../../src/documents/index.ts';
import { checkGraphUpload, checkTaskList, normaliseTask } from '../../../src/graph/index.ts';

const data = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../data/${path}`, import.meta.url), 'utf8'));

const found = (body: unknown) =>
  checkGraphUpload(body).problems.map(({ severity, path, message }) => `${severity} ${path ?? ''}: ${message}`);

const task = (more: object) => ({ tasks: [{ id: 'x', type: 'puppet', ...more }] });

describe('a graph that is uploaded', () => {
  it('may be empty, and may have every field', () => {
    expect(found({})).toEqual([]);
    const { upload, problems } = checkGraphUpload({
      name: 'g',
      node_filter: "'controller' in $.roles",
      on_success: { node_attributes: { status: 'ready' } },
      on_error: { node_attributes: { status: 'error', error_type: 'deploy' } },
      on_stop: {},
      tasks: [{ id: 'a', type: 'noop', tags: ['controller'] }],
    });
    expect(problems).toEqual([]);
    expect(upload).toMatchObject({
      name: 'g',
      on_stop: {},
      tasks: [{ id: 'a', tags: ['controller'], version: '1.0.0' }],
    });
  });

  it.each([
    ['requires', ['/(a+)+$/'], 'tasks[1].requires[0]'],
    ['cross-depends', [{ name: '/(a+)+$/' }], 'cross'],
  ])('with a pattern in %s that takes too long to match is refused, with its place', (field, value, place) => {
    const named = { id: `${'a'.repeat(60)}b`, type: 'puppet' };
    const { problems } = checkGraphUpload({ tasks: [named, { id: 'x', type: 'puppet', [field]: value }] });
    const bad = problems.filter(({ code }) => code === 'graph.bad-regex');
    expect(bad.length).toBeGreaterThan(0);
    expect(bad[0]).toMatchObject({ severity: 'error', path: expect.stringContaining(place) });
  });

  it('can be any real graph of the library, with warnings for undefined dependencies', () => {
    const { problems, upload } = checkTaskList(data('fuel/tasks.raw.json'));
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(upload.tasks).toHaveLength(204);
    const extra = data('fuel/graphs.extra.json') as Record<string, unknown>;
    const undefinedIn = (graph: unknown) => found(graph).filter((one) => !one.includes('deprecated'));
    expect(Object.entries(extra).map(([type, graph]) => [type, undefinedIn(graph)])).toEqual([
      ['deletion', []],
      [
        'net-verification',
        [
          "warning tasks[6].required_for[0]: no task is named 'copy_cluster_configuration'; referenced by v_upload_cluster_configuration",
        ],
      ],
      [
        'provision',
        ["warning tasks[9].required_for[0]: no task is named 'set_status_provisioned'; referenced by node_reboot"],
      ],
    ]);
  });

  it('is refused with every mistake and its place', () => {
    expect(
      found({
        nmae: 1,
        name: 5,
        node_filter: '$.',
        on_success: { node_attributes: { status: 'zz', pending_deletion: 'no' } },
        on_stop: { node: 1 },
        tasks: [{ type: 'bogus' }, 7],
      }),
    ).toEqual([
      "error nmae: a graph has no field 'nmae'",
      'error name: the name must be text, not 5',
      expect.stringMatching(/^error node_filter: YaqlGrammarException: /),
      expect.stringMatching(
        /^error on_success\.node_attributes\.status: "zz" is not a status of a node: use one of discover, /,
      ),
      expect.stringMatching(/^error on_success\.node_attributes\.pending_deletion: .*, not text$/),
      "error on_stop.node: there is no field 'node' here",
      'error tasks[0].id: the task has no id',
      'error tasks[0].type: unknown task type "bogus"',
      'error tasks[1]: a task must be a mapping, not a number',
    ]);
  });

  it.each<[string, object, RegExp]>([
    ['a version of two numbers', { version: '2.0' }, /version: "2.0" is not a version/],
    ['a version with letters, which the pattern let pass', { version: '2a0b0' }, /version: "2a0b0" is not a version/],
    ['a strategy that is none', { parameters: { strategy: { type: 'rolling' } } }, /strategy\.type: "rolling"/],
    ['a strategy without type', { parameters: { strategy: { amount: 1 } } }, /strategy\.type: null is not a strategy/],
    ['an amount as text', { parameters: { strategy: { type: 'parallel', amount: '3' } } }, /amount must be a whole/],
    ['an amount below 0', { parameters: { strategy: { type: 'parallel', amount: -2 } } }, /amount must be a whole/],
    ['tags that are a number', { tags: 5 }, /tags: tags must be a name or a list of names, not a number/],
    ['groups that are a mapping', { groups: { a: 1 } }, /groups: groups must be a name or a list of names/],
    ['fail_on_error as text', { fail_on_error: 'false' }, /fail_on_error: fail_on_error .*, not "false"/],
    ['refresh_on as text', { refresh_on: 'nova_config' }, /refresh_on must be a list of names, not text/],
    ['parameters that are null', { parameters: null }, /parameters: parameters is null/],
    ['requires as text', { requires: 'a' }, /requires must be a list/],
    [
      'a relation without name',
      { 'cross-depends': [{ role: 'self' }] },
      /cross-depends\[0\]: the relation has no name/,
    ],
    ['an empty relation', { cross_depends: [{}] }, /cross_depends\[0\]: the relation has no name/],
    ['a bad policy', { 'cross-depends': [{ name: 'x', policy: 'some' }] }, /policy: "some" is not a policy/],
    ['a bad policy under the other spelling', { cross_depended_by: [{ name: 'x', policy: 'some' }] }, /not a policy/],
    ['a bad regex in requires', { requires: ['/(/'] }, /requires\[0\]/],
    ['a bad regex in a role', { role: ['/[/'] }, /role\[0\]/],
    ['bad YAQL in a condition', { condition: { yaql_exp: '$.a +' } }, /condition/],
    ['bad YAQL deep in parameters', { parameters: { a: [{ yaql_exp: 'f(' }] } }, /parameters\.a\[0\]/],
    ['bad YAQL in an unknown field', { test_pre: { yaql_exp: ')' } }, /test_pre/],
    ['a name that is not text', { id: 5 }, /id must be text/],
  ])('is refused for %s', (_, more, message) => {
    const errors = checkGraphUpload(task(more)).problems.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ path, message }) => `${path}: ${message}`)).toEqual([expect.stringMatching(message)]);
  });

  it.each<[string, object, string, string]>([
    ['a relation', { 'cross-depends': [{ name: 'x', roles: ['web'] }] }, 'roles', "Did you mean 'role'?"],
    [
      'a relation, of its policy',
      { cross_depended_by: [{ name: 'x', polcy: 'any' }] },
      'polcy',
      "Did you mean 'policy'?",
    ],
    ['a strategy', { parameters: { strategy: { type: 'parallel', ammount: 2 } } }, 'ammount', "Did you mean 'amount'?"],
    [
      'a strategy, nothing like its own',
      { parameters: { strategy: { type: 'parallel', x: 2 } } },
      'x',
      'Known: type, amount.',
    ],
  ])('warns of a key that nothing reads in %s', (_, more, key, hint) => {
    const { problems } = checkGraphUpload(task(more));
    expect(problems.filter(({ code }) => code === 'graph.unknown-key')).toMatchObject([
      { severity: 'warning', path: expect.stringContaining(`.${key}`), hint },
    ]);
  });

  it.each(Object.getOwnPropertyNames(Object.prototype))(
    'is refused for a task named %s, or passes over a dependency of that name',
    (id) => {
      const named = (name: string, more: object = {}) => ({
        id: name,
        type: 'shell',
        version: '2.1.0',
        roles: ['web'],
        ...more,
      });
      const problems = found({
        tasks: [named('t', { requires: ['/t.*/', id], required_for: [id] }), named(id, { requires: ['t'] })],
      });
      expect(problems.filter((problem) => problem.startsWith('error tasks[1].id'))).toHaveLength(1);
      expect(() => found({ tasks: [named('t', { requires: [id], required_for: [id] })] })).not.toThrow();
    },
  );

  it('is refused for duplicate ids, all named, sorted', () => {
    const tasks = ['y', 'x', 'y', 'x', 'z'].map((id) => ({ id, type: 'noop' }));
    expect(found({ tasks })).toEqual(['error tasks: Tasks duplication found: x, y']);
  });

  it('is refused for a cycle, named in full', () => {
    const tasks = [
      { id: 'a', type: 'noop', requires: ['b'] },
      { id: 'b', type: 'noop', required_for: ['c'], requires: ['c'] },
      { id: 'c', type: 'noop' },
    ];
    expect(found({ tasks })).toEqual([expect.stringMatching(/^error tasks\[1\]\.requires\[0\]: .*: b -> c -> b$/)]);
  });

  it('is accepted from every recorded plugin, with valid parameters', () => {
    const plugins = new URL('../../data/plugins/', import.meta.url);
    const files = readdirSync(plugins)
      .map((name) => new URL(`${name}/deployment_tasks.yaml`, plugins))
      .filter((file) => existsSync(file));
    expect(files.length).toBeGreaterThan(15);
    for (const file of files) {
      const [{ value: tasks } = { value: undefined }] = parseYaml(readFileSync(file, 'utf8')).documents;
      const { problems } = checkGraphUpload({ tasks });
      const wrong = problems.filter(({ severity, code }) => severity === 'error' || code === 'graph.bad-parameters');
      expect(wrong, file.pathname).toEqual([]);
    }
  });

  it('is refused for a cycle through tasks that have other mistakes', () => {
    const tasks = [
      { id: 'a', type: 'noop', requires: ['b'], version: 7 },
      { id: 'b', type: 'bogus', requires: ['a', 'gone'] },
    ];
    expect(found({ tasks })).toEqual(
      expect.arrayContaining([
        expect.stringContaining(': a -> b -> a'),
        expect.stringContaining("no task is named 'gone'"),
      ]),
    );
  });

  it('can have a null role in a relation, which means the sync node', () => {
    expect(
      found({
        tasks: [
          { id: 'a', type: 'stage' },
          { id: 'x', type: 'noop', 'cross-depends': [{ name: 'a', role: null }] },
        ],
      }),
    ).toEqual([]);
  });

  it('gets warnings for undefined names, in its own layer or below, within and across nodes', () => {
    const body = {
      tasks: [
        { id: 'prepare', type: 'noop', requires: ['prepair', 'base', 'elsewhere'] },
        { id: 'y', type: 'noop', 'cross-depends': [{ name: 'gone' }] },
      ],
    };
    const below = [normaliseTask({ id: 'base', type: 'stage' })];
    const { problems } = checkGraphUpload(body, { below, known: new Set(['elsewhere']) });
    expect(problems.map(({ severity, path, message, hint }) => [severity, path, message, hint])).toEqual([
      [
        'warning',
        'tasks[0].requires[0]',
        "no task is named 'prepair'; referenced by prepare",
        "Did you mean 'prepare'?",
      ],
      ['warning', 'tasks[1].cross-depends[0].name', "no task is named 'gone'; referenced by y", expect.any(String)],
    ]);
  });

  it('is refused when it closes a cycle with the layers below, but not for an existing one', () => {
    const below = [
      { id: 'p', type: 'noop', requires: ['q'] },
      { id: 'q', type: 'noop', requires: ['p'] },
      { id: 'r', type: 'noop', requires: ['mine'] },
    ].map(normaliseTask);
    const { problems } = checkGraphUpload({ tasks: [{ id: 'mine', type: 'noop', requires: ['r'] }] }, { below });
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('mine -> r -> mine')]);
    expect(checkGraphUpload({ tasks: [{ id: 'mine', type: 'noop' }] }, { below }).problems).toEqual([]);
  });
});
