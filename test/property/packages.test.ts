import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPackage, packageInstallation, packageTree } from '../../src/packages/index.ts';
import { readTar, tarEnd, tarHeader, tarPadding } from '../../src/packages/tar.ts';
import { bytesInMemory } from '../rig/bytes-in-memory.ts';
import { mutate, random } from '../unit/packages/mutations.ts';
import { contentsOf, vectors } from '../unit/packages/recorded-packages.ts';

const bases = [...vectors('mutated'), ...vectors('real')];

describe('mutated packages', () => {
  // bench/fuzz-packages.ts does the same 10,000 times.
  it('never crash the check, and get a place for every finding', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.nat({ max: bases.length - 1 }), (seed, index) => {
        const base = bases[index]!;
        const folders = base.package?.dirs ?? base.dirs_added;
        const report = checkPackage(packageTree(base.id, mutate(contentsOf(base), random(seed)), folders));
        expect(report.verdict === 'invalid').toBe(report.errors.length > 0);
        for (const { file, line, column, path, message, code } of [...report.errors, ...report.warnings]) {
          expect(file).not.toBe('');
          expect(line).toBeGreaterThanOrEqual(1);
          expect(column).toBeGreaterThanOrEqual(1);
          expect(path).toBeTypeOf('string');
          expect(message).not.toBe('');
          expect(code).toMatch(/^(package|yaml)\.[a-z0-9-]+$/);
        }
        expect(JSON.stringify(report.tree)).toBeTypeOf('string');
        const installation = packageInstallation(report);
        expect(installation === undefined).toBe(report.verdict === 'invalid');
        for (const { graphs } of installation ? [...installation.releases, installation.plugin] : []) {
          for (const graph of graphs) expect(graph.locate(['tasks', 0, 'id']).place.line).toBeGreaterThanOrEqual(1);
        }
      }),
      { numRuns: 400, seed: 7 },
    );
  });

  it('get an answer for any metadata.yaml', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.uint8Array({ maxLength: 60 }), fc.json()), (content) => {
        const report = checkPackage(packageTree('p', [['metadata.yaml', content]]));
        expect(report.verdict).toBe('invalid');
        expect(report.errors.length).toBeGreaterThan(0);
      }),
      { numRuns: 300, seed: 7 },
    );
  });
});

describe('tar', () => {
  const limits = { maxMembers: 1000, maxPathBytes: 4096, maxDepth: 100 };
  const name = fc.stringMatching(/^[a-zé_0-9-]{1,60}$/);
  const path = fc.array(name, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'));

  it('archives are read back as written', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.record({ path, content: fc.uint8Array({ maxLength: 1100 }), executable: fc.boolean() }), {
          selector: (file) => file.path,
          maxLength: 5,
        }),
        (files) => {
          const parts = files.flatMap((file) => [
            tarHeader(file.path, 'file', file.content.length, file.executable),
            file.content,
            tarPadding(file.content.length),
          ]);
          const whole = new Uint8Array(Buffer.concat([...parts, tarEnd()]));
          const { members, problems } = readTar(bytesInMemory(whole), limits);
          expect(problems).toEqual([]);
          expect(
            members.map((member) => ({
              path: member.path,
              content: [...whole.subarray(member.at, member.at + member.size)],
              executable: member.executable,
            })),
          ).toEqual(files.map((file) => ({ ...file, content: [...file.content] })));
        },
      ),
      { numRuns: 100, seed: 7 },
    );
  });

  it('any bytes get an answer', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 3000 }),
        fc.nat({ max: 1535 }),
        fc.nat({ max: 255 }),
        (noise, at, byte) => {
          readTar(bytesInMemory(noise), limits);
          const bytes = new Uint8Array(
            Buffer.concat([tarHeader('a/b', 'file', 4, false), new Uint8Array(512), tarEnd()]),
          );
          bytes[at] = byte;
          for (const member of readTar(bytesInMemory(bytes), limits).members)
            expect(member.path).not.toMatch(/^\/|(^|\/)\.\.(\/|$)/);
        },
      ),
      { numRuns: 300, seed: 7 },
    );
  });
});
