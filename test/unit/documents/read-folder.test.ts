import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDocumentFiles } from '../../../src/documents/index.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'documents-'));
});
afterEach(() => rm(root, { recursive: true }));

const put = async (path: string, text: string | Uint8Array = 'a: 1'): Promise<void> => {
  await mkdir(join(root, path, '..'), { recursive: true });
  await writeFile(join(root, path), text);
};
const read = async (paths: string[], limits = {}) => {
  const { files, diagnostics } = await readDocumentFiles(
    paths.map((path) => join(root, path)),
    limits,
  );
  const short = (path: string | undefined) => path?.slice(root.length + 1);
  return {
    names: files.map(({ name }) => short(name)),
    texts: files.map(({ text }) => text),
    problems: diagnostics.map(({ code, file }) => [code, short(file)]),
  };
};

describe('a folder', () => {
  it('returns its YAML files at any depth, sorted', async () => {
    for (const path of ['site/z.yaml', 'site/a/b/c.yml', 'site/a.YAML', 'site/readme.md', 'site/.git/x.yaml'])
      await put(path);
    const { names, problems } = await read(['site']);
    expect(names).toEqual(['site/a.YAML', 'site/a/b/c.yml', 'site/z.yaml']);
    expect(problems).toEqual([]);
  });

  it('is not left through links; links inside are followed once', async () => {
    await put('secret/key.yaml', 'secret');
    await put('site/real.yaml');
    await put('site/sub/x.yaml');
    await symlink(join(root, 'secret/key.yaml'), join(root, 'site/file.yaml'));
    await symlink(join(root, 'secret'), join(root, 'site/folder'));
    await symlink(join(root, 'site'), join(root, 'site/ring'));
    await symlink('real.yaml', join(root, 'site/same.yaml'));
    await symlink('nowhere.yaml', join(root, 'site/broken.yaml'));
    const { names, texts, problems } = await read(['site']);
    expect(names).toEqual(['site/real.yaml', 'site/same.yaml', 'site/sub/x.yaml']);
    expect(texts).not.toContain('secret');
    expect(problems).toEqual([
      ['files.unreadable', 'site/broken.yaml'],
      ['files.link-outside', 'site/file.yaml'],
      ['files.link-outside', 'site/folder'],
    ]);
  });

  it('without YAML files is an error', async () => {
    await put('site/readme.md');
    expect((await read(['site'])).problems).toEqual([['files.none', 'site']]);
  });
});

describe('files', () => {
  it('named one by one may have any name; a file named twice is read once', async () => {
    await put('documents.txt');
    await put('site/x.yaml');
    const { names, problems } = await read(['documents.txt', 'site/x.yaml', 'site', 'missing.yaml']);
    expect(names).toEqual(['documents.txt', 'site/x.yaml']);
    expect(problems).toEqual([['files.unreadable', 'missing.yaml']]);
  });

  it('that are too large, too many or no text are errors, and the others are read', async () => {
    await put('site/a.yaml', 'a: 12345678');
    await put('site/b.yaml', new Uint8Array([0x61, 0xff, 0xfe]));
    await put('site/c.yaml');
    await put('site/d.yaml');
    await put('site/e.yaml');
    const { names, problems } = await read(['site'], { maxFileBytes: 8, maxFiles: 2 });
    expect(names).toEqual(['site/c.yaml', 'site/d.yaml']);
    expect(problems).toEqual([
      ['files.too-large', 'site/a.yaml'],
      ['files.not-utf8', 'site/b.yaml'],
      ['files.too-many', 'site/e.yaml'],
    ]);
    expect((await read(['site'], { maxTotalBytes: 8 })).problems.map(([code]) => code)).toContain('files.too-many');
  });

  it('deeper than allowed are an error', async () => {
    await put('site/1/2/3/x.yaml');
    expect((await read(['site'], { maxDepth: 2 })).problems).toEqual([['files.too-deep', 'site/1/2/3']]);
  });
});
