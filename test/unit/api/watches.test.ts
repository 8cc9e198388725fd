import type { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { changesSince, everything, type Frame, type Seen, type Sent, Watches } from '../../../src/api/page/watches.ts';

it('only differing entries are changes, and removed ones are null', () => {
  const sent: Sent = new Map();
  expect(changesSince(sent, { a: { x: 1, y: [1, 2] }, b: {} })).toEqual({ a: { x: 1, y: [1, 2] } });
  expect(changesSince(sent, { a: { x: 1, y: [1, 2] }, b: {} })).toEqual({});
  expect(changesSince(sent, { a: { y: [2] }, b: { z: null } })).toEqual({ a: { x: null, y: [2] }, b: { z: null } });
  expect(everything(sent)).toEqual({ a: { y: [2] }, b: { z: null } });
});

it('entries named like properties of JavaScript objects are ordinary entries', () => {
  const sent: Sent = new Map();
  const frame: Frame = { a: { constructor: 1, toString: 2 } };
  expect(changesSince(sent, frame)).toEqual(frame);
  expect(changesSince(sent, { a: {} })).toEqual({ a: { constructor: null, toString: null } });
});

/** Polls that the test answers, one at a time. */
function looks() {
  const asked: ((seen: Seen | Error) => void)[] = [];
  const waiting: (() => void)[] = [];
  let count = 0;
  return {
    look: () =>
      new Promise<Seen>((resolve, reject) => {
        count += 1;
        asked.push((seen) => (seen instanceof Error ? reject(seen) : resolve(seen)));
        waiting.shift()?.();
      }),
    async answer(seen: Seen | Error) {
      if (asked.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      asked.shift()!(seen);
    },
    count: () => count,
  };
}

const seen = (frame: Frame, ended = false): Seen => ({ frame, ended });

/** Events already read but not yet requested: several may arrive together. */
const read = new WeakMap<Readable, string[]>();

/** The next event of a stream; null at its end. */
async function next(stream: Readable): Promise<{ event: string; data: unknown } | null> {
  const blocks = read.get(stream) ?? [];
  read.set(stream, blocks);
  if (blocks.length === 0) {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      blocks.push(...String(chunk).split('\n\n').slice(0, -1));
      break;
    }
  }
  const block = blocks.shift();
  if (block === undefined) return null;
  const [, event, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!;
  return { event: event!, data: JSON.parse(data!) };
}

it('many watchers share one poll; a later one gets everything, and the end ends all', async () => {
  const { look, answer, count } = looks();
  const watches = new Watches({ intervalMs: 1 });
  const first = watches.open({ key: 'run', look });
  await answer(seen({ nodes: { a: 'waiting' }, none: {} }));
  expect(await next(first)).toEqual({ event: 'all', data: { nodes: { a: 'waiting' }, none: {} } });
  const second = watches.open({ key: 'run', look: () => Promise.reject(new Error('never asked')) });
  expect(await next(second)).toEqual({ event: 'all', data: { nodes: { a: 'waiting' }, none: {} } });
  await answer(seen({ nodes: { a: 'running' }, none: {} }));
  for (const one of [first, second])
    expect(await next(one)).toEqual({ event: 'changes', data: { nodes: { a: 'running' } } });
  await answer(seen({ nodes: { a: 'done' }, none: {} }, true));
  for (const one of [first, second]) {
    expect(await next(one)).toMatchObject({ event: 'changes' });
    expect(await next(one)).toEqual({ event: 'end', data: {} });
    expect(await next(one)).toBeNull();
  }
  expect(count()).toBe(3);
});

it('one stream tells of lists and of runs, and does not end with a run', async () => {
  const [lists, run] = [looks(), looks()];
  const watches = new Watches({ intervalMs: 1 });
  const stream = watches.open({ key: 'lists', look: lists.look }, { key: 'run/7', look: run.look, run: '7' });
  await lists.answer(seen({ runs: {} }));
  expect(await next(stream)).toEqual({ event: 'all', data: { runs: {} } });
  await run.answer(seen({ nodes: {} }, true));
  const told = (of: object) => ({ event: 'run', data: { run: '7', of } });
  expect(await next(stream)).toEqual(told({ event: 'all', data: { nodes: {} } }));
  expect(await next(stream)).toEqual(told({ event: 'end', data: {} }));
  await lists.answer(seen({ runs: { '7': 'ended' } }));
  expect(await next(stream)).toEqual({ event: 'changes', data: { runs: { '7': 'ended' } } });
  watches.close();
});

it('a failure is sent without internals, which go to the log, and the streams continue', async () => {
  const { look, answer } = looks();
  const logged: unknown[] = [];
  const watches = new Watches({ intervalMs: 1, defect: (error) => logged.push(error) });
  const stream = watches.open({ key: 'run', look });
  const defect = new Error('password=hunter2');
  await answer(defect);
  const sent = await next(stream);
  expect(sent).toMatchObject({ event: 'problem', data: { code: 'unexpected' } });
  expect(JSON.stringify(sent)).not.toContain('hunter2');
  expect(logged).toEqual([defect]);
  watches.close();
  expect(await next(stream)).toBeNull();
});

it('polling stops once the last reader has left', async () => {
  const { look, answer, count } = looks();
  const watches = new Watches({ intervalMs: 1 });
  const stream = watches.open({ key: 'run', look });
  await answer(seen({ a: {} }));
  await next(stream);
  stream.destroy();
  await new Promise((resolve) => stream.once('close', resolve));
  const before = count();
  const again = watches.open({ key: 'run', look });
  await answer(seen({ a: {} }));
  if (before > 1) await answer(seen({ a: {} }));
  expect(await next(again)).toMatchObject({ event: 'all' });
  watches.close();
});
