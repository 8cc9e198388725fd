import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemProblem } from '../../../src/cli/shell/run-cli.ts';
import { holdNodeFolders } from '../../../worker/parts/node-folders.ts';
import { cli } from './recording-terminal.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-problem-'));
  writeFileSync(join(folder, 'file'), '');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('an error of the operating system', () => {
  it.each([
    ['init', 'site'],
    ['schemas', 'export', '-o'],
  ])('is a problem with a next step, and no defect: %s', async (...args) => {
    const { code, err } = await cli([...args, join(folder, 'file', 'x')], { cwd: folder });
    expect(code).toBe(2);
    expect(err).toContain(`${join(folder, 'file', 'x')}: a part of its path is not a folder (ENOTDIR)`);
    expect(err).toContain('hint: Correct its path.');
    expect(err).not.toContain('defect');
  });

  it.each(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EADDRINUSE', 'EMFILE'])('has a hint: %s', (code) => {
    const problem = systemProblem(Object.assign(new Error(code), { code, path: '/x' }));
    expect(problem?.message).toMatch(/^\/x: .+ \(E[A-Z]+\)$/);
    expect(problem?.hint).toMatch(/^[A-Z].+\.$/);
  });

  it('is told from a defect of ours', () => {
    expect(systemProblem(new TypeError('x is not a function'))).toBeUndefined();
    expect(systemProblem(Object.assign(new Error(), { code: 'ERR_INVALID_ARG_TYPE' }))).toBeUndefined();
  });
});

/** Commands that read a file of text, with the words that name it. */
const READERS = [
  ['graph', 'check', 'FILE'],
  ['graph', 'plan', '--input', 'FILE'],
  ['graph', 'serialize', '--input', 'FILE'],
  ['graph', 'simulate', '--input', 'FILE'],
  ['graph', 'upload', '-e', '1', '-t', 'x', '--file', 'FILE'],
  ['graph', 'execute', 'FILE', '--local'],
  ['sequence', 'upload', '--release', '1', '--file', 'FILE'],
  ['strategy', 'simulate', '--input', 'FILE'],
  ['cluster', 'settings', '1', '--upload', 'FILE'],
  ['yaql', 'eval', '$', '--data', 'FILE'],
  ['yaql', 'eval', '--batch', 'FILE'],
  ['site', 'list', '--token-file', 'FILE'],
  ['role', 'create', '-e', '1', '--name', 'text', '-d', 'DIR', '--format', 'yaml'],
] as const;

describe.each(READERS.map((words) => [words.join(' '), words] as const))('%s', (_, words) => {
  const run = (file: string) => {
    const path = join(folder, 'clusters_1', file);
    const named = words.map((word) => word.replace('FILE', path).replace('DIR', folder).replace('text', file));
    return cli(
      named.map((word) => word.replace(/^(\w+)\.yaml$/, '$1')),
      { cwd: folder },
    );
  };
  beforeEach(() => mkdirSync(join(folder, 'clusters_1')));

  it('refuses a file that is not UTF-8, in the words of site check', async () => {
    const path = join(folder, 'clusters_1', 'latin.yaml');
    const task =
      "- id: gr\xfc\xdfe\n  type: shell\n  version: 2.1.0\n  tags: '*'\n  parameters: {cmd: 'echo Gr\xfc\xdfe'}\n";
    writeFileSync(path, task, { encoding: 'latin1' });
    chmodSync(path, 0o600);
    const { code, out, err } = await run('latin.yaml');
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^error: \S*latin\.yaml: the file is not UTF-8 text\n {2}hint: Save it as UTF-8\.\n$/);
  });

  it('answers a missing file with 3, and one sentence with a next step', async () => {
    const { code, out, err } = await run('none.yaml');
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(/^error: \S*none\.yaml: there is no such file\n {2}hint: [A-Z].+\.\n$/);
  });
});

it('YAML that cannot be read is named by its place, in one line without drawings', async () => {
  writeFileSync(join(folder, 'bad.yaml'), 'a: [1\nb: "x\n');
  const { err, code } = await cli(['yaql', 'eval', '$.a', '--data', join(folder, 'bad.yaml')], { cwd: folder });
  expect(code).not.toBe(0);
  expect(err).toContain('bad.yaml:2:1 is not JSON or YAML, despite its name: deficient indentation');
  expect(err).not.toContain('^');
});

it('a second agent of a node on one state folder is refused, with who has it and what to do', async () => {
  const node = { site: 'dc1', node: 'node-1' };
  const release = await holdNodeFolders(folder, [{ site: 'dc1', node: 'node-2' }, node]);
  await expect(holdNodeFolders(folder, [{ site: 'dc1', node: 'node-3' }, node])).rejects.toMatchObject({
    exitCode: 4,
    problem: {
      code: 'agent-running',
      message: `another agent of node node-1 of site dc1 (process ${process.pid}) keeps its journal in ${folder}`,
      hint: expect.stringContaining("'sitewright agent drain --site dc1 --node node-1'"),
    },
  });
  // Of another node, it is no second one; and a refused one holds nothing.
  await (await holdNodeFolders(folder, [{ site: 'dc1', node: 'node-3' }]))();
  await release();
  await (await holdNodeFolders(folder, [node]))();
});

it('an enrolled agent (agent serve) holds the state folder of its node, too', async () => {
  const own = join(folder, 'own');
  mkdirSync(own, { mode: 0o700 });
  const credentials = {
    site: 'dc1',
    node: 'node-1',
    gateway: 'https://127.0.0.1:1',
    authority: 'PEM',
    key: 'PEM',
    certificate: 'PEM',
    order_keys: [],
    queues: { tasks: 't', control: 'c' },
    temporal: { address: '127.0.0.1:1', namespace: 'default' },
  };
  writeFileSync(join(own, 'credentials.json'), JSON.stringify(credentials), { mode: 0o600 });
  const env = { SITEWRIGHT_AGENT_STATE_DIR: folder };
  const release = await holdNodeFolders(folder, [{ site: 'dc1', node: 'node-1' }]);
  const { code, err } = await cli(['agent', 'serve', '--folder', own], { cwd: folder, env });
  expect(err).toContain(`another agent of node node-1 of site dc1 (process ${process.pid}) keeps its journal`);
  expect(code).toBe(4);
  await release();
});
