import { expect, it, vi } from 'vitest';
import type { ApiClient } from '../../../src/cli/shell/client.ts';
import { showingWaits } from '../../../src/cli/shell/session.ts';
import { progressOn } from '../../../src/cli/shell/terminal.ts';
import { followRun } from '../../../src/cli/shell/watch.ts';
import { recordingTerminal } from './recording-terminal.ts';
import { runRecord, runStatus } from './stub-api.ts';

it('a request that takes longer than a moment says on a terminal what it waits for, and removes that', async () => {
  vi.useFakeTimers();
  try {
    const said: (string | undefined)[] = [];
    const terminal = { now: () => Date.now(), progress: (text: string | undefined) => void said.push(text) };
    let answer: (response: Response) => void = () => undefined;
    const ask = showingWaits(terminal, () => new Promise((done) => (answer = done)));
    const asked = ask('http://127.0.0.1:8080/api/v1/sites');
    await vi.advanceTimersByTimeAsync(900);
    expect(said).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(said).toEqual(['… waiting for 127.0.0.1:8080, 1 s', '… waiting for 127.0.0.1:8080, 2 s']);
    answer(new Response('{}'));
    await asked;
    expect(said.at(-1)).toBeUndefined();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(said).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});

it('nothing is shown where nobody looks', () => {
  expect(showingWaits(recordingTerminal(), fetch)).toBe(fetch);
});

it('a line of progress is written over, and never longer than the terminal', () => {
  const written: string[] = [];
  const progress = progressOn({ columns: 10, write: (text) => written.push(text) });
  progress('… waiting\nfor a long time');
  progress(undefined);
  expect(written).toEqual(['\r\u001b[2K… waiting', '\r\u001b[2K']);
});

it('waiting for a run shows how far it is, and leaves nothing behind', async () => {
  const said: (string | undefined)[] = [];
  const terminal = { ...recordingTerminal(), progress: (text: string | undefined) => void said.push(text) };
  const looks = [runStatus(), runStatus({ done: 1 }), runStatus({ done: 2, phase: 'finished', outcome: 'success' })];
  const runs = { status: async () => looks.shift(), get: async () => runRecord({ outcome: 'success' }) };
  const followed = await followRun(terminal, { runs } as unknown as ApiClient, 'r');
  expect(followed.end).toBe('finished');
  expect(said.slice(0, 2)).toEqual([expect.stringContaining('0 of 2 nodes'), expect.stringContaining('1 of 2 nodes')]);
  expect(said.at(-1)).toBeUndefined();
});
