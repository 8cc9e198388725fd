import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OpenReader, openReader, readerHere } from '../../../src/ops/index.ts';
import { DEFAULT_ARCHIVE_LIMITS } from '../../../src/packages/index.ts';

let reader: OpenReader;
beforeAll(() => {
  reader = openReader();
});
afterAll(() => reader.close());

const file = (text: string) => [{ name: 'a.yaml', text }];

describe('user input is read in threads', () => {
  it('with the same result as in this thread', async () => {
    const documents = file('schema: x/Y/v1\nmetadata: {name: n}\ndata: {a: "\\0"}\n');
    expect(await reader.site(documents)).toEqual(await readerHere.site(documents));
    const graph = {
      source: { yaml: '- id: a\n  type: shell\n  version: 2.1.0\n  requires: [b]\n' },
      as: 'either',
      surroundings: { known: new Set(['c']) },
    } as const;
    expect(await reader.graph(graph)).toEqual(await readerHere.graph(graph));
  });

  it('with the same refusals as in this thread', async () => {
    const broken = { source: { yaml: 'a: [' }, as: 'graph', surroundings: {} } as const;
    const refusal = await readerHere.graph(broken).catch(({ problem }: { problem: unknown }) => problem);
    expect(refusal).toMatchObject({ code: 'invalid', errors: [{ line: 1 }] });
    await expect(reader.graph(broken)).rejects.toMatchObject({ problem: refusal });
    const folder = await mkdtemp(join(tmpdir(), 'sitewright-reading-'));
    const archive = join(folder, 'p.tar.gz');
    await writeFile(archive, 'no archive');
    await expect(reader.package(archive)).rejects.toMatchObject({ problem: { code: 'invalid' } });
    await rm(folder, { recursive: true });
  });

  it('with the configured limits of archives', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sitewright-reading-'));
    const archive = join(folder, 'p.tar.gz');
    await writeFile(archive, gzipSync(Buffer.alloc(2_000_000)));
    const limited = openReader({ ...DEFAULT_ARCHIVE_LIMITS, maxUnpackedBytes: 1_000_000 });
    const errors = [{ code: 'archive.bomb', message: 'it unpacks to more than 1000000 bytes' }];
    await expect(limited.package(archive)).rejects.toMatchObject({ problem: { code: 'invalid', errors } });
    await limited.close();
    await rm(folder, { recursive: true });
  });

  it('without blocking this thread, and small inputs do not wait for large ones', async () => {
    const ends: string[] = [];
    const large = reader.site(file('k: v\n'.repeat(100_000))).then(() => ends.push('large'));
    const small = reader.site(file('a: 1\n')).then(() => ends.push('small'));
    await Promise.all([large, small]);
    expect(ends).toEqual(['small', 'large']);
  });
});
