import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TaskLogs } from '../../../src/agent/output/task-logs.ts';
import { runLogPage } from '../../../src/ops/run-log.ts';

let folder: string;
let logs: TaskLogs;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sitewright-run-log-'));
  logs = new TaskLogs({ folder });
});
afterEach(() => rmSync(folder, { recursive: true }));

const keyOf = (task: string, run = 'r') => ({ run, task, node: '1', generation: 1 });
const print = (task: string, offset: number, text: string, stream: 'stdout' | 'stderr' = 'stdout', run = 'r') =>
  logs.append(keyOf(task, run), { kind: 'output', stream, offset, bytes: Buffer.from(text) });
const end = (task: string, outcome = 'success') =>
  logs.append(keyOf(task), {
    kind: 'ended',
    result: {
      ...{ outcome, message: '', output: { stdout: { bytes: 0 }, stderr: { bytes: 0 } } },
    } as never,
  });
const page = (request: Parameters<typeof runLogPage>[2] = {}, runs = ['r']) => runLogPage(logs, runs, request);
const said = (request: Parameters<typeof runLogPage>[2] = {}, runs = ['r']) =>
  page(request, runs).items.map(({ task, stream, text }) => `${task} ${stream} ${text}`);

describe('the log of a run', () => {
  it('has the whole lines of all tasks in order of arrival, and the end of each task', () => {
    print('a', 0, 'one\ntw');
    print('b', 0, 'other\n', 'stderr');
    print('a', 6, 'o\nno end of li');
    print('a', 20, 'ne');
    end('b', 'failed');
    end('a');
    expect(said()).toEqual([
      'a stdout one',
      'b stderr other',
      'a stdout two',
      'b ended failed',
      'a stdout no end of line',
      'a ended success',
    ]);
    for (const { at } of page().items) expect(Date.parse(at)).not.toBeNaN();
  });

  it('has each line once, even if output arrives twice or overlaps', () => {
    print('a', 0, 'one\n');
    print('a', 0, 'one\ntwo\n');
    print('a', 4, 'two\n');
    end('a');
    end('a');
    expect(said()).toEqual(['a stdout one', 'a stdout two', 'a ended success']);
  });

  it('is read in pages from its end to its start, and then continues from the last line read', () => {
    const lines = Array.from({ length: 2_500 }, (_, at) => `line ${at}`);
    let offset = 0;
    for (const line of lines) {
      print('a', offset, `${line}\n`);
      offset += line.length + 1;
    }
    const newest = page({ limit: 100 });
    expect(newest.items.map(({ text }) => text)).toEqual(lines.slice(-100));
    const all = [...newest.items];
    for (let { earlier } = newest; earlier !== null; ) {
      const before = page({ limit: 300, before: earlier });
      all.unshift(...before.items);
      earlier = before.earlier;
    }
    expect(all.map(({ text }) => text)).toEqual(lines);
    expect(page({ after: newest.later }).items).toEqual([]);
    print('a', offset, 'more\n');
    expect(page({ after: newest.later }).items.map(({ text }) => text)).toEqual(['more']);
  });

  it('goes over the graphs of a run in their order', () => {
    print('a', 0, 'first\n', 'stdout', 'g1');
    print('a', 0, 'second\n', 'stdout', 'g2');
    const runs = ['g1', 'g2', 'g3'];
    expect(said({}, runs)).toEqual(['a stdout first', 'a stdout second']);
    const last = page({ limit: 1 }, runs);
    expect(last.items.map(({ text }) => text)).toEqual(['second']);
    expect(page({ before: last.earlier! }, runs).items.map(({ text }) => text)).toEqual(['first']);
    print('a', 0, 'third\n', 'stdout', 'g3');
    expect(page({ after: last.later }, runs).items.map(({ text }) => text)).toEqual(['third']);
  });

  it('is searched by text regardless of case, by task, node and stream', () => {
    print('a', 0, 'Disk is FULL\n');
    print('b', 0, 'full\nempty\n', 'stderr');
    expect(said({ search: 'full' })).toEqual(['a stdout Disk is FULL', 'b stderr full']);
    expect(said({ search: 'full', stream: 'stderr' })).toEqual(['b stderr full']);
    expect(said({ task: 'a' })).toEqual(['a stdout Disk is FULL']);
    expect(said({ node: '2' })).toEqual([]);
  });

  it('survives a line that a crash left half written, and lines longer than a page', () => {
    print('a', 0, `${'x'.repeat(20_000)}\n`);
    appendFileSync(join(folder, 'r', '=index'), '{"at": "2026-\n');
    print('a', 20_001, 'after\n');
    const [long, after] = page().items;
    expect(long!.text).toMatch(/^x{8192}$/);
    expect(after!.text).toBe('after');
  });

  it('is empty if no output was kept', () => expect(page()).toEqual({ items: [], earlier: null, later: '0.0' }));
});
