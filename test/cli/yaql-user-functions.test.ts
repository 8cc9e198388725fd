import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs the CLI as a user does, from the project's folder. */
function run(expression: string, helpers?: string): Promise<{ code: number; out: string; err: string }> {
  const env = { ...process.env, NO_COLOR: '1', ...(helpers === undefined ? {} : { SITEWRIGHT_YAQL_HELPERS: helpers }) };
  return new Promise((done) => {
    execFile(
      process.execPath,
      ['bin/sitewright', 'yaql', 'eval', expression],
      { cwd: root, env },
      (error, out, err) => {
        done({ code: error ? Number(error.code) : 0, out: out.trim(), err });
      },
    );
  });
}

beforeAll(
  () =>
    new Promise<void>((done, fail) => {
      execFile(process.execPath, ['scripts/build.mjs'], { cwd: root }, (error, _out, err) =>
        error ? fail(new Error(err)) : done(),
      );
    }),
  120_000,
);

const EXAMPLE = 'examples/yaql-helpers/helpers.mjs';

// promise: 2.8
it('functions of the configured module are there, also as methods', async () => {
  expect(await run("[fqdn(a), 'b'.fqdn('lab')]", EXAMPLE)).toMatchObject({
    code: 0,
    out: '[\n  "a.example.org",\n  "b.lab"\n]',
  });
});

it('a helper that throws gives an error with its place', async () => {
  const { code, err } = await run("1 + len('a.b'.fqdn())", EXAMPLE);
  expect(code).not.toBe(0);
  expect(err).toContain('HelperError');
  expect(err).toContain('a.b has a domain already');
  expect(err).toMatch(/line 1|1:\d+|\^/);
});

it('a module that cannot be loaded is named, with what to do', async () => {
  const { code, err } = await run('1', 'nowhere.mjs');
  expect(code).toBe(2);
  expect(err).toContain('nowhere.mjs cannot be loaded');
});

it('without a module the library is as it was', async () => {
  expect((await run('fqdn(a)')).err).toContain('NoFunctionRegisteredException');
});
