import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { fileOfSource, formatManifest, readManifest } from '../../../src/core/sources/folder-manifest.ts';
import { AgentRig } from '../../rig/agent.ts';

const rig = new AgentRig();
afterAll(() => rig.tidy());

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const src = 'package:metrics==1.0.0/scripts';

/** A package as a source that counts reads, and fails on request. */
class Package {
  readonly reads: string[] = [];
  files: Record<string, string>;
  fails: ((path: string) => Error | undefined) | undefined;

  constructor(files: Record<string, string>) {
    this.files = files;
  }

  get list(): string {
    const entries = Object.entries(this.files);
    return formatManifest(
      entries.map(([path, text]) => ({ path, sha256: sha256(text), executable: path.endsWith('.sh') })),
    );
  }

  readonly read = async (path: string): Promise<Uint8Array> => {
    const error = this.fails?.(path);
    if (error !== undefined) throw error;
    this.reads.push(path.slice(src.length).replace(/^\/\//, ''));
    if (path === src) return Buffer.from(this.list);
    const text = Object.entries(this.files).find(([name]) => fileOfSource(src, name) === path)?.[1];
    if (text === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
    return Buffer.from(text);
  };

  readonly agent = rig.agent({ readSource: this.read });

  task(dst: string, list = this.list) {
    return rig.task('package_files', { src, digest: sha256(list), dst, retries: 0 });
  }
}

describe('the files of a package on a node', () => {
  it('become those of the package: placed, changed and deleted, and only differing files are fetched', async () => {
    const pack = new Package({ 'a.pp': 'a', 'bin/run.sh': 'run', 'bin/more/b': 'b' });
    const dst = rig.path('plugin');
    expect(await rig.run(pack.agent, pack.task(dst))).toMatchObject({
      outcome: 'success',
      changed: true,
      summary: { files: 3, placed: 3, deleted: 0 },
    });
    expect(pack.reads).toEqual(['', 'a.pp', 'bin/more/b', 'bin/run.sh']);
    expect(statSync(join(dst, 'bin/run.sh')).mode & 0o777).toBe(0o755);
    expect(statSync(join(dst, 'a.pp')).mode & 0o777).toBe(0o644);

    pack.reads.length = 0;
    expect(await rig.run(pack.agent, pack.task(dst))).toMatchObject({ outcome: 'success', changed: false });
    expect(pack.reads).toEqual(['']);

    pack.files = { 'a.pp': 'new', 'bin/run.sh': 'run' };
    writeFileSync(join(dst, 'stray'), 'x');
    pack.reads.length = 0;
    expect(await rig.run(pack.agent, pack.task(dst))).toMatchObject({
      outcome: 'success',
      changed: true,
      summary: { files: 2, placed: 1, deleted: 2 },
    });
    expect(pack.reads).toEqual(['', 'a.pp']);
    expect(readdirSync(dst, { recursive: true }).sort()).toEqual(['a.pp', 'bin', 'bin/run.sh']);
    expect(readFileSync(join(dst, 'a.pp'), 'utf8')).toBe('new');
    expect(readdirSync(join(rig.stateDir, 'nodes', '1', 'content'))).toEqual([]);
  });

  it('are fetched from where an outage ended the transfer', async () => {
    const pack = new Package({ one: '1', two: '2', three: '3' });
    const dst = rig.path('resumed');
    const task = pack.task(dst);
    pack.fails = (path) =>
      path.endsWith('//two') ? Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) : undefined;
    await expect(pack.agent.ensure(task)).rejects.toThrow('refused');
    expect(pack.reads).toEqual(['', 'one', 'three']);
    pack.fails = undefined;
    pack.reads.length = 0;
    expect(await rig.run(pack.agent, task)).toMatchObject({ outcome: 'success', summary: { placed: 3 } });
    expect(pack.reads).toEqual(['', 'two']);
  });

  it('are refused if they are not those of the order', async () => {
    const pack = new Package({ a: 'a' });
    const ordered = pack.list;
    pack.files = { a: 'other' };
    const dst = rig.path('replaced');
    const end = await rig.run(pack.agent, pack.task(dst, ordered));
    expect(end).toMatchObject({ outcome: 'failed', failure: { kind: 'refused-path', path: src } });
    expect(end.message).toContain('the package was replaced during the run');
    expect(existsSync(dst)).toBe(false);
  });

  it('do not wait for a FIFO in the place of a file, nor read through a link to one', async () => {
    const dst = rig.path('fifo');
    mkdirSync(dst);
    execFileSync('mkfifo', [join(dst, 'a'), rig.path('elsewhere')]);
    symlinkSync(rig.path('elsewhere'), join(dst, 'b'));
    for (const name of ['a', 'b']) {
      const pack = new Package({ [name]: name });
      expect(await rig.run(pack.agent, pack.task(dst))).toMatchObject({
        outcome: 'failed',
        failure: { kind: 'refused-path', path: join(dst, name) },
      });
    }
  });

  it('delete nothing outside when folders become links while extra files are deleted', async () => {
    const outside = rig.path('victim');
    mkdirSync(outside);
    writeFileSync(join(outside, 'kept'), 'x');
    const [folders, extra] = [10, 3000];
    const extras = (dst: string) => readdirSync(dst).filter((name) => name.startsWith('extra')).length;
    // On a busy machine, all may be deleted before this process looks again.
    for (let round = 0, isInTime = false; !isInTime; round++) {
      expect(round).toBeLessThan(10);
      const dst = rig.path(`swapped${round}`);
      mkdirSync(dst);
      for (let n = 0; n < folders; n++) mkdirSync(join(dst, `folder${n}`));
      for (let n = 0; n < extra; n++) writeFileSync(join(dst, `extra${n}`), '');
      const pack = new Package({ a: 'a' });
      const running = rig.run(pack.agent, pack.task(dst));
      // Deleted entries were listed before: now the folders, which come among the rest, are swapped.
      while (extras(dst) === extra) await setImmediate();
      for (let n = 0; n < folders; n++) {
        try {
          renameSync(join(dst, `folder${n}`), rig.path(`moved${round}-${n}`));
          symlinkSync(outside, join(dst, `folder${n}`));
        } catch {
          // It is deleted.
        }
      }
      isInTime = extras(dst) > 0;
      await running;
      expect(readdirSync(outside)).toEqual(['kept']);
    }
  });

  it('follow no link out of their folder when extra files are deleted', async () => {
    const outside = rig.path('outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'kept'), 'x');
    const dst = rig.path('linked');
    mkdirSync(dst);
    symlinkSync(outside, join(dst, 'link'));
    const pack = new Package({ a: 'a' });
    expect(await rig.run(pack.agent, pack.task(dst))).toMatchObject({ outcome: 'success', summary: { deleted: 1 } });
    expect([readdirSync(dst), readdirSync(outside)]).toEqual([['a'], ['kept']]);
  });
});

it.each(['../x', '/x', 'a/../b', 'a//b', '', './a', 'a\0'])('a list with the path %j is refused', (path) => {
  expect(readManifest(formatManifest([{ path, sha256: sha256('x'), executable: false }]))).toBeUndefined();
});
