import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packageTemplate } from '../../../src/packages/index.ts';
import { cli } from '../cli/recording-terminal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-package-graphs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A package that passes, with these tasks in its default graph. */
function packageWith(tasks: string, kind: 'release' | 'extension' = 'release'): string {
  for (const [name, { content }] of packageTemplate('mine', kind).files) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content ?? '');
  }
  const path = join(
    folder,
    kind === 'release' ? 'release/graphs/deployment/20-database.yaml' : 'deployment_tasks.yaml',
  );
  writeFileSync(path, `${readFileSync(path, 'utf8').trimEnd()}\n${tasks}`);
  return folder;
}

const task = (id: string, more: string) =>
  `- {id: ${id}, type: shell, version: 2.1.0, parameters: {cmd: 'true'}, ${more}}\n`;
async function checked(path: string) {
  const { code, out } = await cli(['package', 'check', path, '-f', 'json']);
  const { verdict, errors, warnings } = JSON.parse(out) as Record<
    'errors' | 'warnings',
    { code: string; message: string; hint: string; file: string; line: number }[]
  > & { verdict: string };
  return { code, verdict, errors, warnings };
}

describe('package check', () => {
  it('finds nothing in what package create writes', async () => {
    for (const kind of ['release', 'extension'] as const) {
      const { verdict, errors, warnings } = await checked(packageWith('', kind));
      expect([verdict, errors]).toEqual(['valid', []]);
      expect(warnings.filter(({ code }) => code.startsWith('graph.') || code === 'package.unknown-tag')).toEqual([]);
    }
  });

  it('finds the cycle that graph check finds, and the package is invalid', async () => {
    const path = packageWith(
      task('a1', 'tags: [controller], requires: [b1]') + task('b1', 'tags: [controller], requires: [a1]'),
    );
    const { code, verdict, errors } = await checked(path);
    expect([code, verdict]).toEqual([1, 'invalid']);
    expect(errors).toMatchObject([{ code: 'graph.cycle', line: expect.any(Number) }]);
    const built = await cli(['package', 'build', path, '-o', folder]);
    expect(built.code).toBe(1);
  });

  it.each([
    'requires: [a11]',
    'required_for: [a11]',
    'cross-depends: [{name: a11}]',
    'cross-depended-by: [{name: a11}]',
  ])('warns of a dependency that names nothing: %s', async (dependency) => {
    const { verdict, warnings } = await checked(
      packageWith(task('a1', 'tags: [controller]') + task('b1', `tags: [controller], ${dependency}`)),
    );
    expect(verdict).toBe('valid');
    expect(warnings).toContainEqual(
      expect.objectContaining({
        code: 'graph.unknown-dependency',
        message: "no task is named 'a11'; referenced by b1",
        hint: "Did you mean 'a1'?",
        file: 'release/graphs/deployment/20-database.yaml',
      }),
    );
  });

  it.each(['tags', 'roles', 'groups'])(
    'warns of a name in %s that nothing provides, once, with its users',
    async (field) => {
      const { warnings } = await checked(
        packageWith(task('a1', `${field}: [contraller]`) + task('b1', `${field}: [contraller, primary-nothing]`)),
      );
      const found = warnings.filter(({ code }) => code === 'package.unknown-tag');
      expect(found).toMatchObject([
        {
          message: "no role and no tag of the package is named 'contraller'; used by a1, b1",
          file: 'release/graphs/deployment/20-database.yaml',
        },
        { message: "no role and no tag of the package is named 'primary-nothing'; used by b1" },
      ]);
      expect(found[0]!.hint).toBe("Did you mean 'controller'?");
    },
  );

  it('of a plugin reports what is nearly its own, and nothing that a release may have', async () => {
    const { verdict, warnings } = await checked(
      packageWith(
        task('mine1', 'roles: [mine], requires: [deploy_end]') +
          task('mine2', 'roles: [controller], requires: [mine11]'),
        'extension',
      ),
    );
    expect(verdict).toBe('valid');
    expect(warnings.filter(({ code }) => code === 'graph.unknown-dependency')).toMatchObject([
      { message: "no task is named 'mine11'; referenced by mine2" },
    ]);
    expect(
      warnings.filter(({ code, message }) => code === 'package.unknown-tag' && message.includes('controller')),
    ).toEqual([]);
  });

  it.each(['release', 'extension'] as const)(
    'reads the checks of a %s, and places what is wrong in them',
    async (kind) => {
      const path = packageWith('', kind);
      const metadata = join(path, 'metadata.yaml');
      const written = readFileSync(metadata, 'utf8');
      const indent = kind === 'release' ? '    ' : '';
      writeFileSync(metadata, `${written.trimEnd()}\n${indent}checks_path: checks.yaml\n`);
      const check = (name: string, data: string) =>
        `- {schema: sitewright/Check/v1, metadata: {name: ${name}}, data: {${data}}}\n`;
      writeFileSync(join(path, 'checks.yaml'), check('up', 'command: {cmd: systemctl is-active example}'));
      expect(await checked(path)).toMatchObject({ verdict: 'valid', errors: [] });
      const wrong = check('up', 'tcp: {host: localhost}') + check('up', 'command: {cmd: "true"}, from: worker');
      writeFileSync(join(path, 'checks.yaml'), wrong);
      const places = async () => (await checked(path)).errors.map(({ code, file, line }) => [code, file, line]);
      expect(await places()).toEqual([
        ['document.missing-key', 'checks.yaml', 1],
        ['document.wrong-value', 'checks.yaml', 2],
      ]);
      writeFileSync(join(path, 'checks.yaml'), check('up', 'command: {cmd: "true"}').repeat(2));
      expect(await places()).toEqual([['document.wrong-value', 'checks.yaml', 2]]);
    },
  );
});
