import { type ChildProcess, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { builtProgram } from '../rig/program.ts';
import { pythonPackage } from '../rig/published-tools.ts';

/** A client that others have written, from the Python package index. */
const VERSION = '2.1.1';
const found = await pythonPackage('pygls', VERSION);
const withClient = found.ok ? it : it.skip;
if (!found.ok) console.warn(`The language server is not tested with a published client: ${found.reason}`);

let root: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'sitewright-editor-')));
  for (const name of ['first-site', 'first-release', 'webstack'])
    await cp(fileURLToPath(new URL(`../../examples/${name}`, import.meta.url)), join(root, name), { recursive: true });
});
afterEach(() => {
  for (const child of children.splice(0)) child.stdin?.end();
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Published {
  readonly path: string;
  readonly diagnostics: readonly {
    readonly code: string;
    readonly message: string;
    readonly severity: number;
    readonly from: readonly [number, number];
    readonly to: readonly [number, number];
  }[];
}

async function editor() {
  if (!found.ok) throw new Error(found.reason);
  const script = fileURLToPath(new URL('../rig/lsp-client.py', import.meta.url));
  const child = spawn(found.python, [script, root, ...builtProgram('src/cli/main.ts'), 'language-server', '--stdio'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the editor ended');
    return JSON.parse(value);
  };
  expect(await next()).toEqual({ name: 'sitewright' });
  return {
    write: (verb: 'open' | 'change', file: string, text: string) =>
      child.stdin!.write(`${JSON.stringify([verb, join(root, file), text])}\n`),
    /** The next problems that are shown of a file. */
    async shown(file: string): Promise<Published['diagnostics']> {
      for (;;) {
        const { path, diagnostics }: Published = await next();
        if (path === join(root, file)) return diagnostics;
      }
    },
  };
}

const textOf = (file: string): Promise<string> => readFile(join(root, file), 'utf8');

withClient('shows problems across the documents of a site as they are typed, at their places', async () => {
  const { write, shown } = await editor();
  const strategy = await textOf('first-site/strategy.yaml');
  write('open', 'first-site/strategy.yaml', strategy);
  expect(await shown('first-site/strategy.yaml')).toEqual([]);
  const nodes = await textOf('first-site/nodes.yaml');
  // A change of one file is a problem of another.
  write('open', 'first-site/nodes.yaml', nodes);
  await shown('first-site/nodes.yaml');
  const broken = strategy.replace(/depends_on: .*/, 'depends_on: [nothing]');
  expect(broken).not.toBe(strategy);
  write('change', 'first-site/strategy.yaml', broken);
  const [problem] = await shown('first-site/strategy.yaml');
  const lines = broken.split('\n');
  expect(problem).toMatchObject({ severity: 1, code: 'strategy.unknown-dependency' });
  expect(lines[problem!.from[0]]!.slice(problem!.from[1], problem!.to[1])).toBe('nothing');
  write('change', 'first-site/strategy.yaml', strategy);
  expect(await shown('first-site/strategy.yaml')).toEqual([]);
});

withClient('shows in one document what a change of another, which is not saved, does to it', async () => {
  const { write, shown } = await editor();
  const nodes = await textOf('first-site/nodes.yaml');
  write('open', 'first-site/nodes.yaml', nodes.replaceAll('tags: [worker]', 'tags: [other]'));
  // Nobody has opened this one.
  expect(await shown('first-site/strategy.yaml')).toContainEqual(
    expect.objectContaining({ code: 'strategy.unknown-tag', from: [19, 22], to: [19, 28] }),
  );
  write('change', 'first-site/nodes.yaml', nodes);
  expect(await shown('first-site/strategy.yaml')).toEqual([]);
});

withClient('checks a file of a package with its package', async () => {
  const { write, shown } = await editor();
  const tags = await textOf('first-release/tags.yaml');
  write('open', 'first-release/tags.yaml', tags.replace(/^spare:\n.*$/m, ''));
  const [problem] = await shown('first-release/roles.yaml');
  expect(problem).toMatchObject({ severity: 2, message: expect.stringContaining("the tag 'spare' of role 'spare'") });
  write('change', 'first-release/tags.yaml', tags);
  expect(await shown('first-release/roles.yaml')).toEqual([]);
});

withClient('leaves files alone that are no documents of ours', async () => {
  const { write, shown } = await editor();
  write('open', 'compose.yaml', 'services: {}\nbroken: [\n');
  write('open', 'first-site/strategy.yaml', await textOf('first-site/strategy.yaml'));
  // Its problems would have come first.
  expect(await shown('first-site/strategy.yaml')).toEqual([]);
});
