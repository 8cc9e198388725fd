import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkStrategy } from '../../src/core/deployment/check-strategy.ts';
import {
  canonicalJson,
  formatDiagnosticLine,
  formatDiagnostics,
  loadSite,
  parseStrategyData,
  parseYaml,
  readPlainScalar,
  type SourceFile,
} from '../../src/documents/index.ts';

const folder = new URL('../data/shipyard/', import.meta.url);
const real = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
  // Comments are most of some files; changes there would change nothing.
  .map(({ name, text }) => ({ name, text: text.replace(/^ *#.*\n/gm, '') }));

/** Properties of every answer, whatever the text. */
function checkAnswer(files: readonly SourceFile[]): void {
  const { site, diagnostics } = loadSite(files);
  const lines = new Map(files.map(({ name, text }) => [name, text.split(/\r\n|\r|\n/)]));
  for (const diagnostic of diagnostics) {
    const { file, line, column, message, code } = diagnostic;
    expect(code).toMatch(/^[a-z]+\.[a-z-]+$/);
    expect(message).not.toBe('');
    expect(message).not.toMatch(/undefined|\[object|NaN/);
    const text = lines.get(file!)?.[line! - 1];
    expect(text, formatDiagnosticLine(diagnostic)).toBeDefined();
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column! - 1).toBeLessThanOrEqual([...text!].length);
    if (diagnostic.text)
      expect(text!.slice([...text!].slice(0, column! - 1).join('').length)).toContain(
        diagnostic.text.replace(/…$/, '').slice(0, 50),
      );
  }
  const printed = formatDiagnostics(diagnostics, files);
  expect(printed.endsWith('\n') || diagnostics.length === 0).toBe(true);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for these
  expect(printed).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/);
  const hasErrors = diagnostics.some(({ severity }) => severity === 'error');
  expect(site === undefined).toBe(hasErrors);
  if (site?.strategy) expect(checkStrategy(site.strategy)).toEqual([]);
}

const SNIPPETS = [
  '&a ',
  '*a',
  '!!str ',
  '!x ',
  '<<: *a\n',
  '- ',
  ': ',
  '"',
  "'",
  '[',
  ']',
  '{',
  '}',
  '|\n',
  '---\n',
  '...\n',
  '\t',
  '\u0007',
  '\r',
  '%YAML 1.1\n',
  '#',
  '\uFEFF',
  '😀',
  '\ud800',
  '? ',
  'no',
  '0x',
  '~',
  '1e9',
  '\n\n',
];

type Edit = { at: number; remove: number; insert: string };
const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(12)),
  insert: fc.oneof(fc.constantFrom(...SNIPPETS), fc.string({ maxLength: 6, unit: 'binary' }), fc.constant('')),
});

function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = text;
  for (const { at, remove, insert } of edits) {
    const start = Math.floor(at * result.length);
    result = result.slice(0, start) + insert + result.slice(start + remove);
  }
  return result;
}

describe('whatever is done to real documents', () => {
  it('text edits end in a site or in errors with a place', () => {
    fc.assert(
      fc.property(fc.constantFrom(...real), fc.array(edit, { minLength: 1, maxLength: 4 }), (file, edits) => {
        checkAnswer([{ name: file.name, text: applyEdits(file.text, edits) }]);
      }),
      { numRuns: 400 },
    );
  });

  it('values replaced anywhere end in a site or in errors with a place', () => {
    const weird = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom<unknown>(null, true, -1, 1.5, '', '!', 'a:b:c', [], {}, [{}], 1e300),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...real),
        fc.array(fc.tuple(fc.nat(), weird), { minLength: 1, maxLength: 3 }),
        (file, changes) => {
          const values = parseYaml(file.text).documents.map((document) => structuredClone(document.value));
          for (const [position, replacement] of changes) {
            const slots: [Record<string, unknown>, string][] = [];
            const collect = (value: unknown): void => {
              if (value === null || typeof value !== 'object') return;
              for (const key of Object.keys(value)) {
                slots.push([value as Record<string, unknown>, key]);
                collect((value as Record<string, unknown>)[key]);
              }
            };
            collect(values);
            const slot = slots[position % slots.length];
            if (slot) slot[0][slot[1]] = structuredClone(replacement);
          }
          const text = values.map((value) => `---\n${JSON.stringify(value, null, 1)}\n`).join('');
          checkAnswer([{ name: file.name, text }]);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('any text at all ends in documents or errors', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constantFrom(...SNIPPETS, 'a', 'schema: ', '\n', '  '),
            fc.string({ unit: 'binary', maxLength: 3 }),
          ),
        ),
        (parts) => {
          checkAnswer([{ name: 'any.yaml', text: parts.join('') }]);
        },
      ),
      { numRuns: 600 },
    );
  });
});

describe('data without a file', () => {
  it('a strategy as JSON is accepted or refused with reasons, and never crashes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (data) => {
        const parsed = parseStrategyData(data);
        if (!parsed.ok) expect(parsed.problems.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('JSON read as YAML', () => {
  it('gives the same value and the same hash, whatever the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        // JSON may escape half of a surrogate pair and write -0; neither is a YAML value.
        const plain = JSON.parse(
          JSON.stringify(value)
            .replace(/\\ud[0-9a-f]{3}/gi, '?')
            .replace(/-0(?![\d.])/g, '0'),
        ) as unknown;
        const parsed = parseYaml(quoteNumbers(plain));
        expect(parsed.diagnostics).toEqual([]);
        expect(canonicalJson(parsed.documents[0]!.value)).toBe(canonicalJson(plain));
        expect(canonicalJson(reversed(plain))).toBe(canonicalJson(plain));
      }),
    );
  });

  it('a plain scalar is never a number that its text is not', () => {
    fc.assert(
      fc.property(fc.integer(), (number) => {
        expect(readPlainScalar(String(number))).toBe(number);
      }),
    );
  });
});

/** JSON with exponents written as YAML 1.1 wants them (1.0e+21); it knows no others. */
function quoteNumbers(value: unknown): string {
  if (typeof value === 'number')
    return String(value).replace(
      /^(-?\d+)(\.\d+)?e([+-]\d+)$/,
      (_, whole, part, exponent) => `${whole}${part ?? '.0'}e${exponent}`,
    );
  if (Array.isArray(value)) return `[${value.map(quoteNumbers).join(', ')}]`;
  if (value !== null && typeof value === 'object') {
    return `{${Object.entries(value)
      .map(([key, member]) => `${JSON.stringify(key)}: ${quoteNumbers(member)}`)
      .join(', ')}}`;
  }
  return JSON.stringify(value);
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}
