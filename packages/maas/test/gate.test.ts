import { describe, expect, it } from 'vitest';
import { Gate } from '../src/gate.ts';

/** Work that ends on the test's command. */
function visitor(gate: Gate, log: string[], name: string, options: Parameters<Gate['pass']>[1] = {}) {
  let leave: () => void = () => {};
  const done = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const passed = gate.pass(async () => {
    log.push(name);
    await done;
  }, options);
  return { passed, leave };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the gate before MAAS', () => {
  it('lets the limit in, the others in order of arrival', async () => {
    const gate = new Gate(2);
    const log: string[] = [];
    const visitors = ['a', 'b', 'c', 'd'].map((name) => visitor(gate, log, name));
    await settled();
    expect(log).toEqual(['a', 'b']);
    visitors[1]?.leave();
    await settled();
    expect(log).toEqual(['a', 'b', 'c']);
    for (const v of visitors) v.leave();
    await Promise.all(visitors.map((v) => v.passed));
    expect(log).toEqual(['a', 'b', 'c', 'd']);
  });

  it('lets urgent ones pass those who wait, in their own order', async () => {
    const gate = new Gate(1);
    const log: string[] = [];
    const visitors = [
      ...['a', 'b', 'c'].map((name) => visitor(gate, log, name)),
      ...['abort 1', 'abort 2'].map((name) => visitor(gate, log, name, { urgent: true })),
    ];
    for (const v of visitors) v.leave();
    await Promise.all(visitors.map((v) => v.passed));
    expect(log).toEqual(['a', 'abort 1', 'abort 2', 'b', 'c']);
  });

  it('a failure gives its place free; one that is aborted while waiting takes none', async () => {
    const gate = new Gate(1);
    const log: string[] = [];
    await expect(gate.pass(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    const first = visitor(gate, log, 'first');
    const abort = new AbortController();
    const aborted = visitor(gate, log, 'aborted', { signal: abort.signal });
    const last = visitor(gate, log, 'last');
    abort.abort(new Error('stop'));
    await expect(aborted.passed).rejects.toThrow('stop');
    first.leave();
    last.leave();
    await Promise.all([first.passed, last.passed]);
    expect(log).toEqual(['first', 'last']);
    await gate.pass(() => Promise.resolve());
  });
});
