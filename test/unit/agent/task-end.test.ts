import { expect, it } from 'vitest';
import { taskEnd } from '../../../activities/node/task-end.ts';
import { outcomeOf, type TaskResult } from '../../../src/agent/index.ts';

const stream = (tail: string) => ({ bytes: tail.length, dropped: 0, tail, binary: false });
const result = (more: Partial<TaskResult>): TaskResult => ({
  v: 1,
  outcome: 'success',
  failure: null,
  message: 'done',
  changed: true,
  exitCode: 0,
  signal: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:00:01.000Z',
  bootId: 'b',
  tries: [],
  killed: null,
  leftRunning: 0,
  summary: {},
  output: { stdout: stream(''), stderr: stream('') },
  ...more,
});

it('a success has no message', () => {
  expect(taskEnd({ kind: 'ended', result: result({}) })).toEqual({
    outcome: 'success',
    exit_code: 0,
    changed: true,
    started_at: '2026-01-01T00:00:00.000Z',
    ended_at: '2026-01-01T00:00:01.000Z',
    tries: 0,
  });
});

it.each([
  [
    { kind: 'timeout', seconds: 3 },
    { outcome: 'failed', failure_kind: 'timeout' },
  ],
  [
    { kind: 'interrupted', cause: 'reboot' },
    { outcome: 'failed', failure_kind: 'interrupted' },
  ],
  [
    { kind: 'exit', exitCode: 1 },
    { outcome: 'failed', failure_kind: 'exit' },
  ],
  [{ kind: 'cancelled', reason: 'enough' }, { outcome: 'cancelled' }],
  [{ kind: 'refused', problems: [] }, { outcome: 'refused' }],
  [{ kind: 'journal', execution: '1/a/1', damage: 'claim' }, { outcome: 'lost' }],
] as const)('the end has the kind of a failure where its outcome does not name it: %o', (failure, expected) => {
  for (const end of [
    taskEnd({ kind: 'ended', result: result({ outcome: outcomeOf(failure), failure }) }),
    taskEnd({ kind: 'not-accepted', answer: { kind: 'refused', failure } }),
  ]) {
    const { outcome, failure_kind } = end;
    expect(failure_kind === undefined ? { outcome } : { outcome, failure_kind }).toEqual(expected);
  }
});

it('the message of a failure is the last output of the program: of stderr, or else of stdout', () => {
  const failed = {
    outcome: 'failed',
    message: 'ended with exit code 1',
    failure: { kind: 'exit', exitCode: 1 },
  } as const;
  const both = { stdout: stream('out\n'), stderr: stream('bad\nworse\n\n') };
  expect(taskEnd({ kind: 'ended', result: result({ ...failed, output: both }) }).message).toBe(
    'ended with exit code 1: worse',
  );
  const silent = { stdout: stream('out\n'), stderr: stream('') };
  expect(taskEnd({ kind: 'ended', result: result({ ...failed, output: silent }) }).message).toBe(
    'ended with exit code 1: out',
  );
});

it('the end of a task stays under 2 KB and its message under 300 characters, whatever a runner reports', () => {
  const long = '\u{1f4a5}'.repeat(5_000);
  const summary = {
    ...Object.fromEntries(Array.from({ length: 200 }, (_unused, at) => [`${'n'.repeat(100)}${at}`, long])),
    names: Array.from({ length: 5_000 }, () => long),
  };
  const failure = { kind: 'exit', exitCode: 1 } as const;
  const output = { stdout: stream(''), stderr: stream(long) };
  const end = taskEnd({
    kind: 'ended',
    result: result({ outcome: 'failed', failure, summary, output }),
    unshipped: long,
  });
  expect(Buffer.byteLength(JSON.stringify(end))).toBeLessThan(2_048);
  expect(end.message!.length).toBeLessThanOrEqual(300);
  expect(() => encodeURIComponent(end.message!)).not.toThrow();
});

it("the end has puppet's counts, not its lists", () => {
  const summary = { resources: { total: 10, failed: 0 }, changedResources: ['File[/a]'], noopPending: 0 };
  expect(taskEnd({ kind: 'ended', result: result({ summary }) }).summary).toEqual({
    'resources.total': 10,
    'resources.failed': 0,
    noopPending: 0,
  });
});

it('has the end of what it wrote, of a check', () => {
  const output = { stdout: stream(`${'x'.repeat(3_000)}\nout\n`), stderr: stream('  \n') };
  const ended = { kind: 'ended', result: result({ output }) } as const;
  expect(taskEnd(ended).output).toBeUndefined();
  expect(taskEnd(ended, true).output).toHaveLength(2_000);
  expect(taskEnd(ended, true).output).toMatch(/x\nout$/);
  const both = result({ output: { stdout: stream('out\n'), stderr: stream('err\n') } });
  expect(taskEnd({ kind: 'ended', result: both }, true).output).toBe('out\nerr');
  expect(taskEnd({ kind: 'ended', result: result({}) }, true).output).toBeUndefined();
});
