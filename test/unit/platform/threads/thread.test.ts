import { AsyncLocalStorage } from 'node:async_hooks';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { answerOf, Thread, type ThreadOptions } from '../../../../src/platform/threads/thread.ts';
import type { Deed } from './obliging-program.ts';

const open: Thread<Deed, unknown, number>[] = [];
const thread = (more: Partial<ThreadOptions> = {}) => {
  const program = new URL('./obliging-program.ts', import.meta.url);
  const one = new Thread<Deed, unknown, number>({ program, makes: 'the deed', data: 'hello', ...more });
  open.push(one);
  return one;
};
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const done = { ok: true, value: ['hello', 1] };
const failed = (reason: string, message: unknown) => ({ ok: false, reason, error: { message } });

const nices = (): number[] =>
  readdirSync('/proc/self/task').flatMap((id) => {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });

describe('a thread', () => {
  it.runIf(process.platform === 'linux')('gives way to the main thread, and to it alone', async () => {
    const before = getPriority();
    const lower = (): number => nices().filter((nice) => nice === Math.min(19, before + 5)).length;
    const others = lower();
    const own = thread();
    await own.ask({ echo: 1 });
    expect(lower()).toBe(others + 1);
    expect(getPriority(process.pid)).toBe(before);
  });

  it('answers requests one after the other, with its start data', async () => {
    const own = thread();
    expect(await Promise.all([own.ask({ echo: 1 }), own.ask({ echo: 'two' })])).toEqual([
      done,
      { ok: true, value: ['hello', 'two'] },
    ]);
  });

  it('returns errors of the program, and continues', async () => {
    const own = thread();
    const thrown = await own.ask({ throw: 'no' });
    expect(thrown).toMatchObject({ ok: false, reason: 'threw', error: { name: 'OwnError', message: 'no' } });
    expect(() => answerOf(thrown)).toThrow('no');
    expect(await own.ask('answer a function')).toMatchObject({ reason: 'threw', error: { name: 'DataCloneError' } });
    expect(answerOf(await own.ask({ echo: 1 }))).toEqual(['hello', 1]);
  });

  it('sends pieces of its answer first, one while another is received', async () => {
    const own = thread();
    const received: number[] = [];
    let [atOnce, most] = [0, 0];
    const receive = async (piece: number) => {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      received.push(piece);
      atOnce -= 1;
    };
    expect(await own.ask({ pieces: 4 }, { receive })).toEqual({ ok: true, value: 'sent' });
    expect([received, most]).toEqual([[1, 2, 3, 4], 1]);
    const refusing = own.ask({ pieces: 2 }, { receive: () => Promise.reject(new Error('no more')) });
    const next = own.ask({ pieces: 1 });
    expect(await refusing).toMatchObject(failed('threw', 'no more'));
    expect(await next).toEqual({ ok: true, value: 'sent' });
  });

  it('gives pieces to the caller that asked, whoever asked before', async () => {
    const own = thread();
    const caller = new AsyncLocalStorage<string>();
    const received: (string | undefined)[] = [];
    const receive = async () => void received.push(caller.getStore());
    for (const name of ['first', 'second']) await caller.run(name, () => own.ask({ pieces: 1 }, { receive }));
    expect(received).toEqual(['first', 'second']);
  });

  it('answers every request with the reason if its program cannot be set up', async () => {
    const own = thread({ data: 'refuse' });
    for (const _ of [1, 2]) expect(await own.ask({ echo: 1 })).toMatchObject(failed('threw', 'not set up'));
  });

  it('ends a request that works for longer than it may, and no other', async () => {
    const own = thread();
    const [late, next] = [own.ask('hang', { workMs: 20 }), own.ask({ echo: 1 }, { workMs: 60_000 })];
    expect(await late).toMatchObject(failed('late', 'the deed was not finished within 20 ms of processor time'));
    expect(await next).toEqual(done);
  });

  it('does not end a request that got no processor: a busy machine makes no work larger', async () => {
    const own = thread();
    await own.ask({ echo: 1 });
    expect(await own.ask({ idle: 300 }, { workMs: 100 })).toEqual({ ok: true, value: 'idled' });
  });

  it('does not let a request take more memory than its limit', async () => {
    const own = thread({ maxMegabytes: 64 });
    const [hoard, next] = [own.ask('hoard'), own.ask({ echo: 1 })];
    expect(await hoard).toMatchObject(failed('out-of-memory', 'the deed did not fit into 64 MB'));
    expect(await next).toEqual(done);
  });

  it('starts again after an unexpected end', async () => {
    const own = thread();
    expect(await own.ask({ exit: 3 })).toMatchObject(
      failed('died', 'the deed was not finished: its thread ended with 3'),
    );
    expect(await own.ask({ echo: 1 })).toEqual(done);
  });

  it('drops a request whose signal is aborted, whether it runs or not', async () => {
    const own = thread();
    const [first, second] = [new AbortController(), new AbortController()];
    const [hang, waiting, next] = [
      own.ask('hang', { signal: first.signal }),
      own.ask({ echo: 2 }, { signal: second.signal }),
      own.ask({ echo: 1 }),
    ];
    second.abort(new Error('never mind'));
    expect(await waiting).toMatchObject(failed('aborted', 'never mind'));
    first.abort(new Error('enough'));
    expect(await hang).toMatchObject(failed('aborted', 'enough'));
    expect(await next).toEqual(done);
    expect(await own.ask({ echo: 1 }, { signal: first.signal })).toMatchObject(failed('aborted', 'enough'));
  });

  it('rejects waiting and later requests when it is closed', async () => {
    const own = thread();
    const all = Promise.all([own.ask('hang'), own.ask({ echo: 1 })]);
    await own.close();
    const closed = failed('closed', expect.stringContaining('this process is ending'));
    expect(await all).toMatchObject([closed, closed]);
    expect(await own.ask({ echo: 1 })).toMatchObject(closed);
  });
});
