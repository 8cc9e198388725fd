import { describe, expect, it } from 'vitest';
import { checkedPackage } from '../../../src/cli/commands/checked-package.ts';
import { checkPackage, definedReleases, packageContents, toJson } from '../../../src/packages/index.ts';
import { treeOf, vectors } from './recorded-packages.ts';

/** Differences between our releases and the recorded ones that are decisions of ours. */
const OWN_READING = new Map([
  ['glob-scalars', 'the recorder lost single values'],
  ['path-comment-only', 'the recorder dropped nulls'],
  ['path-false', 'the recorder lost single values'],
  ['rel-missing-name', 'release_name is the name of a release'],
  ['rel-os-both', 'operating_system wins over its alias'],
]);

/** Rulings that were made later than the recorded ones. */
const RULED_SINCE = new Map([['gtask-dup', 'invalid']]);

const verdictOf = ({ id, ruling }: ReturnType<typeof vectors>[number]) => RULED_SINCE.get(id) ?? ruling!.verdict;

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('recorded mutated packages', () => {
  it.each(vectors('mutated').map((vector) => [vector.id, vector] as const))('%s', (_id, vector) => {
    const report = checkPackage(treeOf(vector));
    expect({ verdict: report.verdict, errors: report.verdict === verdictOf(vector) ? [] : report.errors }).toEqual({
      verdict: verdictOf(vector),
      errors: [],
    });
    if (vector.ruling!.differs_from_oracle !== 'verdict' && vector.oracle.fpb5.tree !== undefined) {
      expect(plain(report.tree)).toEqual(vector.oracle.fpb5.tree);
    }
    const created = vector.oracle.nailgun?.releases_created;
    if (created && report.verdict === 'valid' && !OWN_READING.has(vector.id)) {
      expect(plain(definedReleases(report.loaded).map((release) => toJson(release)))).toEqual(created);
    }
  });

  it('are valid or invalid by package check, too, which looks at their graphs', async () => {
    const others: string[] = [];
    for (const vector of vectors('mutated')) {
      const { verdict, errors } = await checkedPackage(treeOf(vector));
      if (verdict !== verdictOf(vector)) others.push(`${vector.id}: ${errors.map(({ message }) => message)}`);
    }
    expect(others).toEqual([]);
  });

  const codes: Readonly<Record<string, string>> = {
    S2: 'package.deprecated-fuel-version',
    S3: 'package.deprecated-mode',
    S4: 'package.deprecated-tasks-file',
    S5: 'package.several-releases',
    S6: 'package.name-mismatch',
    S9: 'package.hotpluggable-ignored',
  };

  it('get a warning for every ruling', () => {
    const missing = vectors('mutated').flatMap((vector) => {
      const found = new Set(checkPackage(treeOf(vector)).warnings.map(({ code }) => code));
      return vector
        .ruling!.warnings.filter(({ code }) => !found.has(codes[code]!))
        .map(({ code }) => `${vector.id} ${code}`);
    });
    expect(missing).toEqual([]);
  });
});

describe('contents to be stored', () => {
  const valid = [...vectors('mutated'), ...vectors('real')].filter(
    (vector) => checkPackage(treeOf(vector)).verdict === 'valid',
  );

  it('have the keys and extension records that were recorded', () => {
    let compared = 0;
    for (const vector of valid) {
      const recorded = vector.oracle.nailgun;
      if (!recorded?.stored_keys) continue;
      const contents = packageContents(checkPackage(treeOf(vector)))!;
      // The recorder read one more file, of a later format.
      const keys = recorded.stored_keys.filter((key) => key !== 'tags_metadata');
      expect([vector.id, Object.keys(contents.plugin).sort()]).toEqual([vector.id, keys]);
      const extensions = recorded.extension_releases!.map(({ os, ...rest }) => ({
        ...rest,
        ...(os && { operating_system: os }),
      }));
      expect([vector.id, plain(contents.plugin.releases)]).toEqual([vector.id, extensions]);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(50);
  });

  it('are none for an invalid package', () => {
    const invalid = vectors('mutated').find(({ id }) => id === 'rel-and-ext')!;
    expect(packageContents(checkPackage(treeOf(invalid)))).toBeUndefined();
  });
});

describe('recorded real packages', () => {
  // The recordings name the released builder for all versions but 5.0.
  const oracle = (vector: ReturnType<typeof vectors>[number]) =>
    vector.oracle.fpb5.mapping === '5.0.x' ? vector.oracle.fpb5.verdict : vector.oracle.fpb42.verdict;

  it.each(vectors('real').map((vector) => [vector.id, vector] as const))('%s', (_id, vector) => {
    const report = checkPackage(treeOf(vector));
    expect([report.verdict, report.verdict === oracle(vector) ? [] : report.errors]).toEqual([oracle(vector), []]);
    expect(plain(report.tree)).toEqual(vector.oracle.fpb5.tree);
  });
});
