import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { TaskFailure } from '../../../src/agent/journal/result.ts';
import { PlacementError, placeFile, type WantedFile } from '../../../src/agent/task-types/place-file.ts';
import { prepareTask } from '../../../src/agent/task-types/prepare-task.ts';
import { uploadFiles } from '../../../src/core/task-types/files.ts';
import { AgentRig } from '../../rig/agent.ts';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

const root = rig.path('root');
const outside = rig.path('outside');
for (const folder of [root, outside]) mkdirSync(folder);
const isRoot = process.getuid?.() === 0;

const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8);

const place = (path: string, data: string | Buffer = 'new', more: Partial<WantedFile> = {}): Promise<boolean> =>
  placeFile(
    {
      path,
      data: Buffer.from(data),
      permissions: 0o644,
      owner: undefined,
      group: undefined,
      overwrite: true,
      parents: true,
      dirPermissions: 0o755,
      ...more,
    },
    [root],
  );

const refused = async (placing: Promise<boolean>): Promise<TaskFailure> => {
  const error = await placing.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof PlacementError) return error.failure;
  throw error ?? new Error('it was placed');
};

describe.skipIf(process.platform !== 'linux')('#16 placing a file', () => {
  it('writes content, permissions and missing folders, and nothing else', async () => {
    const path = `${root}/a/b/file`;
    expect(await place(path, 'content', { permissions: 0o640, dirPermissions: 0o711 })).toBe(true);
    expect([readFileSync(path, 'utf8'), mode(path), mode(`${root}/a`), mode(`${root}/a/b`)]).toEqual([
      'content',
      '640',
      '711',
      '711',
    ]);
    expect(readdirSync(`${root}/a/b`)).toEqual(['file']);
  });

  it('reports whether content or permissions changed', async () => {
    const path = `${root}/same`;
    expect(await place(path, 'x')).toBe(true);
    const { ino } = statSync(path);
    expect(await place(path, 'x')).toBe(false);
    expect(statSync(path).ino).toBe(ino);
    expect(await place(path, 'x', { permissions: 0o600 })).toBe(true);
    expect(await place(path, 'y', { permissions: 0o600 })).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('y');
  });

  it('leaves existing folders and, without overwrite, existing files as they are', async () => {
    mkdirSync(`${root}/kept`);
    chmodSync(`${root}/kept`, 0o700);
    await place(`${root}/kept/file`, 'first');
    expect(await place(`${root}/kept/file`, 'second', { overwrite: false })).toBe(false);
    expect([mode(`${root}/kept`), readFileSync(`${root}/kept/file`, 'utf8')]).toEqual(['700', 'first']);
  });

  it('handles 0 bytes and 100 MB', async () => {
    expect(await place(`${root}/empty`, '')).toBe(true);
    expect(await place(`${root}/empty`, '')).toBe(false);
    const big = Buffer.alloc(100_000_000, 'x');
    expect(await place(`${root}/big`, big)).toBe(true);
    expect(await place(`${root}/big`, big)).toBe(false);
    expect(statSync(`${root}/big`).size).toBe(big.length);
    unlinkSync(`${root}/big`);
  });

  it.each([
    ['a detour', `${root}/../outside/x`],
    ['a path outside', `${outside}/x`],
    ['a name that only begins like the root', `${root}-evil/x`],
    ['a folder', `${root}/`],
    ['the root itself', '/'],
    ['NUL', `${root}/a\0b`],
    ['a relative path', 'x'],
    ['an endless name', `${root}/${'x'.repeat(300)}`],
    ['an endless path', `${root}/${'x/'.repeat(3000)}x`],
  ])('refuses %s', async (_name, path) => {
    expect((await refused(place(path))).kind).toBe('refused-path');
    expect(readdirSync(outside)).toEqual([]);
  });

  it('refuses links out of the roots, in folders and at the end; follows those that stay', async () => {
    symlinkSync(outside, `${root}/out`);
    writeFileSync(rig.path('victim'), 'untouched');
    symlinkSync(rig.path('victim'), `${root}/link`);
    symlinkSync(`${root}/nothing`, `${root}/dangling`);
    mkdirSync(`${root}/real`);
    symlinkSync(`${root}/real`, `${root}/alias`);
    for (const path of [`${root}/out/x`, `${root}/out/deeper/x`, `${root}/link`, `${root}/dangling`])
      expect((await refused(place(path))).kind).toBe('refused-path');
    expect(await place(`${root}/alias/x`)).toBe(true);
    expect(readFileSync(`${root}/real/x`, 'utf8')).toBe('new');
    expect([readdirSync(outside), readFileSync(rig.path('victim'), 'utf8')]).toEqual([[], 'untouched']);
  });

  it('never lands outside while a folder is swapped for a link', async () => {
    mkdirSync(`${root}/swap`);
    symlinkSync(outside, `${root}/swap-link`);
    let done = false;
    const swapping = (async () => {
      while (!done) {
        renameSync(`${root}/swap`, `${root}/swap-real`);
        renameSync(`${root}/swap-link`, `${root}/swap`);
        await setImmediate();
        renameSync(`${root}/swap`, `${root}/swap-link`);
        renameSync(`${root}/swap-real`, `${root}/swap`);
        await setImmediate();
      }
    })();
    let placed = 0;
    for (let round = 0; round < 150; round += 1) {
      placed += await place(`${root}/swap/x`, `${round}`, { parents: false }).then(
        () => 1,
        () => 0,
      );
    }
    done = true;
    await swapping;
    expect(readdirSync(outside)).toEqual([]);
    expect(placed).toBeGreaterThan(0);
  });

  it('does not wait for a FIFO nor write to a device or folder, and parts hard links', async () => {
    spawnSync('mkfifo', [`${root}/fifo`]);
    expect((await refused(place(`${root}/fifo`))).kind).toBe('refused-path');
    mkdirSync(`${root}/folder`);
    expect((await refused(place(`${root}/folder`))).kind).toBe('refused-path');
    if (isRoot) {
      execFileSync('mknod', [`${root}/device`, 'c', '1', '3']);
      expect((await refused(place(`${root}/device`))).kind).toBe('refused-path');
    }
    writeFileSync(`${root}/one`, 'shared');
    linkSync(`${root}/one`, `${root}/two`);
    await place(`${root}/two`, 'own');
    expect([readFileSync(`${root}/one`, 'utf8'), readFileSync(`${root}/two`, 'utf8')]).toEqual(['shared', 'own']);
  });

  it('accepts owners by name and number, and reports unknown ones', async () => {
    expect(await refused(place(`${root}/owned`, 'x', { owner: 'unknown-user' }))).toMatchObject({
      rule: 'this node has no "unknown-user" in /etc/passwd',
    });
    if (!isRoot) return;
    await place(`${root}/owned`, 'x', { owner: 'daemon', group: '12345', permissions: 0o4750 });
    const { uid, gid } = statSync(`${root}/owned`);
    const daemon = Number(execFileSync('id', ['-u', 'daemon']));
    expect([uid, gid, mode(`${root}/owned`)]).toEqual([daemon, 12345, '4750']);
    expect(await place(`${root}/owned`, 'x', { owner: 'root', group: '12345', permissions: 0o4750 })).toBe(true);
  });

  it('refuses a missing folder when none may be created', async () => {
    expect((await refused(place(`${root}/no/such`, 'x', { parents: false }))).kind).toBe('refused-path');
    expect(existsSync(`${root}/no`)).toBe(false);
  });
});

const problemsOf = (type: string, parameters: Record<string, unknown>) => {
  const preparation = prepareTask(rig.task(type, parameters));
  return preparation.ok ? [] : preparation.problems.map(({ path }) => path);
};

describe('#16 parameters of uploads', () => {
  it('are refused with all problems, each with its place', () => {
    const file = { path: 'x/../y', data: 5, permissions: '0888', dir_permissions: 755, overwrite: 'yes', timeout: -1 };
    expect(problemsOf('upload_file', file).sort()).toEqual(
      ['data', 'dir_permissions', 'overwrite', 'path', 'permissions', 'timeout'].map((name) => `parameters.${name}`),
    );
    expect(problemsOf('copy_files', { files: [{ src: '/a' }, 7, { src: 'b', dst: '/c' }] })).toEqual([
      'parameters.files[0].dst',
      'parameters.files[1]',
      'parameters.files[2].src',
    ]);
    expect(problemsOf('upload_files', { nodes: [{ uid: '2', files: [] }, { files: 1 }] })).toEqual([
      'parameters.nodes[0].uid',
      'parameters.nodes[1].uid',
      'parameters.nodes[1].files',
    ]);
  });

  it.each(['4777', '0666', '2755', '0002'])('permissions %s need explicit consent of the task', (permissions) => {
    const file = { path: '/tmp/x', data: '', permissions };
    expect(problemsOf('upload_file', file)).toEqual(['parameters.permissions']);
    expect(problemsOf('upload_file', { ...file, allow_special_permissions: true })).toEqual([]);
  });

  it.each(['0888', '648', '7', '00644', 'rw-', ' 644', 644, 0o644, -1, true])(
    'permissions %s are invalid',
    (permissions) => {
      const problems = problemsOf('upload_file', { path: '/tmp/x', data: '', permissions });
      expect(problems).toEqual(['parameters.permissions']);
    },
  );
});

describe.skipIf(process.platform !== 'linux')('the types that place files', () => {
  it('upload_file has the defaults 0644 and 0755, reports a change, and does not retry a refusal', async () => {
    const path = `${root}/up/file`;
    const first = await rig.run(agent, rig.task('upload_file', { path, data: 'ü\n' }));
    expect(first).toMatchObject({
      outcome: 'success',
      changed: true,
      output: { stdout: { tail: `written: ${path}\n` } },
    });
    expect([readFileSync(path, 'utf8'), mode(path), mode(`${root}/up`)]).toEqual(['ü\n', '644', '755']);
    expect(await rig.run(agent, rig.task('upload_file', { path, data: 'ü\n' }))).toMatchObject({ changed: false });
    const narrow = rig.agent({ pathRoots: [outside] });
    expect(await rig.run(narrow, rig.task('upload_file', { path, data: 'z' }))).toMatchObject({
      outcome: 'failed',
      changed: false,
      failure: { kind: 'refused-path', path },
      tries: [{ number: 1 }],
    });
  });

  it('upload_files places files in order, and none after the first failure', async () => {
    symlinkSync('/nowhere', `${root}/bad`);
    const files = ['x1', 'bad', 'x2'].map((name) => ({ dst: `${root}/${name}`, data: name, permissions: '0600' }));
    const result = await rig.run(agent, rig.task('upload_files', { nodes: [{ uid: '1', files }] }));
    expect(result).toMatchObject({
      outcome: 'failed',
      failure: { path: `${root}/bad` },
      summary: { files: 3, placed: 1 },
    });
    expect([mode(`${root}/x1`), existsSync(`${root}/x2`)]).toEqual(['600', false]);
  });

  it('upload_files is split by the node of each file', () => {
    const [a, b, c] = ['a', 'b', 'c'].map((dst) => ({ dst }));
    const nodes = [
      { uid: '2', files: [a] },
      { uid: '1', files: [b] },
      { uid: '2', files: [c] },
    ];
    expect(uploadFiles.partFor!({ nodes, timeout: 9 }, '2', 'two')).toEqual({
      parameters: {
        nodes: [
          { uid: 'two', files: [a] },
          { uid: 'two', files: [c] },
        ],
        timeout: 9,
      },
      problem: 'also has files for 1, which only a task on those nodes can place: place it there',
    });
    expect(uploadFiles.partFor!({ nodes: nodes.slice(1, 2) }, '1', 'one')).toEqual({
      parameters: { nodes: [{ uid: 'one', files: [b] }] },
    });
    expect(uploadFiles.partFor!({ nodes: 'none' }, '1', 'one')).toEqual({ parameters: { nodes: [] } });
  });

  it('copy_files uses the task’s permissions as fallback; a missing source fails it, the others are placed', async () => {
    writeFileSync(rig.path('key'), Buffer.from([0, 255, 10]));
    const parameters = {
      permissions: '0600',
      dir_permissions: '0700',
      files: [
        { src: rig.path('missing'), dst: `${root}/keys/missing` },
        { src: rig.path('key'), dst: `${root}/keys/key` },
        { src: rig.path('key'), dst: `${root}/keys/open`, permissions: '0644' },
      ],
    };
    expect(await rig.run(agent, rig.task('copy_files', parameters))).toMatchObject({
      outcome: 'failed',
      changed: true,
      failure: { kind: 'files', files: [{ path: rig.path('missing') }] },
      tries: [{ number: 1 }],
    });
    expect(readFileSync(`${root}/keys/key`)).toEqual(Buffer.from([0, 255, 10]));
    expect([mode(`${root}/keys`), mode(`${root}/keys/key`), mode(`${root}/keys/open`)]).toEqual(['700', '600', '644']);
  });

  it('copy_files can get the content from elsewhere', async () => {
    const remote = rig.agent({ readSource: async (path, key) => Buffer.from(`${path} for ${key.node}`) });
    const files = [{ src: '/on/the/master', dst: `${root}/copied` }];
    expect(await rig.run(remote, rig.task('copy_files', { files }))).toMatchObject({ outcome: 'success' });
    expect(readFileSync(`${root}/copied`, 'utf8')).toBe('/on/the/master for 1');
  });
});
