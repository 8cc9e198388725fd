import { Random } from '@sitewright/temporal-simulator';
import { describe, expect, it } from 'vitest';
import { Disk, type DiskFile } from '../../simulation/world/disk.ts';

const text = (disk: Disk, path: string): string | undefined => {
  const found = disk.find(path);
  return found?.kind === 'file' ? found.read(0, found.size).toString() : undefined;
};

function put(disk: Disk, path: string, content: string): DiskFile {
  const file = disk.open(path, { write: true, create: true }) as DiskFile;
  disk.write(file, file.size, Buffer.from(content));
  return file;
}

/** What is there after a power cut, for a hundred seeds. */
function afterPowerCuts(prepare: (disk: Disk) => void, path: string): Set<string | undefined> {
  return new Set(
    Array.from({ length: 100 }, (_, seed) => {
      const disk = new Disk();
      prepare(disk);
      disk.losePower(new Random(`cut ${seed}`));
      return text(disk, path);
    }),
  );
}

const synced = (disk: Disk, path: string, content: string): void => {
  put(disk, path, content).sync();
  disk.folder('/', 'open').sync();
};

describe('a power cut', () => {
  it('keeps a file whose content and name were synced', () => {
    expect(afterPowerCuts((disk) => synced(disk, '/a', 'one'), '/a')).toEqual(new Set(['one']));
  });

  it('may lose a synced file whose folder was not', () => {
    expect(afterPowerCuts((disk) => put(disk, '/a', 'one').sync(), '/a')).toEqual(new Set(['one', undefined]));
  });

  it('tears what was appended since the sync, and never what was synced', () => {
    const seen = afterPowerCuts((disk) => {
      synced(disk, '/a', 'one\n');
      put(disk, '/a', 'two\n');
    }, '/a');
    expect([...seen].every((one) => one?.startsWith('one\n'))).toBe(true);
    expect([...seen]).toEqual(expect.arrayContaining(['one\n', 'one\ntwo\n', 'one\ntw']));
    expect([...seen].some((one) => one?.endsWith('\0'))).toBe(true);
  });

  it('has the old content or the new one after a rename, never none', () => {
    const seen = afterPowerCuts((disk) => {
      synced(disk, '/a', 'old');
      put(disk, '/b', 'new').sync();
      disk.rename('/b', '/a');
    }, '/a');
    expect(seen).toEqual(new Set(['old', 'new']));
  });

  it('may lose a folder whose parent was not synced, with all that is in it', () => {
    const seen = afterPowerCuts((disk) => {
      disk.makeFolder('/x/y', true);
      put(disk, '/x/y/a', 'one').sync();
      disk.folder('/x/y', 'open').sync();
      disk.folder('/x', 'open').sync();
    }, '/x/y/a');
    expect(seen).toEqual(new Set(['one', undefined]));
  });

  it('loses nothing of a machine that has shut down in order', () => {
    const prepare = (disk: Disk): void => {
      disk.makeFolder('/x', false);
      put(disk, '/x/a', 'one');
      disk.syncAll();
    };
    expect(afterPowerCuts(prepare, '/x/a')).toEqual(new Set(['one']));
  });
});

describe('a full disk', () => {
  it('writes what fits, and then nothing', () => {
    const disk = new Disk(256 + 5);
    const file = disk.open('/a', { write: true, create: true }) as DiskFile;
    expect(disk.write(file, 0, Buffer.from('seven b'))).toBe(5);
    expect(() => disk.write(file, 5, Buffer.from('x'))).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
    expect(disk.write(file, 0, Buffer.from('SEVEN'))).toBe(5);
    expect(() => disk.open('/b', { create: true })).toThrow('ENOSPC: no space left on device, open');
  });

  it('has space again for what was removed, once the last name is gone', () => {
    const disk = new Disk(2_000);
    put(disk, '/a', 'x'.repeat(1_000));
    disk.link('/a', '/b');
    const free = disk.free;
    disk.unlink('/a');
    expect(disk.free).toBe(free);
    disk.unlink('/b');
    expect(disk.free).toBe(2_000);
  });

  it('counts after a power cut what is left', () => {
    const disk = new Disk(10_000);
    put(disk, '/a', 'x'.repeat(1_000));
    disk.losePower(new Random('cut'));
    const left = text(disk, '/a');
    expect(disk.free).toBe(10_000 - 256 - (left === undefined ? 0 : 256 + left.length));
  });
});

it('answers with the errors of Node.js', () => {
  const disk = new Disk();
  put(disk, '/a', '1');
  put(disk, '/b', '2');
  const code = (expected: string) => expect.objectContaining({ code: expected });
  expect(() => disk.link('/a', '/b')).toThrow(code('EEXIST'));
  expect(() => disk.open('/a', { create: true, exclusive: true })).toThrow(code('EEXIST'));
  expect(() => disk.open('/c', {})).toThrow("ENOENT: no such file or directory, open '/c'");
  expect(() => disk.find('/a/b')).toThrow(code('ENOTDIR'));
  expect(() => disk.unlink('/c')).toThrow(code('ENOENT'));
  expect(() => disk.file('/', 'read')).toThrow(code('EISDIR'));
});
