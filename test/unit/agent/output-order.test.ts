import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { carryOutOrder, type TaskResult } from '../../../src/agent/index.ts';
import { executionFolder } from '../../../src/agent/journal/execution.ts';
import { CapturedOutput } from '../../../src/agent/output/captured-output.ts';
import { OrderedOutput } from '../../../src/agent/output/ordered-output.ts';
import { OUTPUT_STREAMS } from '../../../src/agent/output/output-segments.ts';
import { type LogPart, TaskLogs } from '../../../src/agent/output/task-logs.ts';
import { MarkedOutput } from '../../../src/core/text/marked-output.ts';
import { AgentRig } from '../../rig/agent.ts';

const rig = new AgentRig();
const folder = mkdtempSync(join(tmpdir(), 'sitewright-order-'));
afterAll(() => {
  rig.tidy();
  rmSync(folder, { recursive: true, force: true });
});

type Stream = 'stdout' | 'stderr';
type Said = readonly [Stream, string];
let folders = 0;
const newFolder = () => mkdtempSync(join(folder, `${(folders += 1)}-`));
const newKey = () => ({ run: 'r', task: `t${(folders += 1)}`, node: '1', generation: 1 });

/** Neighbours of one stream are one piece, however it was cut. */
function joined(pieces: Iterable<Said>): Said[] {
  const all: [Stream, string][] = [];
  for (const [stream, text] of pieces) {
    const last = all.at(-1);
    if (last?.[0] === stream) last[1] += text;
    else if (text !== '') all.push([stream, text]);
  }
  return all;
}

function readFrom(folder: string, from = { stdout: 0, stderr: 0 }): Said[] {
  const output = new OrderedOutput(folder, OUTPUT_STREAMS, from);
  const pieces: Said[] = [];
  for (let part = output.next(); part.kind !== 'none'; part = output.next())
    if (part.kind === 'data') pieces.push([part.stream, part.bytes.toString('latin1')]);
  return joined(pieces);
}

const said = (parts: readonly LogPart[]): Said[] =>
  joined(
    parts.flatMap((part) => (part.kind === 'output' ? [[part.stream, part.bytes.toString('latin1')] as const] : [])),
  );
async function all(parts: AsyncIterable<LogPart>): Promise<LogPart[]> {
  const found: LogPart[] = [];
  for await (const part of parts)
    found.push(part.kind === 'output' ? { ...part, bytes: Buffer.from(part.bytes) } : part);
  return found;
}

const written = fc.array(fc.tuple(fc.constantFrom<Stream>('stdout', 'stderr'), fc.stringMatching(/^[a-z\n]{1,30}$/)), {
  maxLength: 40,
});

describe('the two streams of a task', () => {
  it('are read on its node in the order in which they were written, also by a reader that continues', () => {
    fc.assert(
      fc.property(written, fc.nat(40), (pieces, stop) => {
        const at = newFolder();
        const output = new CapturedOutput(at, undefined, []);
        const first = new OrderedOutput(at, OUTPUT_STREAMS, { stdout: 0, stderr: 0 });
        const read: Said[] = [];
        for (const [index, [stream, text]] of pieces.entries()) {
          output.write(stream, Buffer.from(text));
          // A reader who looks in between.
          if (index % 7 === stop % 7)
            for (let part = first.next(); part.kind !== 'none'; part = first.next())
              if (part.kind === 'data') read.push([part.stream, part.bytes.toString('latin1')]);
        }
        output.end();
        const { stdout, stderr } = first.offsets;
        expect(joined([...read, ...readFrom(at, { stdout, stderr })])).toEqual(joined(pieces));
        expect(readFrom(at)).toEqual(joined(pieces));
      }),
      { numRuns: 100 },
    );
  });

  it('stay in that order in the log store, from any offset of both together', async () => {
    const logs = new TaskLogs({ folder: newFolder() });
    await fc.assert(
      fc.asyncProperty(written, fc.nat(300), async (pieces, offset) => {
        const key = newKey();
        const ends = { stdout: 0, stderr: 0 };
        for (const [stream, text] of pieces) {
          const chunk = { kind: 'output', stream, offset: ends[stream], bytes: Buffer.from(text) } as const;
          logs.append(key, chunk);
          // Another follower ships it again.
          if (text.length % 3 === 0) logs.append(key, chunk);
          ends[stream] += text.length;
        }
        const whole = await all(logs.read(key, undefined));
        expect(said(whole)).toEqual(joined(pieces));
        const text = (parts: readonly Said[]) => parts.map(([, text]) => text).join('');
        expect(text(said(await all(logs.read(key, undefined, { offset }))))).toBe(text(joined(pieces)).slice(offset));
        for (const [index, part] of whole.entries())
          if (part.kind === 'output')
            expect(said(await all(logs.read(key, undefined, { offset: part.next })))).toEqual(
              said(whole.slice(index + 1)),
            );
      }),
      { numRuns: 60 },
    );
  });

  it('come from a real task in the order of its lines, through its journal and its shipment', async () => {
    const agent = rig.agent();
    const logs = new TaskLogs({ folder: newFolder() });
    // Each line waits until the one before it is in the journal: pipes alone have no common order.
    const execution = rig.task('shell', {
      cmd: `seen() { until grep -q "$1" "$JOURNAL"/std* 2>/dev/null; do sleep 0.01; done; }
echo one; seen one; echo two >&2; seen two; echo three; seen three; printf 'fo' >&2; seen fo; echo five; seen five; echo ur >&2`,
      ...{ timeout: 60, retries: 0 },
    });
    const parameters = {
      ...execution.parameters,
      cmd: `JOURNAL='${executionFolder(rig.stateDir, execution)}'\n${String(execution.parameters.cmd)}`,
    };
    const { run, task, node, generation, type } = execution;
    const key = { run, task, node, generation, type, plan: 'p', mode: 'apply' } as const;
    const end = await carryOutOrder(key, {
      agent,
      orders: {
        fetch: async () => ({ execution: { ...execution, parameters } }),
        secret: async () => '',
        source: async () => new Uint8Array(),
        ship: async (of, chunk) => logs.append(of, chunk),
      },
      onProgress: () => undefined,
      cancel: new AbortController().signal,
      leave: new AbortController().signal,
    });
    expect(end).toMatchObject({ kind: 'ended', result: { outcome: 'success' } });
    const shown = new MarkedOutput();
    const text = said(await all(logs.read(execution, undefined)))
      .map(([stream, piece]) => shown.add(stream, piece))
      .join('');
    expect(text).toBe('one\n[stderr] two\nthree\n[stderr] fo\nfive\n[stderr] ur\n');
  });

  it('are read one after the other where no order is known, and to the end where output was lost', async () => {
    const logs = new TaskLogs({ folder: newFolder(), bytesPerStream: 400 });
    const key = newKey();
    for (let at = 0; at < 100; at += 1)
      for (const [stream, letter] of [
        ['stdout', 'o'],
        ['stderr', 'e'],
      ] as const)
        logs.append(key, { kind: 'output', stream, offset: at * 50, bytes: Buffer.alloc(50, letter) });
    const output = (bytes: number) => ({ bytes, dropped: 0, tail: '', binary: false });
    const result = { v: 1, outcome: 'success', output: { stdout: output(5_000), stderr: output(5_007) } };
    logs.append(key, { kind: 'ended', result: result as unknown as TaskResult });
    const parts = await all(logs.read(key, undefined));
    const bytes = { stdout: 0, stderr: 0 };
    for (const part of parts)
      if (part.kind !== 'ended') bytes[part.stream] += part.kind === 'gap' ? part.to - part.offset : part.bytes.length;
    expect(bytes).toEqual({ stdout: 5_000, stderr: 5_007 });
    expect(parts.at(-1)?.kind).toBe('ended');
    expect(parts.filter(({ kind }) => kind === 'gap').length).toBeLessThan(6);
  });

  it('a node that changes streams without end sends no piece for each change, and loses none', () => {
    const at = newFolder();
    const output = new CapturedOutput(at, undefined, []);
    for (let line = 0; line < 5_000; line += 1) output.write(line % 2 === 0 ? 'stdout' : 'stderr', Buffer.from('x\n'));
    output.end();
    const reader = new OrderedOutput(at, OUTPUT_STREAMS, { stdout: 0, stderr: 0 }, { mostPieces: 100 });
    let [pieces, bytes] = [0, 0];
    for (let part = reader.next(); part.kind !== 'none'; part = reader.next()) {
      pieces += 1;
      if (part.kind === 'data') bytes += part.bytes.length;
    }
    expect(bytes).toBe(10_000);
    // One of each stream in each of the hundred, and the end.
    expect(pieces).toBeLessThanOrEqual(201);
  });
});

describe('output of both streams as one text', () => {
  it('marks each line of stderr, and never joins lines of different streams', () => {
    const shown = new MarkedOutput();
    expect(
      [
        shown.add('stdout', 'a\nb'),
        shown.add('stderr', 'c\n\nd'),
        shown.add('stderr', 'e\n'),
        shown.add('stderr', ''),
        shown.add('stdout', 'f\n'),
        shown.add('stderr', 'g'),
      ].join(''),
    ).toBe('a\nb\n[stderr] c\n[stderr] \n[stderr] de\nf\n[stderr] g');
  });
});
