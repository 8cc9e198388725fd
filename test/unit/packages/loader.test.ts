import { describe, expect, it } from 'vitest';
import { checkPackage, type PackageReport, packageTree } from '../../../src/packages/index.ts';

/** A minimal release package, with additions to the record and more files. */
function check(record: string, files: Record<string, string> = {}, folders: string[] = []): PackageReport {
  const metadata = `name: p
title: p
version: '1.0.0'
package_version: '5.0.0'
description: d
licenses: []
authors: []
homepage: h
groups: []
releases:
  - release_name: p
    description: d
    operating_system: ubuntu
    version: p-1.0
    is_release: true
${record}`;
  return checkPackage(packageTree('p', [['metadata.yaml', metadata], ...Object.entries(files)], folders));
}

const record = (report: PackageReport): Record<string, unknown> =>
  (report.tree as { releases: Record<string, unknown>[] }).releases[0]!;

const found = (report: PackageReport) =>
  report.errors.map(({ code, file, line, path }) => ({ code, file, line, path }));

describe('paths of metadata.yaml', () => {
  it('replaces a file by its data and keeps a folder', () => {
    const report = check('    x_path: a.yaml\n    y_path: some/folder\n    z_path: ""\n', { 'a.yaml': '{b: 1}' }, [
      'some/folder',
    ]);
    expect(record(report)).toMatchObject({ x: { b: 1 }, y_path: 'some/folder', z_path: '' });
    expect(record(report)).not.toHaveProperty('x_path');
    expect(report.errors).toEqual([]);
  });

  it('merges mappings by key and lists by order, in the order of the paths', () => {
    const report = check('    x_path: m/*.yaml\n    y_path: l/?.json\n', {
      'm/b.yaml': 'k: 2\nn: {b: 1}',
      'm/a.yaml': 'k: 1\nn: {a: 1}',
      'l/2.json': '[3]',
      'l/1.json': '[1, 2]',
    });
    expect(record(report)).toMatchObject({ x: { k: 2, n: { b: 1 } }, y: [1, 2, 3] });
  });

  it('searches folders for **', () => {
    const report = check('    x_path: g/**/*.yaml\n', { 'g/a.yaml': '[1]', 'g/b/c/d.yaml': '[2]', 'h/e.yaml': '[3]' });
    expect(record(report)).toMatchObject({ x: [1, 2] });
  });

  it.each([
    ['a list and a mapping', '[1]', '{a: 1}'],
    ['a mapping and a text', '{a: 1}', 'text'],
    ['an empty list and a mapping', '[]', '{a: 1}'],
  ])('refuses %s under one glob', (_what, first, second) => {
    const report = check('    x_path: g/*.yaml\n', { 'g/a.yaml': first, 'g/b.yaml': second });
    expect(found(report)).toEqual([
      { code: 'package.mixed-roots', file: 'metadata.yaml', line: 16, path: 'releases[0].x_path' },
    ]);
    expect(record(report)).toMatchObject({ x_path: 'g/*.yaml' });
  });

  it('adds nothing to a mapping for an empty file, and a null to a list', () => {
    const files = { 'g/a.yaml': '# no data', 'g/b.yaml': '{a: 1}', 'h/a.yaml': '', 'h/b.yaml': '[1]' };
    expect(record(check('    x_path: g/*.yaml\n    y_path: h/*.yaml\n', files))).toMatchObject({
      x: { a: 1 },
      y: [1, null],
    });
  });

  it('does not expand loaded data', () => {
    expect(record(check('    x_path: a.yaml\n', { 'a.yaml': 'y_path: nowhere.yaml' }))).toMatchObject({
      x: { y_path: 'nowhere.yaml' },
    });
  });

  it.each(['../other.yaml', '/etc/hostname', 'a/../../p/a.yaml', '~/a.yaml', '../*.yaml'])(
    'refuses %s, which leaves the package',
    (path) => {
      const report = check(`    x_path: ${path}\n`, { 'a.yaml': '1', 'a/b.yaml': '1' });
      expect(report.errors.map(({ code }) => code)).toEqual(['package.path-outside']);
    },
  );

  it.each(['deployment_scripts_path', 'repository_path'])('refuses a path of %s that leaves the package', (key) => {
    expect(check(`    ${key}: ../elsewhere\n`).errors.map(({ code }) => code)).toEqual(['package.path-outside']);
  });

  it.each(['roles', 'graphs', 'volumes', 'anything'])('refuses %s together with its path', (key) => {
    const report = check(`    ${key}: []\n    ${key}_path: a.yaml\n`, { 'a.yaml': '[]' });
    expect(found(report)).toContainEqual({
      code: 'package.key-and-path',
      file: 'metadata.yaml',
      line: 16,
      path: `releases[0].${key}`,
    });
  });

  it.each(['!!python/object/apply:os.system [id]', '!mine {}', '!!str 1', '! x', '!!set {a}'])(
    'refuses the tag of %s',
    (text) => {
      const report = check('    x_path: a.yaml\n', { 'a.yaml': `k:\n  ${text}\n` });
      expect(report.errors.map(({ code, file, line }) => ({ code, file, line }))).toEqual([
        { code: 'package.yaml-tag', file: 'a.yaml', line: 2 },
      ]);
    },
  );

  it('reports all problems, each with its place', () => {
    const report = check('    a_path: none.yaml\n    b_path: b.yaml\n    graphs: [{tasks: [{id: 1}], colour: red}]\n', {
      'b.yaml': 'x: [1\n',
    });
    expect(found(report)).toEqual([
      { code: 'package.file-not-found', file: 'metadata.yaml', line: 16, path: 'releases[0].a_path' },
      { code: 'yaml.syntax', file: 'b.yaml', line: 1, path: '' },
      { code: 'package.missing-key', file: 'metadata.yaml', line: 18, path: 'releases[0].graphs[0].tasks[0].type' },
      { code: 'package.kind', file: 'metadata.yaml', line: 18, path: 'releases[0].graphs[0].tasks[0].id' },
      { code: 'package.unknown-key', file: 'metadata.yaml', line: 18, path: 'releases[0].graphs[0].colour' },
    ]);
    for (const { hint, code } of report.errors) if (code !== 'package.kind') expect(hint).toBeTruthy();
  });

  it('quickly refuses aliases that expand to a billion values', () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(9).fill(`*l${level}`).join(', ')}]`,
    );
    const report = check('    x_path: a.yaml\n', { 'a.yaml': `l0: &l0 x\n${levels.join('\n')}\n` });
    expect(report.errors.map(({ code }) => code)).toEqual(['package.too-many-values']);
  });

  it('refuses a long text that many keys refer to', () => {
    const keys = Array.from({ length: 100 }, (_, index) => `    x${index}_path: a.txt\n`).join('');
    const report = check(keys, { 'a.txt': 'x'.repeat(2_000_000) });
    expect(report.errors.map(({ code }) => code)).toEqual(['package.too-many-values']);
    expect(report.tree).toBeNull();
  });

  it('lists at most a thousand errors, and finds errors behind any number of warnings', () => {
    const tasks = Array.from({ length: 1500 }, () => '- {id: a, type: b}\n').join('');
    const many = check('    graphs: [{type: t, tasks_path: t.yaml}]\n', { 't.yaml': tasks });
    expect(many.errors).toHaveLength(1001);
    expect(many.errors.at(-1)?.code).toBe('package.too-many-findings');
    const warned = '      - {type: t, tasks: []}\n'.repeat(1500);
    const last = check(`    graphs:\n${warned}      - {type: u, tasks: [{id: a}]}\n`);
    expect(last.errors.map(({ code }) => code)).toEqual(['package.missing-key']);
    expect(last.warnings.length).toBeGreaterThan(1000);
  });

  it.each([
    ['nothing', {}, 'package.file-not-found metadata.yaml'],
    ['what is no YAML', { 'g.yaml': '- id: a\n  - b\n' }, 'yaml.syntax g.yaml'],
  ])('a path that leads to %s is one error, wherever the data is needed', (_, files, error) => {
    const report = check('    graphs: [{type: t, tasks_path: g.yaml}]\n', files);
    expect(report.errors.map(({ code, file }) => `${code} ${file}`)).toEqual([error]);
  });

  it('stops at two thousand paths', () => {
    const report = check(Array.from({ length: 2001 }, (_, index) => `    x${index}_path: a.yaml\n`).join(''), {
      'a.yaml': '1',
    });
    expect(found(report)).toEqual([
      { code: 'package.too-many-paths', file: 'metadata.yaml', line: 2016, path: 'releases[0].x2000_path' },
    ]);
  });

  it('quickly handles a glob of many stars', () => {
    const report = check(`    x_path: '${'*a'.repeat(60)}b.yaml'\n`, { [`${'a'.repeat(240)}.yaml`]: '1' });
    expect(report.errors.map(({ code }) => code)).toEqual(['package.file-not-found']);
  });
});

describe('scalars', () => {
  it('reads YAML 1.1 as PyYAML does', () => {
    const report = check('    x_path: a.yaml\n', {
      'a.yaml':
        'a: 010\nb: 12:30:45\nc: 1e3\nd: 1_000\ne: yes\nf: off\ng: y\nh: 2016-01-02\ni: 2016-01-02T03:04:05Z\nj: 0x1F\nk: .inf\nl: ~\nm: 0b11\n',
    });
    expect(record(report).x).toEqual({
      a: 8,
      b: 45045,
      c: '1e3',
      d: 1000,
      e: true,
      f: false,
      g: 'y',
      h: { $yaml_timestamp: '2016-01-02' },
      i: { $yaml_timestamp: '2016-01-02T03:04:05' },
      j: 31,
      k: 'inf',
      l: null,
      m: 3,
    });
  });

  it('distinguishes dates and fractions from texts and whole numbers', () => {
    const report = check('    graphs: [{type: t, tasks: [{id: a, type: shell, version: 2016-01-01}]}]\n');
    expect(report.errors.map(({ code, message }) => [code, message])).toEqual([
      ['package.kind', "'version' must be text, not a date"],
    ]);
  });

  it('takes the last of equal keys, with a warning', () => {
    const report = check('    x_path: a.yaml\n', { 'a.yaml': 'k: 1\nk: 2\n' });
    expect(record(report).x).toEqual({ k: 2 });
    expect(report.warnings.map(({ code, line }) => [code, line])).toContainEqual(['package.duplicate-key', 2]);
  });

  it('keeps a key that is a name of every object', () => {
    const report = check('    x_path: a.yaml\n', { 'a.yaml': '__proto__: {polluted: true}\nconstructor: 1\n' });
    expect(JSON.stringify(record(report).x)).toBe('{"__proto__":{"polluted":true},"constructor":1}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('reads !!pairs, which released plugins use', () => {
    const report = check('    x_path: a.yaml\n', { 'a.yaml': '!!pairs [a: 1, a: 2]\n' });
    expect(record(report).x).toEqual([
      ['a', 1],
      ['a', 2],
    ]);
    expect(report.verdict).toBe('valid');
  });
});

describe('releases', () => {
  const file = {
    'base.yaml': 'description: from base\nroles: {a: {name: a, description: a}, b: {name: b, description: b}}\n',
  };

  it('refuses a base template that is a list', () => {
    expect(check('    base_release_path: b.yaml\n', { 'b.yaml': '[1]' }).errors.map(({ code }) => code)).toEqual([
      'package.base-not-mapping',
    ]);
  });

  it('takes required fields from the base, and lets a null of the record hide them', () => {
    const metadata = (extra: string) =>
      `name: p\ntitle: p\nversion: '1.0.0'\npackage_version: '5.0.0'\ndescription: d\nlicenses: []\nauthors: []\nhomepage: h\ngroups: []\nreleases:\n- is_release: true\n  release_name: p\n  os: ubuntu\n  version: v-1\n  base_release_path: base.yaml\n${extra}`;
    const verdict = (extra: string) =>
      checkPackage(packageTree('p', [['metadata.yaml', metadata(extra)], ...Object.entries(file)]));
    expect(verdict('').verdict).toBe('valid');
    expect(verdict('  description: null\n').errors.map(({ code }) => code)).toEqual(['package.release-field']);
  });

  it('requires release_name, description, operating_system or os, and version', () => {
    const report = checkPackage(
      packageTree('p', [
        [
          'metadata.yaml',
          "name: p\ntitle: p\nversion: '1.0.0'\npackage_version: '5.0.0'\ndescription: d\nlicenses: []\nauthors: []\nhomepage: h\ngroups: []\nreleases:\n- is_release: true\n  name: p\n",
        ],
      ]),
    );
    expect(report.errors.map(({ path, line }) => [path, line])).toEqual([
      ['releases[0].release_name', 11],
      ['releases[0].description', 11],
      ['releases[0].operating_system', 11],
      ['releases[0].version', 11],
    ]);
  });

  it('warns of several releases', () => {
    const report = check('  - {is_release: true, release_name: q, description: d, os: u, version: v}\n');
    expect(report.verdict).toBe('valid');
    expect(report.warnings.map(({ code, line }) => [code, line])).toEqual([
      ['package.name-mismatch', 16],
      ['package.several-releases', 16],
    ]);
  });

  it('refuses a release together with an extension', () => {
    expect(found(check('  - {os: ubuntu, version: v}\n'))).toEqual([
      { code: 'package.release-beside-extension', file: 'metadata.yaml', line: 16, path: 'releases[1]' },
    ]);
  });

  it('warns of mode and modes', () => {
    const report = check('    mode: [ha]\n    modes: [x]\n');
    expect(report.verdict).toBe('valid');
    expect(report.warnings.map(({ code, path }) => [code, path])).toEqual([
      ['package.deprecated-mode', 'releases[0].mode'],
      ['package.deprecated-mode', 'releases[0].modes'],
    ]);
  });
});

describe('YAML as PyYAML reads it', () => {
  const environment = (text: string): string[] =>
    check('', { 'environment_config.yaml': text }).errors.map(({ code, line, column }) => `${code} ${line}:${column}`);

  it.each(['a:\tx', 'a: x\t', 'a\t: x', 'a: x\ty', 'a: "x"\t# c', 'a: >-\t\n  x', 'a: x\n\t\nb: y'])(
    'refuses a tab outside of quotes, blocks and comments: %j',
    (text) => {
      const before = text.slice(0, text.indexOf('\t')).split('\n');
      expect(environment(`${text}\n`)).toContain(`yaml.syntax ${before.length}:${before.at(-1)!.length + 1}`);
    },
  );

  it.each(['#\tc', 'a: "x\ty"', "a: 'x\ty'", 'a: |\n  x\ty', 'a: x #\tc'])('accepts a tab in %j', (text) => {
    expect(environment(`${text}\n`).filter((found) => found.startsWith('yaml.'))).toEqual([]);
  });

  it('accepts any indentation inside brackets', () => {
    const report = check('    x_path: a.yaml\n', { 'a.yaml': 'b: [\n1,\n2\n]\n' });
    expect(record(report)).toMatchObject({ x: { b: [1, 2] } });
  });
});
