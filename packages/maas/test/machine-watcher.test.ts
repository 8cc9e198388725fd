import { describe, expect, it } from 'vitest';
import { MaasClient } from '../src/client.ts';
import type { Machine } from '../src/machine.ts';
import { MachineWatcher } from '../src/machine-watcher.ts';
import { type HttpAnswer, TransportError } from '../src/transport.ts';
import { LeapingClock } from './rig/leaping-clock.ts';
import { testKey } from './rig/maas-process.ts';

/** A watcher over machines whose status is a function of the time since the start. */
function scene(
  statusAt: (id: string, ms: number) => number | undefined,
  reply?: (poll: number) => HttpAnswer | 'lost' | undefined,
) {
  const clock = new LeapingClock();
  const start = clock.now();
  const polls: { at: number; ids: string[]; single: boolean }[] = [];
  let open = 0;
  let maxOpen = 0;
  const client = new MaasClient({
    url: 'http://maas.test/MAAS',
    apiKey: testKey,
    clock,
    transport: {
      close: () => Promise.resolve(),
      async send(request) {
        open++;
        maxOpen = Math.max(maxOpen, open);
        await clock.sleep(100);
        open--;
        const ms = clock.now() - start;
        const url = new URL(request.url);
        const one = /machines\/(\w+)\/$/.exec(url.pathname)?.[1];
        const ids = one === undefined ? url.searchParams.getAll('id') : [one];
        polls.push({ at: ms, ids, single: one !== undefined });
        const special = reply?.(polls.length);
        if (special === 'lost') throw new TransportError('lost', 'ECONNRESET');
        if (special) return special;
        const found = ids.flatMap((id) => {
          const status = statusAt(id, ms);
          return status === undefined ? [] : [{ system_id: id, hostname: id, status }];
        });
        if (one !== undefined && found.length === 0)
          return { status: 404, headers: {}, body: 'No Machine matches the given query.' };
        return { status: 200, headers: {}, body: JSON.stringify(one === undefined ? found : found[0]) };
      },
    },
  });
  const watcher = new MachineWatcher(client, { clock, minIntervalMs: 5_000, maxIntervalMs: 15_000 });
  return { clock, start, polls, watcher, maxOpen: () => maxOpen };
}

const deployed = (machine: Machine) => machine.status === 6;

describe('watching machines', () => {
  it('(28, 31) 500 machines in one process: one request per hundred and round, two at a time', async () => {
    const { watcher, polls, maxOpen } = scene((_id, ms) => (ms > 60_000 ? 6 : 9));
    const ids = Array.from({ length: 500 }, (_, i) => `m${i}`);
    const outcomes = await Promise.all(ids.map((id) => watcher.waitFor(id, deployed)));
    expect(outcomes.every((outcome) => outcome.kind === 'reached' && outcome.machine.status === 6)).toBe(true);
    expect(Math.max(...polls.map((poll) => poll.ids.length))).toBe(100);
    const rounds = polls.length / 5;
    expect(Number.isInteger(rounds)).toBe(true);
    expect(rounds).toBeLessThanOrEqual(9);
    expect(maxOpen()).toBe(2);
    expect(watcher.size).toBe(0);
  });

  it('the interval grows from the least to the most while nothing changes, and falls back on a change', async () => {
    const { watcher, polls } = scene((_id, ms) => (ms > 200_000 ? 6 : ms > 100_000 ? 9 : 10));
    await watcher.waitFor('m1', deployed);
    const gaps = polls.slice(1).map((poll, i) => Math.round((poll.at - (polls[i]?.at ?? 0)) / 100) * 100);
    expect(gaps.slice(0, 4)).toEqual([5_100, 7_600, 11_400, 15_100]);
    const change = polls.findIndex((poll) => poll.at > 100_000);
    expect(gaps[change]).toBe(5_100);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(15_100);
  });

  it('one machine watched by two is asked for once', async () => {
    const { watcher, polls } = scene((_id, ms) => (ms > 20_000 ? 6 : 9));
    await Promise.all([watcher.waitFor('m1', deployed), watcher.waitFor('m1', deployed)]);
    for (const poll of polls) expect(poll.ids).toEqual(['m1']);
  });

  it('(28) a heartbeat before and after each poll, failed ones too; passing failures are survived', async () => {
    const away: HttpAnswer = { status: 503, headers: { 'retry-after': '10' }, body: 'away' };
    const { watcher, polls } = scene(
      (_id, ms) => (ms > 60_000 ? 6 : 9),
      (poll) => (poll === 2 ? away : poll === 3 || poll === 4 ? 'lost' : undefined),
    );
    let beats = 0;
    const outcome = await watcher.waitFor('m1', deployed, { onPoll: () => beats++ });
    expect(outcome.kind).toBe('reached');
    // The third and fourth requests are one poll: a read whose connection breaks is repeated once.
    expect(beats).toBe(2 * (polls.length - 1));
  });

  it('a refused key ends all waits', async () => {
    const { watcher } = scene(
      () => 9,
      () => ({ status: 401, headers: {}, body: 'Authorization Error: Invalid API key.' }),
    );
    const waits = ['m1', 'm2'].map((id) => watcher.waitFor(id, deployed));
    for (const wait of waits) await expect(wait).rejects.toMatchObject({ failure: { kind: 'unauthorised' } });
    expect(watcher.size).toBe(0);
  });

  it('(28) an aborted signal ends only its own wait, immediately', async () => {
    const { watcher, clock, start } = scene((_id, ms) => (ms > 60_000 ? 6 : 9));
    const abort = new AbortController();
    const aborted = watcher.waitFor('m1', deployed, { signal: abort.signal });
    const other = watcher.waitFor('m2', deployed);
    abort.abort(new Error('stop'));
    await expect(aborted).rejects.toThrow('stop');
    expect(clock.now()).toBe(start);
    expect(watcher.size).toBe(1);
    expect((await other).kind).toBe('reached');
    await expect(watcher.waitFor('m3', deployed, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
      'before',
    );
    expect(watcher.size).toBe(0);
  });

  it('a deadline ends the wait with the last reading', async () => {
    const { watcher, clock, start } = scene(() => 9);
    const outcome = await watcher.waitFor('m1', deployed, { deadline: start + 30_000 });
    expect(outcome).toMatchObject({ kind: 'deadline', machine: { status: 9 } });
    expect(clock.now() - start).toBeGreaterThanOrEqual(30_000);
    expect(clock.now() - start).toBeLessThan(31_000);
  });

  it('a machine missing from the list is read individually before it counts as deleted', async () => {
    const { watcher, polls } = scene((id, ms) => (id === 'gone' && ms > 10_000 ? undefined : ms > 60_000 ? 6 : 9));
    const [gone, other] = await Promise.all([watcher.waitFor('gone', deployed), watcher.waitFor('m1', deployed)]);
    expect(gone).toEqual({ kind: 'gone' });
    expect(other.kind).toBe('reached');
    expect(polls.filter((poll) => poll.single)).toMatchObject([{ ids: ['gone'] }]);
  });

  it('an exception of the caller’s condition fails its own wait only', async () => {
    const { watcher } = scene((_id, ms) => (ms > 20_000 ? 6 : 9));
    const broken = watcher.waitFor('m1', () => {
      throw new Error('mine');
    });
    const other = watcher.waitFor('m2', deployed);
    await expect(broken).rejects.toThrow('mine');
    expect((await other).kind).toBe('reached');
  });

  it('after all waits have ended it starts again for the next', async () => {
    const { watcher } = scene(() => 6);
    expect((await watcher.waitFor('m1', deployed)).kind).toBe('reached');
    expect((await watcher.waitFor('m2', deployed)).kind).toBe('reached');
  });
});
