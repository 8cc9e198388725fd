import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskResult } from '../../../src/agent/index.ts';
import { folderName } from '../../../src/agent/journal/execution.ts';
import { type LogPart, TaskLogs } from '../../../src/agent/output/task-logs.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-logs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let logs: TaskLogs;
beforeAll(() => {
  logs = new TaskLogs({ folder, bytesPerStream: 4_000 });
});

let tasks = 0;
const newKey = () => ({ run: '7', task: `t${(tasks += 1)}`, node: '3', generation: 1 });

const ended = (stdout: number): TaskResult =>
  ({
    v: 1,
    outcome: 'success',
    message: 'done',
    output: { stdout: { bytes: stdout }, stderr: { bytes: 0 } },
  }) as TaskResult;

/** Parts with copied bytes, as they must be. */
async function all(parts: AsyncIterable<LogPart>): Promise<LogPart[]> {
  const found: LogPart[] = [];
  for await (const part of parts)
    found.push(part.kind === 'output' ? { ...part, bytes: Buffer.from(part.bytes) } : part);
  return found;
}

const textOf = (parts: readonly LogPart[]): string =>
  parts.map((part) => (part.kind === 'output' ? part.bytes.toString('latin1') : '')).join('');

describe('the log store', () => {
  it('joins chunks in any order, repeated and overlapping, to the same text', async () => {
    const text = Array.from({ length: 3_000 }, (_unused, at) => String.fromCharCode(97 + (at % 26))).join('');
    const piece = fc.tuple(fc.nat(2_999), fc.integer({ min: 1, max: 700 }));
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (again) => {
        const key = newKey();
        const put = (offset: number, length: number) =>
          logs.append(key, {
            kind: 'output',
            stream: 'stdout',
            offset,
            bytes: Buffer.from(text.slice(offset, offset + length), 'latin1'),
          });
        let at = 0;
        for (const [offset, length] of again) {
          put(at, 250);
          at += 250;
          // A second follower, which is behind.
          put(Math.min(offset, at), Math.min(length, at - Math.min(offset, at)));
        }
        put(at, text.length - at);
        expect(textOf(await all(logs.read(key, 'stdout')))).toBe(text);
      }),
      { numRuns: 60 },
    );
  });

  it('drops the middle beyond the limit, and accounts for every byte', async () => {
    const key = newKey();
    const [piece, pieces] = [Buffer.alloc(300, 'x'), 100];
    for (let at = 0; at < pieces; at += 1)
      logs.append(key, { kind: 'output', stream: 'stdout', offset: at * piece.length, bytes: piece });
    logs.append(key, { kind: 'ended', result: ended(30_000) });
    const parts = await all(logs.read(key, 'stdout'));
    const kept = textOf(parts).length;
    const gone = parts.reduce((sum, part) => sum + (part.kind === 'gap' ? part.to - part.offset : 0), 0);
    expect(kept).toBeLessThanOrEqual(4_000);
    expect(kept).toBeGreaterThan(2_000);
    expect(kept + gone).toBe(30_000);
    expect(parts[0]).toMatchObject({ kind: 'output', offset: 0 });
    expect(parts.at(-1)).toMatchObject({ kind: 'ended' });
  });

  it('shows output dropped on the node as a gap, also at the end', async () => {
    const key = newKey();
    logs.append(key, { kind: 'output', stream: 'stdout', offset: 0, bytes: Buffer.from('first') });
    logs.append(key, { kind: 'output', stream: 'stdout', offset: 100, bytes: Buffer.from('last') });
    logs.append(key, { kind: 'ended', result: ended(120) });
    expect(await all(logs.read(key, 'stdout'))).toEqual([
      { kind: 'output', stream: 'stdout', offset: 0, bytes: Buffer.from('first'), next: 5 },
      { kind: 'gap', stream: 'stdout', offset: 5, to: 100, next: 100 },
      { kind: 'output', stream: 'stdout', offset: 100, bytes: Buffer.from('last'), next: 104 },
      { kind: 'gap', stream: 'stdout', offset: 104, to: 120, next: 120 },
      { kind: 'ended', result: ended(120) },
    ]);
  });

  it('lets a follower wait for the start, read as output arrives, and end with the task', async () => {
    const key = newKey();
    const reader = logs.read(key, 'stdout', { follow: true })[Symbol.asyncIterator]();
    const first = reader.next();
    logs.append(key, { kind: 'output', stream: 'stdout', offset: 0, bytes: Buffer.from('one') });
    expect((await first).value).toMatchObject({ kind: 'output', offset: 0, bytes: Buffer.from('one') });
    const second = reader.next();
    logs.append(key, { kind: 'output', stream: 'stdout', offset: 3, bytes: Buffer.from('two') });
    expect((await second).value).toMatchObject({ offset: 3, bytes: Buffer.from('two') });
    const last = reader.next();
    logs.append(key, { kind: 'ended', result: ended(6) });
    expect((await last).value).toMatchObject({ kind: 'ended' });
    expect((await reader.next()).done).toBe(true);
  });

  it('ends a follower on request', async () => {
    const stop = new AbortController();
    const reading = all(logs.read(newKey(), 'stdout', { follow: true, stop: stop.signal }));
    stop.abort();
    expect(await reading).toEqual([]);
  });

  it('keeps names of tasks and nodes inside its folder', () => {
    const key = { run: '../../x', task: '../../../etc/passwd', node: '..', generation: 1 };
    logs.append(key, { kind: 'output', stream: 'stdout', offset: 0, bytes: Buffer.from('x') });
    expect(logs.attempts(key)).toEqual([1]);
    expect(readdirSync(folder)).toContain(folderName(key.run));
  });
});
