import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  checkPackage,
  DEFAULT_ARCHIVE_LIMITS,
  type PackageDiskError,
  packageTemplate,
  readPackageArchive,
  readPackageFolder,
  writePackageArchive,
  writePackageFolder,
} from '../../../src/packages/index.ts';
import { tarEnd, tarHeader, tarPadding } from '../../../src/packages/tar.ts';

let work: string;

beforeEach(() => {
  work = mkdtempSync(join(tmpdir(), 'sitewright-package-'));
});

afterEach(() => rmSync(work, { recursive: true, force: true }));

const newPackage = async (name: string): Promise<string> => {
  const folder = join(work, name);
  await writePackageFolder(packageTemplate('thing', 'release'), folder);
  return folder;
};

const buildIn = async (folder: string, into: string) =>
  writePackageArchive(await readPackageFolder(folder), 'thing', '1.0.0', join(work, into));

describe('building', () => {
  it('gives the same bytes for the same files, whatever their times, order and umask', async () => {
    const first = await newPackage('first');
    writeFileSync(join(first, 'release/deployment_scripts/run.sh'), 'echo\n');
    chmodSync(join(first, 'release/deployment_scripts/run.sh'), 0o700);
    const second = await newPackage('second');
    writeFileSync(join(second, 'release/deployment_scripts/run.sh'), 'echo\n');
    chmodSync(join(second, 'release/deployment_scripts/run.sh'), 0o755);
    chmodSync(join(second, 'metadata.yaml'), 0o600);
    utimesSync(join(second, 'metadata.yaml'), 1, 1);
    mkdirSync(join(second, '.git'));
    writeFileSync(join(second, '.git/HEAD'), 'x');
    const [one, two] = [await buildIn(first, 'a'), await buildIn(second, 'b')];
    expect(readFileSync(two.path).equals(readFileSync(one.path))).toBe(true);
    expect(one.sha256).toBe(createHash('sha256').update(readFileSync(one.path)).digest('hex'));
  });

  it('gives the same bytes again when its output lies in the package', async () => {
    const folder = await newPackage('p');
    const first = readFileSync((await buildIn(folder, 'p')).path);
    expect(readFileSync((await buildIn(folder, 'p')).path).equals(first)).toBe(true);
  });

  it('makes archives that tar and sha256sum read, long paths included', async () => {
    const folder = await newPackage('p');
    const long = `release/repositories/${'long-name-'.repeat(20)}é.deb`;
    writeFileSync(join(folder, long), new Uint8Array(1500));
    const { path } = await buildIn(folder, 'out');
    execFileSync('tar', ['xzf', path, '-C', work]);
    expect(readFileSync(join(work, 'thing-1.0.0', long))).toHaveLength(1500);
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'checksums.sha256'], {
      cwd: join(work, 'thing-1.0.0'),
    });
  });

  it('makes archives that unpack to the same files', async () => {
    const folder = await newPackage('p');
    mkdirSync(join(folder, 'empty/folder'), { recursive: true });
    const { path } = await buildIn(folder, 'out');
    const { tree, problems } = await readPackageArchive(path);
    expect(problems).toEqual([]);
    const before = await readPackageFolder(folder);
    expect([...tree!.files].map(([file, { content }]) => [file, content])).toEqual(
      [...before.files].map(([file, { content }]) => [file, content]).sort(),
    );
    expect([...tree!.folders].sort()).toEqual([...before.folders].sort());
    expect(checkPackage(tree!).verdict).toBe('valid');
  });
});

/** A hand-made archive of members; checksums are right unless a member sets another. */
function archive(
  members: readonly { path: string; content?: string; header?: (block: Uint8Array) => void }[],
  sums = true,
): string {
  const parts: Uint8Array[] = [];
  const lines: string[] = [];
  const add = (path: string, content: Uint8Array, header?: (block: Uint8Array) => void) => {
    const block = tarHeader(path, 'file', content.length, false);
    if (header) {
      header(block);
      resum(block);
    }
    parts.push(block, content, tarPadding(content.length));
  };
  for (const { path, content = 'x', header } of members) {
    const bytes = new TextEncoder().encode(content);
    lines.push(`${createHash('sha256').update(bytes).digest('hex')}  ${path}\n`);
    add(path, bytes, header);
  }
  if (sums) add('checksums.sha256', new TextEncoder().encode(lines.join('')));
  parts.push(tarEnd());
  const file = join(work, 'hostile.tar.gz');
  writeFileSync(file, gzipSync(Buffer.concat(parts)));
  return file;
}

function resum(block: Uint8Array): void {
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, '0')}\u0000 `), 148);
}

const codes = async (file: string, limits = DEFAULT_ARCHIVE_LIMITS): Promise<string[]> => {
  const { tree, problems } = await readPackageArchive(file, limits);
  if (problems.length > 0) expect(tree).toBeUndefined();
  return problems.map(({ code }) => code);
};

const type = (letter: string) => (block: Uint8Array) => {
  block[156] = letter.charCodeAt(0);
  block.set(new TextEncoder().encode('/etc/passwd'), 157);
};

describe('hostile archives', () => {
  it('are distinguished from a harmless one, which is read', async () => {
    expect(await codes(archive([{ path: 'metadata.yaml' }, { path: 'a/b.yaml' }]))).toEqual([]);
  });

  it.each(['../out', 'a/../../out', '/etc/cron.d/x', 'C:/x', 'a\\b', 'a//b', 'a/./b'])(
    'refuses the path %s',
    async (path) => {
      expect(await codes(archive([{ path: 'metadata.yaml' }, { path }]))).toEqual(['archive.path']);
    },
  );

  it.each([
    ['symbolic links', '2', 'archive.link'],
    ['hard links', '1', 'archive.link'],
    ['devices', '3', 'archive.special-file'],
    ['pipes', '6', 'archive.special-file'],
    ['unknown members', 'Z', 'archive.special-file'],
  ])('refuses %s', async (_what, letter, code) => {
    expect(await codes(archive([{ path: 'metadata.yaml' }, { path: 'x', header: type(letter) }]))).toEqual([code]);
  });

  it('refuses a member given twice, and one inside a file', async () => {
    expect(await codes(archive([{ path: 'a' }, { path: 'a' }]))).toEqual(['archive.member-twice']);
    expect(await codes(archive([{ path: 'a' }, { path: 'a/b' }]))).toEqual(['archive.damaged']);
  });

  it('refuses content unlike its checksum, without checksum, and missing content', async () => {
    const wrong = `${'0'.repeat(64)}  a\n${'0'.repeat(64)}  gone\n`;
    expect(
      await codes(archive([{ path: 'a' }, { path: 'b' }, { path: 'checksums.sha256', content: wrong }], false)),
    ).toEqual(['archive.checksum', 'archive.checksum', 'archive.checksum']);
    expect(await codes(archive([{ path: 'a' }], false))).toEqual(['archive.no-checksums']);
  });

  it('stops at a bomb', async () => {
    const file = join(work, 'bomb.tar.gz');
    writeFileSync(file, gzipSync(Buffer.alloc(20 * 1024 * 1024)));
    expect(await codes(file)).toEqual(['archive.bomb']);
    expect(await codes(file, { ...DEFAULT_ARCHIVE_LIMITS, maxUnpackedBytes: 1024 })).toEqual(['archive.bomb']);
  });

  it('keeps only data for checks in memory, with a limit', async () => {
    const large = 'x'.repeat(9 * 1024 * 1024);
    const file = archive([{ path: 'metadata.yaml' }, { path: 'repo/a.deb', content: large }]);
    const into = join(work, 'into');
    const { tree } = await readPackageArchive(file, DEFAULT_ARCHIVE_LIMITS, into);
    expect(tree?.files.get('metadata.yaml')?.content).toBeDefined();
    expect(tree?.files.get('repo/a.deb')).toEqual({
      size: large.length,
      executable: false,
      sha256: createHash('sha256').update(large).digest('hex'),
    });
    expect(readFileSync(join(into, 'repo/a.deb'), 'utf8') === large).toBe(true);
    const data = Array.from({ length: 5 }, (_, index) => ({
      path: `${index}.yaml`,
      content: large.slice(0, 7_000_000),
    }));
    const limits = { ...DEFAULT_ARCHIVE_LIMITS, maxRatio: 1_000_000 };
    expect(await codes(archive(data), limits)).toEqual(['archive.too-much-data']);
  });

  it('refuses too many members', async () => {
    const members = Array.from({ length: 12 }, (_, index) => ({ path: `f${index}` }));
    expect(await codes(archive(members), { ...DEFAULT_ARCHIVE_LIMITS, maxMembers: 10 })).toEqual([
      'archive.too-many-files',
    ]);
  });

  it('are refused if they are no archive, truncated or broken inside', async () => {
    const file = join(work, 'x.tar.gz');
    writeFileSync(file, 'not gzip');
    expect(await codes(file)).toEqual(['archive.format']);
    const good = readFileSync(archive([{ path: 'metadata.yaml', content: 'x'.repeat(5000) }]));
    writeFileSync(file, good.subarray(0, good.length - 20));
    expect(await codes(file)).toEqual(['archive.damaged']);
    writeFileSync(file, gzipSync('plain text, longer than one block'.repeat(40)));
    expect(await codes(file)).toEqual(['archive.damaged']);
    writeFileSync(file, gzipSync(''));
    expect(await codes(file)).toEqual(['archive.damaged']);
  });

  it("say what files of Fuel's plugin builder are, and how to install them", async () => {
    const problemOf = async (file: string) => (await readPackageArchive(file)).problems[0]!;
    const rpm = join(work, 'lead.rpm');
    const lead = Buffer.alloc(96);
    Buffer.from('edabeedb03000000', 'hex').copy(lead);
    lead.write('tracing-1.0-1.0.2-1', 10);
    writeFileSync(rpm, lead);
    expect(await problemOf(rpm)).toMatchObject({
      code: 'archive.rpm',
      message: expect.stringContaining("this is an RPM, as Fuel's plugin builder makes them"),
      hint: expect.stringMatching(
        /: rpm2cpio tracing-1.0-1.0.2-1.noarch.rpm \| cpio -idm && sitewright package install var\/www\/nailgun\/plugins\/tracing-1.0$/,
      ),
    });
    const fp = archive([{ path: 'tracing-1.0.2/metadata.yaml' }, { path: 'tracing-1.0.2/checksums.sha1' }], false);
    expect(await problemOf(fp)).toMatchObject({
      code: 'archive.fp',
      message: expect.stringContaining("this is an .fp file, as Fuel's plugin builder makes them"),
      hint: expect.stringMatching(/: tar xzf tracing-1.0.2.fp && sitewright package install tracing-1.0.2$/),
    });
    writeFileSync(rpm, Buffer.concat([lead.subarray(0, 10), Buffer.from('$(reboot)')]));
    expect((await problemOf(rpm)).hint).toContain('rpm2cpio FILE | cpio -idm');
  });

  it('finds YAML tags in an archive before anything is unpacked', async () => {
    const { tree } = await readPackageArchive(
      archive([{ path: 'metadata.yaml', content: 'name: !!python/object:os.system x\n' }]),
    );
    expect(checkPackage(tree!).errors.map(({ code, line }) => [code, line])).toEqual([['package.yaml-tag', 1]]);
  });
});

describe('package folders', () => {
  it('follows links inside the package and refuses those that leave it', async () => {
    const folder = await newPackage('p');
    symlinkSync('metadata.yaml', join(folder, 'again.yaml'));
    symlinkSync('/etc/hostname', join(folder, 'host.txt'));
    symlinkSync('..', join(folder, 'up'));
    symlinkSync('release', join(folder, 'inside'));
    symlinkSync('.', join(folder, 'release/loop'));
    const tree = await readPackageFolder(folder);
    expect(tree.files.get('again.yaml')?.content).toEqual(tree.files.get('metadata.yaml')?.content);
    expect(tree.folders.has('inside/graphs')).toBe(true);
    expect(
      checkPackage(tree)
        .errors.map(({ code, file }) => [code, file])
        .sort(),
    ).toEqual([
      ['package.refused-file', 'host.txt'],
      ['package.refused-file', 'inside/loop'],
      ['package.refused-file', 'release/loop'],
      ['package.refused-file', 'up'],
    ]);
  });

  it('are reported if missing, or already present', async () => {
    await expect(readPackageFolder(join(work, 'none'))).rejects.toThrow(/none does not exist$/);
    const folder = await newPackage('p');
    await expect(writePackageFolder(packageTemplate('p', 'release'), folder)).rejects.toSatisfy(
      (error: PackageDiskError) => error.message.endsWith('already exists; choose another name'),
    );
  });
});

describe('templates', () => {
  it.each([
    ['a release', 'release'],
    ['an extension', 'extension'],
  ] as const)('of %s pass the check without findings', (_what, kind) => {
    for (const name of ['thing', 'Thing_2', 'x-y']) {
      const { verdict, warnings } = checkPackage(packageTemplate(name, kind));
      expect([verdict, warnings]).toEqual(['valid', []]);
    }
  });
});
