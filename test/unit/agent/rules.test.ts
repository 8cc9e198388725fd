import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, sep } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { executionFolder, folderName, stableJson } from '../../../src/agent/journal/execution.ts';
import { describeFailure, outcomeOf } from '../../../src/agent/journal/result.ts';
import { prepareTask } from '../../../src/agent/task-types/prepare-task.ts';
import { stoppedEnd } from '../../../src/agent/task-types/task-runner.ts';
import { typesOver } from '../../../src/core/task-types/index.ts';
import { AgentRig } from '../../rig/agent.ts';
import { Gate } from '../../rig/gate.ts';
import { supervisorProgram } from '../../rig/program.ts';

const rig = new AgentRig();
const agent = rig.agent();
afterAll(() => rig.tidy());

/** Every entry below a folder: name, kind, mode, owner, times and the hash of its content. */
const treeOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { mode, uid, gid, mtimeMs, ctimeMs } = lstatSync(path);
      const holds = entry.isSymbolicLink() ? readlinkSync(path) : entry.isFile() ? readFileSync(path) : '';
      return [path, mode, uid, gid, mtimeMs, ctimeMs, createHash('sha256').update(holds).digest('hex')].join(' ');
    })
    .sort();

describe('task types', () => {
  it.each([
    ['puppet', { puppet_manifest: '/m.pp' }, 5400, 2, 'all-tries'],
    ['shell', { cmd: 'x' }, 300, 2, 'all-tries'],
    ['master_shell', { cmd: 'x' }, 300, 2, 'all-tries'],
    ['sync', { src: '/a', dst: '/b' }, 300, 10, 'all-tries'],
    ['upload_file', { path: '/a', data: '' }, 60, 3, 'each-try'],
    ['upload_files', { nodes: [{ uid: '1', files: [] }] }, 60, 3, 'each-try'],
    ['copy_files', { files: [] }, 300, 0, 'each-try'],
  ])('%s has the defaults of the reference', (type, parameters, timeoutSec, retries, timeoutCovers) => {
    const found = prepareTask(rig.task(type, parameters));
    expect(found).toMatchObject({ ok: true, task: { limits: { timeoutSec, retries, timeoutCovers } } });
  });

  it('are refused when unknown or forbidden by the node’s policy, and bad parameters with all problems', async () => {
    expect(await rig.run(agent, rig.task('erase_all', {}))).toMatchObject({
      outcome: 'refused',
      changed: false,
      failure: { problems: [{ code: 'execution.unknown-type', path: 'type' }] },
    });
    const careful = rig.agent({ allowedTypes: ['puppet'] });
    expect(await rig.run(careful, rig.task('shell', { cmd: 'true' }))).toMatchObject({
      outcome: 'refused',
      failure: { problems: [{ code: 'execution.forbidden-type' }] },
    });
    const wrong = await rig.run(agent, rig.task('shell', { cmd: 7, cwd: 'x', timeout: 'soon', retries: 1.5 }));
    expect(wrong.failure?.kind === 'refused' && wrong.failure.problems.map(({ path }) => path)).toEqual(
      ['cmd', 'cwd', 'timeout', 'retries'].map((name) => `parameters.${name}`),
    );
  });

  it('turn any parameters into a list of problems or a task, never an exception', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...typesOver('agent')),
        fc.dictionary(fc.string(), fc.anything()),
        fc.anything(),
        (type, parameters, odd) => {
          const names = [
            'cmd',
            'path',
            'data',
            'files',
            'nodes',
            'src',
            'dst',
            'timeout',
            'permissions',
            'puppet_manifest',
          ];
          const filled = { ...parameters, ...Object.fromEntries(names.map((name) => [name, odd])) };
          expect(typeof prepareTask(rig.task(type, filled)).ok).toBe('boolean');
        },
      ),
    );
    for (const frame of [
      { run: '' },
      { generation: 0 },
      { generation: 1.5 },
      { parameters: null },
      { mode: 'x' },
      { secrets: 3 },
    ])
      expect(prepareTask({ ...rig.task('noop', {}), ...(frame as object) }).ok).toBe(false);
  });
});

describe('#17 names and injected text', () => {
  const hostile = [
    '../../x',
    '..',
    '.',
    '',
    '/',
    'a/b',
    'a\0b',
    '-rf',
    '$(touch x)',
    ';id',
    'a\nb',
    'x'.repeat(4096),
    '‮ü',
    '=2F',
    'A',
    'a',
  ];

  it('become separate folders, below the right one', () => {
    const names = hostile.map(folderName);
    expect(new Set(names).size).toBe(hostile.length);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_=-][A-Za-z0-9._=-]{0,120}$/);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(folderName(a).includes(sep)).toBe(false);
        if (Buffer.from(a).compare(Buffer.from(b)) !== 0) expect(folderName(a)).not.toBe(folderName(b));
      }),
    );
    const folder = executionFolder('/state', { run: '../..', task: '../../etc', node: '..', generation: 1 });
    expect(join(folder)).toBe(folder);
    expect(folder.startsWith('/state/nodes/')).toBe(true);
  });

  it('run no program but ours (a trap in the PATH would show it)', async () => {
    const trap = rig.path('trap');
    mkdirSync(trap);
    for (const name of ['id', 'touch', 'sh', 'puppet', 'rsync', 'nice'])
      writeFileSync(join(trap, name), `#!/bin/bash\nprintf '%s\\n' "$#" >> ${rig.path(`called-${name}`)}\n`, {
        mode: 0o755,
      });
    const trapped = rig.agent({ taskPath: `${trap}:/usr/bin:/bin` });
    const texts = [';id', '$(id)', '`id`', '\nid\n', '|id', '&& id', '-e id', '--', "'id'", '*'];
    /** The effect of each text in every field that takes a path or a name: run unchanged, or refused; never a separate program. */
    const fields: Record<string, (text: string) => readonly [string, Record<string, unknown>]> = {
      manifest: (text) => ['puppet', { puppet_manifest: `/${text}`, cwd: '/tmp', retries: 0 }],
      modules: (text) => ['puppet', { puppet_manifest: '/m', puppet_modules: `/${text}`, retries: 0 }],
      cwd: (text) => ['shell', { cmd: ':', cwd: `/tmp/${text}`, retries: 0 }],
      src: (text) => ['sync', { src: `/${text}`, dst: rig.path('sync-target'), retries: 0 }],
      dst: (text) => ['sync', { src: '/nowhere', dst: rig.path(`t${text}`), retries: 0 }],
      path: (text) => ['upload_file', { path: rig.path(`u${text}`), data: 'x', retries: 0 }],
    };
    const outcomes: Record<string, number> = {};
    let tried = 0;
    // Texts that a shell would treat differently, in every field; and in the ids, each next to another.
    const kinds = [';id', '$(id)', '\nid\n', 'id\0id', `$(id)${'x'.repeat(4096)}`];
    for (const field of Object.values(fields))
      for (const [at, text] of kinds.entries()) {
        const [type, parameters] = field(text);
        const task = rig.task(type, parameters, { run: `${(tried += 1)}`, task: kinds[(at + 1) % kinds.length]! });
        const answer = await trapped.ensure(task);
        const outcome = answer.kind === 'accepted' ? (await trapped.result(task)).outcome : `answer ${answer.kind}`;
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
    expect(Object.keys(outcomes).sort()).toEqual(['answer refused', 'failed', 'refused', 'success']);
    for (const text of texts) {
      const rejected = rig.task('puppet', {
        puppet_manifest: '/m',
        command_prefix: `nice ${text}`,
        puppet_modules: text,
      });
      expect(await rig.run(trapped, rejected)).toMatchObject({ outcome: 'refused' });
    }
    expect(
      readdirSync(rig.folder)
        .filter((name) => name.startsWith('called-'))
        .sort(),
    ).toEqual(['called-puppet', 'called-rsync']);
  });
});

describe('#15 a noop run', () => {
  it('of any type but puppet, which simulates, starts no process and leaves every file as it was', async () => {
    const there = rig.path('noop');
    mkdirSync(`${there}/from`, { recursive: true });
    for (const name of ['file', 'link-target', 'from/new'])
      writeFileSync(`${there}/${name}`, `content of ${name}`, { mode: 0o640 });
    symlinkSync('link-target', `${there}/link`);
    const called = rig.path('noop-called');
    const trap = rig.path('noop-trap');
    mkdirSync(trap);
    for (const name of ['bash', 'sh', 'rsync', 'puppet', 'systemctl', 'reboot'])
      writeFileSync(join(trap, name), `#!/bin/bash\necho "$0 $*" >> ${called}\n`, { mode: 0o755 });
    const path = `${there}/file`;
    const cmd = `rm -rf ${there}`;
    const parameters: Record<string, Record<string, unknown>> = {
      shell: { cmd },
      master_shell: { cmd },
      upload_file: { path, data: 'x', permissions: '0600' },
      upload_files: {
        nodes: [
          {
            uid: '1',
            files: [
              { dst: path, data: 'x' },
              { dst: `${there}/more`, data: 'x' },
            ],
          },
        ],
      },
      copy_files: { files: [{ src: '/etc/passwd', dst: path }] },
      sync: { src: `${there}/from/`, dst: there },
      package_files: { src: 'package:metrics==1.0.0/scripts', digest: 'a'.repeat(64), dst: there },
    };
    const before = treeOf(there);
    expect(before.length).toBe(5);
    const idle = rig.agent({ rebootCommand: [join(trap, 'reboot')], taskPath: trap });
    for (const type of typesOver('agent').filter((name) => name !== 'puppet')) {
      const task = rig.task(type, parameters[type] ?? {}, { mode: 'noop' });
      expect(await rig.run(idle, task), type).toMatchObject({ outcome: 'skipped', changed: false, tries: [] });
      expect(rig.processesOf(task), type).toEqual([]);
    }
    expect(treeOf(there)).toEqual(before);
    expect(existsSync(called)).toBe(false);
    // The trap is one, and the tree would show it.
    await rig.run(idle, rig.task('sync', { src: '/x', dst: there, retries: 0 }));
    expect(existsSync(called)).toBe(true);
  });
});

describe('#20 clock steps', () => {
  it.each([3_600_000, -3_600_000])('of %i ms during a task move no deadline', async (step) => {
    // The wall clock of the supervisor leaps as soon as the task has started.
    const [node, program] = supervisorProgram();
    const shift = `const now = Date.now; let calls = 0; Date.now = () => now() + (++calls > 2 ? ${step} : 0);`;
    const leaping = rig.agent({
      supervisorCommand: [node, '--import', `data:text/javascript,${encodeURIComponent(shift)}`, program],
    });
    const slow = rig.task('shell', { cmd: 'sleep 1000', timeout: 0.3 }, { killGraceSec: 0.1 });
    const began = performance.now();
    expect(await rig.run(leaping, slow)).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'timeout', seconds: 0.3 },
    });
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(await rig.run(leaping, rig.task('shell', { cmd: 'true', timeout: 3000 }))).toMatchObject({
      outcome: 'success',
    });
  });

  it('the deadline of the execution is shorter than the task; deadlines beyond the limit of a timer cause no flood', async () => {
    const short = rig.task('shell', { cmd: 'sleep 1000', timeout: 900 }, { deadlineSec: 0.2, killGraceSec: 0 });
    expect(await rig.run(agent, short)).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'timeout', seconds: 0.2 },
    });
    expect(await rig.run(agent, rig.task('shell', { cmd: 'true', timeout: 100_000_000 }))).toMatchObject({
      outcome: 'success',
    });
  });
});

describe('words', () => {
  it('executions are equal in any notation', () => {
    expect(stableJson({ b: [{ d: 1, c: 2 }], a: undefined })).toBe(stableJson({ b: [{ c: 2, d: 1 }] }));
  });

  it('every failure has an outcome and a sentence', () => {
    expect(outcomeOf({ kind: 'busy', holder: 'x' })).toBe('failed');
    const noSpace = { kind: 'no-space', path: '/var/lib/sitewright' } as const;
    const reserve = { of: 'reserve', free: 12 * 1024 * 1024, needed: 64 * 1024 * 1024 } as const;
    expect(describeFailure({ ...noSpace, limit: reserve })).toBe(
      'was not run: the disk of /var/lib/sitewright has 12 MiB free; a task needs 64 MiB for its journal and output',
    );
    expect(describeFailure({ ...noSpace, limit: { of: 'files' } })).toMatch(/its inodes are used up/);
    expect(describeFailure({ ...noSpace, limit: { of: 'quota' } })).toMatch(/quota/);
    expect(describeFailure({ ...noSpace, limit: { of: 'disk' } })).toBe(
      'no space is left on the disk of /var/lib/sitewright',
    );
    expect(describeFailure({ kind: 'timeout', seconds: 3 })).toBe('did not end within 3 s; its processes were killed');
    expect(describeFailure({ kind: 'timeout', seconds: 3, exitCode: 0 })).toBe(
      'did not end within 3 s; told to end, it ended with exit code 0',
    );
  });
});

describe('a task at its time limit', () => {
  const timeout = { kind: 'timeout', seconds: 60 } as const;
  const failed = { kind: 'exit', exitCode: 3 } as const;

  it.each([
    ['success', { failure: null, changed: null, exitCode: 0 }],
    ['failure', { failure: failed, changed: null, exitCode: 3 }],
  ])('that ended before anything was told to end counts by its own end: %s', (_, end) => {
    expect(stoppedEnd(end, timeout, 0)).toEqual(end);
  });

  it('that was told to end has not succeeded, whatever exit code it then gives', () => {
    expect(stoppedEnd({ failure: null, changed: null, exitCode: 0 }, timeout, 1)).toEqual({
      failure: { ...timeout, exitCode: 0 },
      changed: null,
      exitCode: 0,
    });
    const killed = { failure: { kind: 'signal', signal: 'SIGTERM' }, changed: null, signal: 'SIGTERM' } as const;
    expect(stoppedEnd(killed, timeout, 1)).toMatchObject({ failure: timeout });
    const cancelled = { kind: 'cancelled', reason: 'not needed' } as const;
    expect(stoppedEnd({ failure: failed, changed: null, exitCode: 3 }, cancelled, 0).failure).toBe(cancelled);
  });

  it('and ends with exit code 0 because it was told to has failed, and its report says so', async () => {
    const heeding = rig.task('shell', {
      cmd: "trap 'echo half; exit 0' TERM; sleep 1000 & wait",
      timeout: 0.5,
      retries: 0,
    });
    expect(await rig.run(agent, heeding)).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'timeout', seconds: 0.5, exitCode: 0 },
      killed: { cause: 'timeout', survivors: 0 },
      exitCode: 0,
    });
  });
});

describe.skipIf(process.platform !== 'linux')('without file notification', () => {
  it('a cancellation is found by polling', async () => {
    // As on a machine whose inotify watches are used up.
    const [node, program] = supervisorProgram();
    const preload = rig.path('no-watch.cjs');
    writeFileSync(
      preload,
      `require('node:fs').watch = () => { throw new Error('ENOSPC'); }; require('node:module').syncBuiltinESMExports();`,
    );
    const blind = rig.agent({ supervisorCommand: [node, '--require', preload, program] });
    const task = rig.task('shell', { cmd: 'sleep 1000' }, { killGraceSec: 0 });
    await blind.ensure(task);
    blind.cancel(task, 'seen');
    expect(await blind.result(task)).toMatchObject({ outcome: 'cancelled' });
  });
});

describe.skipIf(process.platform !== 'linux')('#22 a slow start', () => {
  it('of one supervisor delays no other node', async () => {
    const [node, program] = supervisorProgram();
    const stand = new Gate(rig.path('slow-gate'));
    const slow = rig.agent({
      node: 'slow',
      supervisorCommand: ['bash', '-c', 'read -r line < "$0"; exec "$@"', stand.path, node, program],
    });
    const late = rig.task('shell', { cmd: 'echo late' }, { node: 'slow' });
    const waiting = slow.ensure(late);
    expect(await rig.run(agent, rig.task('shell', { cmd: 'echo quick' }))).toMatchObject({ outcome: 'success' });
    expect(slow.facts().unfinished).toHaveLength(1);
    await stand.open();
    await waiting;
    expect(await slow.result(late)).toMatchObject({ outcome: 'success', output: { stdout: { tail: 'late\n' } } });
  });
});
