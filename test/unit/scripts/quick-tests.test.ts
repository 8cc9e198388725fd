import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quickTests } from '../../../scripts/quick-tests.mjs';

let root = '';
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], { cwd: root });
const commit = () => {
  git('add', '-A');
  git('commit', '-qm', 'x');
};
const quick = () => {
  const said: string[] = [];
  return { files: quickTests(root, (line) => said.push(line)), said: said.join('\n') };
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sitewright-quick-'));
  git('init', '-q', '-b', 'main');
  write('test/durations.json', '{}');
  for (const folder of ['workflows', 'activities', 'worker', 'scripts']) write(`${folder}/x.ts`, '');
  write('src/low.ts', 'export const low = 1;');
  write('src/high.ts', `import { low } from './low.ts';`);
  write('src/other.ts', '');
  write('packages/one/package.json', JSON.stringify({ exports: { '.': './src/index.ts', './part': './src/part.ts' } }));
  for (const file of ['index', 'part']) write(`packages/one/src/${file}.ts`, '');
  write('test/unit/high.test.ts', `import '../../src/high.ts';`);
  write('test/unit/low.test.ts', `import '../../src/low.ts';`);
  write('test/unit/other.test.ts', `import '../../src/other.ts';`);
  write('test/e2e/low.test.ts', `import '../../src/low.ts';`);
  write('test/unit/part.test.ts', `import '@sitewright/one/part';`);
  write('packages/one/test/index.test.ts', `import '../src/index.ts';`);
  write('test/architecture/all.test.ts', '');
  commit();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('the quick tests', () => {
  it('are those that depend on changes, the nearest first', () => {
    write('src/low.ts', 'export const low = 2;');
    expect(quick().files).toEqual(['test/unit/low.test.ts', 'test/architecture/all.test.ts', 'test/unit/high.test.ts']);
  });

  it('of a package are its own, and those that import it by its name', () => {
    write('packages/one/src/index.ts', 'export {};');
    expect(quick().files).toEqual(['packages/one/test/index.test.ts', 'test/architecture/all.test.ts']);
    commit();
    write('packages/one/src/part.ts', 'export {};');
    expect(quick().files).toEqual(['test/unit/part.test.ts', 'test/architecture/all.test.ts']);
  });

  it('of the page are those in a browser, though no import leads there', () => {
    write('src/ui/assets/main.tsx', '');
    write('test/ui/page.test.ts', '');
    expect(quick().files).toContain('test/ui/page.test.ts');
    commit();
    write('src/ui/assets/page.css', 'body {}');
    expect(quick().files).toContain('test/ui/page.test.ts');
  });

  it('compare with the branch point, including uncommitted and new files', () => {
    git('switch', '-qc', 'branch');
    write('src/low.ts', 'export const low = 2;');
    commit();
    write('test/unit/new.test.ts', '');
    const [first, ...others] = quick().files;
    expect(first).toBe('test/unit/new.test.ts');
    expect(others).toContain('test/unit/low.test.ts');
  });

  it('are those of the last commit if nothing has changed since', () => {
    write('src/other.ts', 'export {};');
    commit();
    expect(quick().files).toContain('test/unit/other.test.ts');
    expect(quick().files).not.toContain('test/unit/low.test.ts');
  });

  it('omit files that would take too long, and report that', () => {
    write('src/low.ts', 'export const low = 2;');
    write('test/durations.json', JSON.stringify({ 'test/unit/low.test.ts': 500 }));
    const { files, said } = quick();
    expect(files).toEqual(['test/architecture/all.test.ts', 'test/unit/high.test.ts']);
    expect(said).toContain('1 would take too long');
  });
});
