import { describe, expect, it } from 'vitest';
import { type ParseYamlOptions, parseYaml } from '../../../src/documents/index.ts';

const problems = (text: string, options?: ParseYamlOptions) =>
  parseYaml(text, options).diagnostics.map(({ code, line, column, text }) => [code, line, column, text]);
const values = (text: string) => parseYaml(text).documents.map((document) => document.value);

describe('values', () => {
  it('reads several documents, marked as real files mark them', () => {
    expect(values('---\na: 1\n...\n---\nb: [yes, 0644, ~]\n...\n#---\n#c: 3\n')).toEqual([
      { a: 1 },
      { b: [true, 420, null] },
    ]);
  });

  it('distinguishes an empty document from a null one with a place', () => {
    const { documents } = parseYaml('---\n# nothing\n---\na: 1\n---\nnull\n');
    expect(documents.map(({ empty }) => empty)).toEqual([true, false, false]);
  });

  // PyYAML 6.0.3's result for the same text.
  it.each([
    [
      'several sources: the first wins, own keys over all',
      'x: {<<: [{a: 1, b: 1}, {a: 2, c: 2}], b: 3}',
      { x: { a: 1, b: 3, c: 2 } },
    ],
    ['own keys before the merge win, too', 'x: {a: own, <<: {a: 1}}', { x: { a: 'own' } }],
    ['of two merges the last wins', 'x:\n  <<: {a: 1, b: 1}\n  <<: {a: 2}', { x: { a: 2, b: 1 } }],
    [
      'a merge of a merge',
      'a: &a {k: 1}\nb: &b {<<: *a, l: 2}\nc: {<<: *b}',
      { a: { k: 1 }, b: { k: 1, l: 2 }, c: { k: 1, l: 2 } },
    ],
    ['a quoted << is a key', 'x: {"<<": 1}', { x: { '<<': 1 } }],
  ])('merges as PyYAML does: %s', (_what, text, value) => {
    const parsed = parseYaml(text);
    expect(parsed.diagnostics).toEqual([]);
    expect(parsed.documents[0]!.value).toEqual(value);
  });

  it('makes keys text as JSON does', () => {
    expect(values('1: a\nyes: b\n~: c\n0x10: d\n"1e3": e')).toEqual([
      { 1: 'a', true: 'b', null: 'c', 16: 'd', '1e3': 'e' },
    ]);
  });

  it('keeps keys that name object internals as plain keys', () => {
    const value = values('__proto__: {polluted: yes}\nconstructor: 1')[0] as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('reads core tags and %TAG handles of them', () => {
    expect(values('%TAG !y! tag:yaml.org,2002:\n---\n- !!str 1\n- !y!int "0x1F"\n- ! yes\n- !!map {a: 1}')).toEqual([
      ['1', 31, 'yes', { a: 1 }],
    ]);
  });

  it('takes any indentation inside brackets and quotes, as PyYAML does', () => {
    expect(values('a: [1,\n2]\n')).toEqual([{ a: [1, 2] }]);
    expect(values('a:\n  b: {c: 1,\nd: 2\n}\ne: 3\n')).toEqual([{ a: { b: { c: 1, d: 2 } }, e: 3 }]);
    expect(values('a: [ # first\n1, # second\n2 # last\n]\n')).toEqual([{ a: [1, 2] }]);
    expect(values('a: "x\ny"\nb: [p\nq, \'r\n\ns\']\n')).toEqual([{ a: 'x y', b: ['p q', 'r\ns'] }]);
    expect(values('a: "x # y\nz"\n')).toEqual([{ a: 'x # y z' }]);
  });

  it('names the line that does not fit when a bracket or quote is never closed', () => {
    for (const text of ['a: [1,\nb: 2\nc: 3\n', 'a: "x\nb: 2\nc: 3\n'])
      expect(problems(text).map(([, line]) => line)).toEqual([2]);
    expect(problems('a: [1 # one\n2]\n')).toHaveLength(1);
  });

  it('takes a closing bracket on a line of its own, as PyYAML does', () => {
    const text = 'a:\n  nics: [\n    "8086:10f8",\n    x\n  ]\n  map: {\n    k: v\n\n  }\n  after: [1, [\n  ]]\n';
    const parsed = parseYaml(text);
    expect(parsed.diagnostics).toEqual([]);
    expect(parsed.documents[0]!.value).toEqual({ a: { nics: ['8086:10f8', 'x'], map: { k: 'v' }, after: [1, []] } });
    expect(parsed.documents[0]!.place(['a', 'after'])).toMatchObject({ line: 10, column: 10 });
  });
});

describe('places', () => {
  const text = [
    '\uFEFF# comment',
    'schema: x',
    'data:',
    '  "quoted key": \'a value\'',
    '  list:',
    '    - one',
    '    - name: 😀 two',
    '      empty:',
    '  flow: {a: [1, 22], b: &anchor {deep: here}}',
    '  ref: *anchor',
    '  merged:',
    '    <<: *anchor',
    '  block: |',
    '    first line',
    '    second line',
  ].join('\r\n');
  const document = parseYaml(text, { file: 'f.yaml' }).documents[0]!;

  it.each([
    [['schema'], 'value', 2, 9, 'x'],
    [['schema'], 'key', 2, 1, 'schema'],
    [['data', 'quoted key'], 'value', 4, 17, "'a value'"],
    [['data', 'quoted key'], 'key', 4, 3, '"quoted key"'],
    [['data', 'list', 0], 'value', 6, 7, 'one'],
    [['data', 'list', 1, 'name'], 'value', 7, 13, '😀 two'],
    [['data', 'list', 1, 'empty'], 'value', 8, 7, 'empty'],
    [['data', 'flow', 'a', 1], 'value', 9, 17, '22'],
    [['data', 'ref', 'deep'], 'value', 9, 40, 'here'],
    [['data', 'merged', 'deep'], 'value', 9, 40, 'here'],
    [['data', 'block'], 'value', 14, 5, 'first line'],
    // A missing field has the place of its parent.
    [['data', 'list', 1, 'missing'], 'value', 7, 7, 'name: 😀 two'],
    [['data', 'missing', 'more'], 'value', 3, 1, 'data'],
    [['missing'], 'value', 2, 1, 'schema: x'],
  ] as const)('%j (%s) is at %i:%i', (path, part, line, column, found) => {
    expect(document.place(path, part)).toEqual({ line, column, text: found });
  });
});

describe('mistakes', () => {
  it('include every duplicate key, with both places', () => {
    const { diagnostics } = parseYaml('a: 1\nb:\n  c: [1]\n  c: [2]\na: 2\nd: 1\nd: 1\n', { file: 'f.yaml' });
    expect(diagnostics.map(({ severity, line, column, message }) => [severity, line, column, message])).toEqual([
      ['error', 4, 3, "duplicate key 'c'; first on line 3, column 3"],
      ['error', 5, 1, "duplicate key 'a'; first on line 1, column 1"],
      // Real site documents repeat a key with the same value; nothing is lost by that.
      ['warning', 7, 1, "duplicate key 'd'; first on line 6, column 1"],
    ]);
  });

  it('include a syntax error of each document, and the problems of the valid ones', () => {
    const text = 'a: [1\n---\nb: 1\nb: 2\n---\nc: "x\n---\nd: *nowhere\n';
    expect(problems(text)).toEqual([
      ['yaml.syntax', 1, 1, 'a: [1'],
      ['yaml.duplicate-key', 4, 1, 'b'],
      ['yaml.syntax', 6, 1, 'c: "x'],
      ['yaml.unknown-alias', 8, 4, '*nowhere'],
    ]);
  });

  it.each([
    ['a: \tb:\n\t- c', 'yaml.syntax'],
    ['a: {{ template }}', 'yaml.complex-key'],
    ['{a: b', 'yaml.syntax'],
    ['a: b: c', 'yaml.syntax'],
    ['%YAML 3.0\n---\na', 'yaml.syntax'],
    ['a: \u0007', 'yaml.syntax'],
    ['a: "\u0000"', 'yaml.syntax'],
    ['? [a]\n: b', 'yaml.complex-key'],
    ['a: !!python/object:os.system x', 'yaml.unknown-tag'],
    ['a: !vault [x]', 'yaml.unknown-tag'],
    ['a: !!int three', 'yaml.tag-value'],
    ['a: &a [*a]', 'yaml.recursive-alias'],
    ['a: {<<: 1}', 'yaml.merge-value'],
    ['a: {<<: [{b: 1}, 2]}', 'yaml.merge-value'],
    ['a: &x 1\n---\nb: *x', 'yaml.unknown-alias'],
  ])('%j is %s, with a place', (text, code) => {
    const { diagnostics } = parseYaml(text, { file: 'f.yaml' });
    expect(diagnostics[0]).toMatchObject({ code, severity: 'error', file: 'f.yaml' });
    expect(diagnostics[0]!.line).toBeGreaterThan(0);
  });

  it('in anchors come with a suggestion', () => {
    expect(parseYaml('a: &defaults 1\nb: *defualts').diagnostics[0]!.hint).toBe("Did you mean 'defaults'?");
  });
});

describe('limits', () => {
  it('refuses an alias bomb without expanding it', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 12; level++) {
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(', ')}]`,
      );
    }
    const { documents, diagnostics } = parseYaml(lines.join('\n'), { file: 'bomb.yaml' });
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ code: 'yaml.alias-expansion', file: 'bomb.yaml', line: 6 });
    expect(documents[0]!.usable).toBe(false);
  });

  it('refuses a bomb made of merges', () => {
    const keys = Array.from({ length: 100 }, (_, index) => `k${index}: 1`).join(', ');
    const merges = Array.from({ length: 3000 }, (_, index) => `m${index}: {<<: *base}`).join('\n');
    expect(problems(`base: &base {${keys}}\n${merges}`)[0]?.[0]).toBe('yaml.alias-expansion');
  });

  it.each([
    ['yaml.too-large', 'a: 12345', { maxBytes: 7 }],
    ['yaml.too-deep', '[[[[1]]]]', { maxDepth: 3 }],
    ['yaml.too-many-values', 'a: [1, 2, 3]\n# one\nb: 1\nc: 2', { maxMarks: 4 }],
    ['yaml.too-many-documents', '--- 1\n--- 2\n--- 3', { maxDocuments: 2 }],
    ['yaml.too-many-aliases', 'a: &a 1\nb: [*a, *a, *a]', { maxAliases: 2 }],
    ['yaml.alias-expansion', 'a: &a [1, 2]\nb: [*a, *a]', { maxExpandedValues: 5 }],
  ])('%s', (code, text, limits) => {
    expect(problems(text, { limits }).map(([found, line]) => [found, typeof line])).toEqual([[code, 'number']]);
    const enough = Object.fromEntries(Object.entries(limits).map(([key, value]) => [key, value + 4]));
    expect(problems(text, { limits: enough })).toEqual([]);
  });

  it('refuses a hundred thousand brackets as too deep', () => {
    expect(problems('['.repeat(100_000))[0]?.[0]).toBe('yaml.too-deep');
    expect(problems('- '.repeat(100_000))[0]?.[0]).toBe('yaml.too-deep');
  });
});

it.each([
  ['documents', '---\n'.repeat(2_000_000), 'yaml.too-many-documents'],
  ['keys', 'a: 1\n'.repeat(600_000), 'yaml.too-many-values'],
  ['keys of one line', `{${'a: 1, '.repeat(600_000)}}`, 'yaml.too-many-values'],
  ['anchors', '- &a x\n'.repeat(600_000), 'yaml.too-many-values'],
])('more %s than a file may have are refused before they are read', (_, text, code) => {
  const before = process.cpuUsage();
  expect(parseYaml(text).diagnostics.map((one) => one.code)).toEqual([code]);
  // Seconds when they were read first.
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(1);
});
