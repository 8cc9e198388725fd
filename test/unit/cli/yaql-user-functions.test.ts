import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { beforeAll, expect, it } from 'vitest';
import { spec } from '../specification/spec.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Runs the CLI as a user does, from the project's folder. */
const run = (expression: string, helpers?: string) => runCommand(['yaql', 'eval', expression], helpers);

function runCommand(args: readonly string[], helpers?: string): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, NO_COLOR: '1', ...(helpers === undefined ? {} : { SITEWRIGHT_YAQL_HELPERS: helpers }) };
  return new Promise((done) => {
    execFile(process.execPath, ['bin/sitewright', ...args], { cwd: root, env }, (error, out, err) => {
      done({ code: error ? Number(error.code) : 0, out: out.trim(), err });
    });
  });
}

beforeAll(
  () =>
    new Promise<void>((done, fail) => {
      execFile(process.execPath, ['scripts/build.ts'], { cwd: root }, (error, _out, err) =>
        error ? fail(new Error(err)) : done(),
      );
    }),
);

const EXAMPLE = 'examples/yaql-helpers/helpers.mjs';

it('functions of the configured module can be called, also as methods', async () => {
  expect(await run("[fqdn(a), 'b'.fqdn('lab')]", EXAMPLE)).toMatchObject({
    code: 0,
    out: '[\n  "a.example.org",\n  "b.lab"\n]',
  });
});

it.each([
  ['helpers.mjs', (text: string) => text],
  ['helpers.ts', (text: string) => text],
  [
    'helpers.cjs',
    (text: string) =>
      text
        .replace(/import (\{.*\}) from ('.*');/, 'const $1 = require($2);')
        .replace('export const helpers =', 'exports.helpers ='),
  ],
])('a module is loaded from anywhere, linked or not, and through a module of its own: %s', async (name, as) => {
  const folder = mkdtempSync(join(tmpdir(), 'elsewhere-'));
  try {
    writeFileSync(join(folder, name), as(readFileSync(join(root, EXAMPLE), 'utf8')));
    symlinkSync(name, join(folder, `link-${name}`));
    writeFileSync(join(folder, 'again.mjs'), `export { helpers } from './${name}';\n`);
    for (const file of [name, `link-${name}`, 'again.mjs'])
      expect(await run('fqdn(a)', join(folder, file))).toMatchObject({ code: 0, out: '"a.example.org"' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('functions accept and return values of the language: lists, sets, dicts, expressions', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'helpers-'));
  try {
    const module = join(folder, 'values.mjs');
    writeFileSync(
      module,
      `import { defineFunction, Dict, p, sequenceItems } from 'sitewright/yaql';
const named = (name, parameters, implementation) =>
  defineFunction({ name, call: 'function', parameters, documentation: 'A helper.', implementation });
export const helpers = [
  named('second', [p.iterable('of')], (_context, of) => sequenceItems(of)[1]),
  named('keyed', [p.string('key')], (_context, key) => Dict.of([[key, 1]], false)),
  named('twiceBy', [p.lambda('by')], (_context, by) => [by.call1(1n), by.call1(2n)]),
];
`,
    );
    const { code, out, err } = await run(
      '[second([3, 4]), keyed(a).keys().toList(), keyed(b).b, twiceBy($ * 2)]',
      module,
    );
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toEqual([4, ['a'], 1, [2, 4]]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('offline graph commands also use the configured functions', async () => {
  // The task of the specification, its two expressions in their places.
  const expressions = ["fqdn($.name) = 'n.example.org'", 'fqdn($.name)'];
  const text = spec('computed-task.txt').replaceAll(
    'yaql_exp: {some yaql expression}',
    () => `{yaql_exp: ${JSON.stringify(expressions.shift())}}`,
  );
  const task = { ...(load(text) as object[])[0], type: 'shell', version: '2.1.0', tags: '*' };
  const input = {
    tasks: [task],
    cluster: {
      resolver: [{ uid: '1', tags: ['x'] }],
      deployment_info: { common: { name: 'n' }, nodes: { 1: { uid: '1' }, master: {}, null: {} } },
    },
  };
  const folder = mkdtempSync(join(tmpdir(), 'graph-'));
  try {
    const file = join(folder, 'graph.json');
    writeFileSync(file, JSON.stringify(input));
    for (const command of ['check', 'plan', 'serialize']) {
      const { code, out, err } = await runCommand(['graph', command, '--input', file], EXAMPLE);
      expect(code, err).toBe(0);
      if (command === 'serialize') expect(out).toContain('n.example.org');
    }
    expect((await runCommand(['graph', 'plan', '--input', file])).err).toContain('fqdn');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('a helper that throws is reported with its place', async () => {
  const { code, err } = await run("1 + len('a.b'.fqdn())", EXAMPLE);
  expect(code).not.toBe(0);
  expect(err).toContain('HelperError');
  expect(err).toContain('a.b has a domain already');
  expect(err).toMatch(/line 1|1:\d+|\^/);
});

it('a module that cannot be loaded is named, with the next step', async () => {
  const { code, err } = await run('1', 'nowhere.mjs');
  expect(code).toBe(2);
  expect(err).toContain('nowhere.mjs cannot be loaded');
});

it.each([
  ['yaql', 'eval', '1'],
  ['yaql', 'functions', 'len'],
  ['graph', 'plan', '--input', 'examples/graphs/none.yaml'],
])('a module without helpers is named, with the next step: %s %s', async (...args) => {
  const folder = mkdtempSync(join(tmpdir(), 'helpers-'));
  try {
    const module = join(folder, 'empty.mjs');
    writeFileSync(module, 'export const other = 1;\n');
    const input = join(folder, 'graph.json');
    writeFileSync(
      input,
      JSON.stringify({ tasks: [], cluster: { resolver: [], deployment_info: { common: {}, nodes: {} } } }),
    );
    const { code, err } = await runCommand(
      args.map((word) => (word.startsWith('examples/') ? input : word)),
      module,
    );
    expect(code, err).toBe(2);
    expect(err).toContain('empty.mjs cannot be loaded: A helper module exports `helpers`');
    expect(err).toContain('Correct the module, or the setting yaql.helpers.');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it('without a module the library is unchanged', async () => {
  expect((await run('fqdn(a)')).err).toContain('NoFunctionRegisteredException');
});
