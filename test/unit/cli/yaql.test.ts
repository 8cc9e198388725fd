import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineFunction, Float, libraryFunctions, nailgunFunctions } from '@sitewright/yaql';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { registerYaql } from '../../../src/cli/commands/yaql.ts';
import { answer, complete } from '../../../src/cli/commands/yaql-console.ts';
import { createEvaluator, type YaqlCommandPorts } from '../../../src/cli/commands/yaql-eval.ts';
import { exampleOf } from '../../../src/cli/commands/yaql-examples.ts';
import { libraryMarkdown } from '../../../src/cli/commands/yaql-functions.ts';
import { fromLosslessJson } from '../../../src/cli/commands/yaql-input.ts';
import { CliCommand } from '../../../src/cli/shell/command.ts';
import { processTerminal } from '../../../src/cli/shell/terminal.ts';

let folder = '';
let out = '';
let err = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'yaql-'));
  out = '';
  err = '';
  const capture =
    (add: (text: string) => void) =>
    (text: string | Uint8Array, ...rest: unknown[]): boolean => {
      add(String(text));
      const done = rest.find((x) => typeof x === 'function') as (() => void) | undefined;
      done?.();
      return true;
    };
  vi.spyOn(process.stdout, 'write').mockImplementation(capture((text) => (out += text)) as typeof process.stdout.write);
  vi.spyOn(process.stderr, 'write').mockImplementation(capture((text) => (err += text)) as typeof process.stderr.write);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
  process.exitCode = undefined;
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

async function run(args: readonly string[], ports: Partial<YaqlCommandPorts> = {}): Promise<number> {
  const program = new CliCommand('sitewright').exitOverride();
  registerYaql(program, { terminal: processTerminal(), ...ports });
  await program.parseAsync(['node', 'sitewright', 'yaql', ...args]);
  return Number(process.exitCode ?? 0);
}

describe('yaql eval', () => {
  it('prints the value over a data file, floats and long integers kept', async () => {
    const data = file('d.json', '{"n": [1.0, 2.5], "big": 12345678901234567890, "e": 1e3, "s": "1.0 \\" 2.0"}');
    expect(await run(['eval', '[$.n.sum(), $.big + 1, $.e, $.s]', '--data', data])).toBe(0);
    expect(JSON.parse(out)).toEqual([
      3.5,
      { $type: 'int', value: '12345678901234567891' },
      { $type: 'float', value: '1000.0' },
      '1.0 " 2.0',
    ]);
  });

  it('evaluates over two states and a node, JSON or YAML', async () => {
    const [data, old, node] = [
      file('d.yaml', 'a: 1\nb: {c: 1}\n'),
      file('o.json', '{"a": 1}'),
      file('n.yml', 'b: {d: 2}\n'),
    ];
    const flags = ['--data', data, '--old', old, '--node', node];
    expect(await run(['eval', '[changed($.a), changed($.b), $.b, $node]', ...flags])).toBe(0);
    expect(JSON.parse(out)).toEqual([false, true, { c: 1, d: 2 }, { b: { d: 2 } }]);
  });

  it('asks the given port for a cluster, and reports the next step without one', async () => {
    const loadCluster = async (name: string) => ({ now: { common: { name }, node: null }, before: null });
    expect(await run(['eval', '[$.name, changed($.name)]', '--cluster', 'c1'], { loadCluster })).toBe(0);
    expect(JSON.parse(out)).toEqual(['c1', true]);
    expect(await run(['eval', '$', '--cluster', 'c1'])).toBe(2);
    expect(err).toContain('--data');
  });

  it('sees a node of a cluster, now and before', async () => {
    const loadCluster = async (_name: string, node: string | undefined) => ({
      now: { common: { a: 1, b: { c: 1 } }, node: { id: node, b: { d: 2 } } },
      before: { common: { a: 1, b: { c: 1 } }, node: { id: node, b: { d: 1 } } },
    });
    const expression = '[$node.id, $.b, changed($.a), changed($.b.c), changed($.b), old($.b.d)]';
    expect(await run(['eval', expression, '--cluster', 'c1', '--node', '3'], { loadCluster })).toBe(0);
    expect(JSON.parse(out)).toEqual(['3', { c: 1, d: 2 }, false, false, true, 1]);
  });

  it('shows errors with place and caret', async () => {
    expect(await run(['eval', '1 + nope()'])).toBe(1);
    expect(err).toContain('NoFunctionRegisteredException');
    expect(err).toContain('1 + nope()\n    ^');
  });

  it('names the file it cannot read or understand', async () => {
    await expect(run(['eval', '1', '--data', join(folder, 'none.json')])).rejects.toThrow('none.json');
    expect(await run(['eval', '1', '--data', file('bad.json', '{')])).toBe(2);
    expect(err).toContain('bad.json');
    expect(await run(['eval'])).toBe(2);
  });

  it('uses the helpers of the configuration', async () => {
    const twice = defineFunction({
      name: 'twice',
      call: 'function',
      parameters: [],
      documentation: 'Two.',
      implementation: () => 2,
    });
    const loadHelpers = async () => [twice];
    expect(await run(['eval', 'twice()'], { loadHelpers })).toBe(0);
    expect(out).toBe('2\n');
    out = '';
    const records = [
      { id: 'a', expr: 'twice()' },
      { id: 'b', mode: 'plain', expr: 'twice()', new: {}, old: {} },
    ].map((record) => JSON.stringify(record));
    expect(await run(['eval', '--batch', file('r.jsonl', records.join('\n'))], { loadHelpers })).toBe(0);
    expect(out).toBe('{"id":"a","result":2}\n{"id":"b","result":2}\n');
    out = '';
    expect(await run(['functions', 'twice'], { loadHelpers })).toBe(0);
    expect(out).toBe('twice()\n    Two.\n');
    out = '';
    expect(await run(['functions'], { loadHelpers })).toBe(0);
    expect(out).toMatch(/^Functions of this installation\n=+\n\ntwice\(\)\n/);
    expect(answer('.function twice', await createEvaluator({}, { loadHelpers }))).toContain('Two.');
  });

  it('answers a batch line by line, also lines that are not records', async () => {
    const records = [
      JSON.stringify({ id: 'a', expr: '$ + 1', data: 1 }),
      'nonsense',
      JSON.stringify({ id: 'b', expr: '$.x', data: {} }),
      JSON.stringify({ id: 'c', mode: 'plain', expr: 'changed($.v)', new: { v: 1 }, old: {} }),
    ];
    expect(await run(['eval', '--batch', file('r.jsonl', `${records.join('\n')}\n`)])).toBe(0);
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; result?: unknown; error?: { class: string } });
    expect(lines.map((l) => [l.id, l.result ?? l.error?.class])).toEqual([
      ['a', 2],
      ['line 2', 'InvalidRecord'],
      ['b', 'KeyError'],
      ['c', true],
    ]);
    await expect(run(['eval', '--batch', join(folder, 'none')])).rejects.toThrow(join(folder, 'none'));
  });
});

describe('yaql console', () => {
  it('answers expressions, errors and its own commands', async () => {
    const evaluator = await createEvaluator({ data: file('d.json', '{"nodes": [{"uid": "1"}]}') }, {});
    expect(answer('$.nodes.uid', evaluator)).toBe('[\n  "1"\n]');
    expect(answer('1 +', evaluator)).toContain('YaqlGrammarException');
    expect(answer('.function where', evaluator)).toContain('predicate');
    expect(answer('.functions', evaluator)).toContain('changedAny');
  });

  it('completes functions and keys', async () => {
    const evaluator = await createEvaluator({ data: file('d.json', '{"nodes": [{"uid": "1"}], "name": 1}') }, {});
    expect(complete('1 + isU', evaluator)[0]).toEqual(['isUndef(']);
    expect(complete('$.na', evaluator)).toEqual([['name'], 'na']);
    expect(complete('$.nodes.u', evaluator)[0]).toContain('uid');
  });
});

describe('yaql functions', () => {
  it('documents one function, operator or all', async () => {
    expect(await run(['functions', 'groupBy'])).toBe(0);
    expect(out).toContain('aggregator');
    expect(await run(['functions', '=~'])).toBe(0);
    expect(await run(['functions', 'groupby'])).toBe(1);
    expect(err).toContain('groupBy');
  });

  it.each([...nailgunFunctions, ...libraryFunctions].map((f) => [f.chapter, f.name] as const))(
    'has an example in %s that calls %s',
    (chapter, name) => {
      const { call, gives } = exampleOf(chapter, name)!;
      const word = name.replace(/^#(unary_)?operator_|^#property#/, '').replace(/^\*(not_)?equal$/, '=');
      const symbol = {
        '#iter': '.',
        '#finalize': '.',
        '#get_context_data': '$',
        '#call': '$f(',
        '#list': '[',
        '#map': '{',
      };
      expect(call).toContain(symbol[word as '#iter'] ?? (word === '#indexer' ? '[' : word));
      expect(gives).toMatch(/\S/);
    },
  );

  it('documents every overload', () => {
    for (const f of libraryFunctions) expect(f.documentation, f.name).toMatch(/\w.*\.$/s);
  });

  it('is the content of docs/reference/yaql.md', () => {
    expect(readFileSync(new URL('../../../docs/reference/yaql.md', import.meta.url), 'utf8')).toContain(
      libraryMarkdown(),
    );
  });

  it('counts as many names as the notes on the language do, but for access to host objects', () => {
    // 193 names with delegates; `#operator_.` and `#indexer` of host objects share theirs with others.
    expect(new Set(libraryFunctions.map((f) => f.name)).size).toBe(193);
    expect(libraryFunctions.length).toBe(284 - 3);
  });
});

describe('lossless JSON', () => {
  it('keeps digits beyond numbers and refuses invalid JSON', () => {
    expect(fromLosslessJson('[1, 1.5, 1.0, -0, 123456789012345678901]')).toEqual([
      1,
      1.5,
      new Float(1),
      -0,
      123456789012345678901n,
    ]);
    expect(() => fromLosslessJson('[01]')).toThrow();
    expect(() => fromLosslessJson('[1,]')).toThrow();
  });
});
