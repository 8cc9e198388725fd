import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TaskResult } from '../../../src/agent/index.ts';
import { TaskLogs } from '../../../src/agent/output/task-logs.ts';
import { type Api, createApi } from '../../../src/api/index.ts';
import { graphRunName } from '../../../src/core/graph-run/title.ts';
import { createOperations } from '../../../src/ops/index.ts';
import { openStore, type Store } from '../../../src/store/index.ts';
import { endStoredRun } from '../../rig/ended-run.ts';
import { openapiCheck } from '../../rig/openapi-check.ts';
import { cli } from '../cli/recording-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-run-logs-'));
const logs = new TaskLogs({ folder });
let store: Store;
let api: Api;
let run: number;
let graph: number;

beforeAll(async () => {
  store = await openStore('sqlite::memory:');
  await store.migrate();
  const release = await store.releases.create({ name: 'r', version: '1', operatingSystem: 'Ubuntu' });
  const cluster = await store.clusters.create({ name: 'c', releaseId: release.id });
  const made = await store.transactions.createRun({
    ...{ clusterId: cluster.id, graphs: [{ graphType: 'default' }] },
    ...{ workflowId: `execute_graph:${cluster.id}:1`, temporalRunId: 'run-of-c' },
  });
  run = made.run.id;
  graph = made.graphs[0]!.id;
  await store.taskHistory.plan(graph, [
    { node: '3', task: 'db' },
    { node: '3', task: 'later' },
  ]);
  await store.runs.put({
    id: 'run-of-c',
    workflowId: `execute_graph:${cluster.id}:${run}`,
    kind: 'execute_graph',
    sequence: 1,
    phase: 'default: running',
    startedAt: '2026-05-01T10:00:00.000Z',
    number: run,
    labels: { cluster: String(cluster.id) },
  });
  const operations = createOperations({
    store,
    taskLogs: logs,
    temporal: {} as never,
    maas: () => {
      throw new Error('logs need no MAAS');
    },
  });
  api = await createApi(operations, { log: pino({ level: 'silent' }), version: '1', checkAnswer: openapiCheck() });
});
afterAll(async () => {
  await api.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const key = (generation: number, task = 'db') => ({
  ...{ run: graphRunName(graph, 'run-of-c'), task, node: '3', generation },
});
const put = (generation: number, offset: number, text: string | Buffer) =>
  logs.append(key(generation), { kind: 'output', stream: 'stdout', offset, bytes: Buffer.from(text as string) });
const end = (generation: number, bytes: number) =>
  logs.append(key(generation), {
    kind: 'ended',
    result: {
      outcome: 'failed',
      message: 'ended with exit code 1',
      output: { stdout: { bytes }, stderr: { bytes: 0 } },
    } as unknown as TaskResult,
  });
const get = async (task: string, query = '', accept = 'text/plain', of: number | string = run, node = '3') => {
  const place = `nodes/${encodeURIComponent(node)}/tasks/${encodeURIComponent(task)}/log`;
  return api.inject({ url: `/api/v1/runs/${of}/${place}${query}`, headers: { accept } });
};

it('the newest attempt is read by the run, its graph or the id in lists of runs, and earlier ones by number', async () => {
  put(1, 0, 'first try\n');
  put(2, 0, 'second try\n');
  for (const name of [run, graph, 'run-of-c']) {
    const answer = await get('db', '', 'text/plain', name);
    expect([answer.statusCode, answer.headers['x-sitewright-attempt'], answer.body]).toEqual([
      200,
      '2',
      'second try\n',
    ]);
  }
  expect((await get('db', '?attempt=1')).body).toBe('first try\n');
  expect((await get('db', '?offset=7')).body).toBe('try\n');
});

it('the log of a task is found by the names of task and node, whatever characters they contain', async () => {
  for (const [task, node, text] of [
    ['a@b', 'c@d', 'of a@b\n'],
    ['a', 'b@c@d', 'of a\n'],
    ['a/b', 'ü ?', 'of a slash\n'],
  ] as const) {
    const bytes = Buffer.from(text);
    logs.append({ ...key(1, task), node }, { kind: 'output', stream: 'stdout', offset: 0, bytes });
    expect((await get(task, '', 'text/plain', run, node)).body).toBe(text);
  }
  const missing = await get('a@b', '', 'text/plain', run, 'c');
  expect(missing.json()).toMatchObject({ message: expect.stringContaining("has no task 'a@b'") });
  const misspelt = await get('laetr');
  expect([misspelt.statusCode, misspelt.json()]).toMatchObject([404, { hint: "Did you mean 'later'?" }]);
  expect((await get('db', '', 'text/plain', run, 'wbe')).json()).toMatchObject({
    message: expect.stringContaining("there is no node 'wbe'"),
  });
});

it('events give offsets, gaps and the end; a character split between pieces arrives whole', async () => {
  const [head, tail] = [Buffer.from('é').subarray(0, 1), Buffer.from('é').subarray(1)];
  put(3, 0, head);
  put(3, 1, tail);
  put(3, 100, 'z');
  end(3, 101);
  const { body, headers } = await get('db', '?follow=true', 'text/event-stream');
  expect(headers['content-type']).toContain('text/event-stream');
  const events = body
    .trim()
    .split('\n\n')
    .map((event) => {
      const [name, id, data] = event.split('\n').map((line) => line.slice(line.indexOf(':') + 2));
      return [name, Number(id), JSON.parse(data!)];
    });
  expect(events).toEqual([
    ['output', 2, { stream: 'stdout', offset: 0, text: 'é' }],
    ['gap', 100, { stream: 'stdout', offset: 2, to: 100 }],
    ['output', 101, { stream: 'stdout', offset: 100, text: 'z' }],
    ['ended', 101, { outcome: 'failed', message: 'ended with exit code 1' }],
  ]);
});

it('both streams are one text in the order of their pieces, with lines of stderr marked; each alone is as it was written', async () => {
  const [é, part] = [
    Buffer.from('é'),
    (stream: 'stdout' | 'stderr', offset: number, bytes: Buffer | string) =>
      logs.append(key(1, 'both'), { kind: 'output', stream, offset, bytes: Buffer.from(bytes as string) }),
  ];
  part('stdout', 0, 'one\n');
  part('stderr', 0, 'why it failed\nand w');
  part('stderr', 19, 'here\n');
  part('stdout', 4, é.subarray(0, 1));
  part('stderr', 24, 'later\n');
  part('stdout', 5, é.subarray(1));
  expect((await get('both', '?stream=stderr')).body).toBe('why it failed\nand where\nlater\n');
  expect((await get('both', '?stream=stdout')).body).toBe('one\né');
  expect((await get('both')).body).toContain('one\n[stderr] why it failed\n[stderr] and where\n');
  const events = async (query = '') =>
    [...(await get('both', query, 'text/event-stream')).body.matchAll(/^id: (\d+)\ndata: (.*)$/gm)].map(
      ([, id, data]) => [Number(id), JSON.parse(data!)] as const,
    );
  const all = await events();
  expect(all.map(([, { stream, text }]) => [stream, text])).toEqual([
    ['stdout', 'one\n'],
    ['stderr', 'why it failed\nand w'],
    ['stderr', 'here\n'],
    ['stderr', 'later\n'],
    ['stdout', 'é'],
  ]);
  // Whoever continues after any event misses nothing, not even half a character.
  for (const [index, [id]] of all.entries()) {
    const rest = (await events(`?offset=${id}`)).map(([, { text }]) => text).join('');
    expect(
      rest.endsWith(
        all
          .slice(index + 1)
          .map(([, { text }]) => text)
          .join(''),
      ),
      `after ${id}: ${rest}`,
    ).toBe(true);
    expect(rest).not.toContain('\uFFFD');
  }
});

it('the command prints both streams of a task with marks, one alone as it was written, and marks the log of a run, too', async () => {
  await api.listen({ port: 0, host: '127.0.0.1' });
  const logged = (...args: string[]) =>
    cli(['run', 'logs', String(run), ...args], {
      env: { SITEWRIGHT_API: `http://127.0.0.1:${(api.server.address() as AddressInfo).port}` },
    });
  expect(await logged('both@3')).toMatchObject({
    out: 'one\n[stderr] why it failed\n[stderr] and where\n[stderr] later\né',
    code: 0,
  });
  expect((await logged('both@3', '--stderr')).out).toBe('why it failed\nand where\nlater\n');
  expect((await logged('both@3', '--stdout')).out).toBe('one\né');
  expect((await logged('both@3', '--stdout', '--stderr')).code).toBe(2);
  const whole = (await logged()).out.split('\n').filter((line) => line.includes('both@3'));
  expect(whole.map((line) => line.split('both@3  ')[1])).toEqual([
    'one',
    '[stderr] why it failed',
    '[stderr] and where',
    '[stderr] later',
  ]);
  expect((await logged('--stdout')).out).not.toContain('stderr');
});

it('missing output is answered with a message', async () => {
  for (const [task, node, query, status] of [
    ['later', '3', '', 404],
    ['nothing', '3', '', 404],
    ['db', '4', '', 404],
    ['', '3', '', 400],
    ['db', '', '', 400],
    ['db', '3', '?attempt=9', 404],
  ] as const)
    expect([task, node, query, (await get(task, query, 'text/plain', run, node)).statusCode]).toEqual([
      task,
      node,
      query,
      status,
    ]);
  expect((await get('db', '', 'text/plain', 'no-such-run')).statusCode).toBe(404);
  expect((await get('db', '', 'text/plain', 999)).statusCode).toBe(404);
});

it('a task without output is awaited only while its run is open', async () => {
  const hint = async () => (await get('later')).json<{ hint: string }>().hint;
  expect(await hint()).toContain('follow');
  await endStoredRun(store, run, 'stopped', 'stopped');
  expect(await hint()).toBe(`'sitewright history show ${run}' shows its result.`);
  expect((await get('later', '?follow=true')).statusCode).toBe(404);
});

it('a browser that requests a missing log gets the page, which reports it; a program gets an error', async () => {
  const ask = (url: string, accept: string) => api.inject({ url, headers: { accept } });
  const page = await ask('/nonsense', 'text/html,*/*');
  expect([page.statusCode, page.headers['content-type'], page.body]).toEqual([
    404,
    expect.stringContaining('text/html'),
    expect.stringContaining('<script'),
  ]);
  expect((await ask('/nonsense', 'application/json')).json()).toMatchObject({ code: 'not-found' });
  expect((await ask('/api/v1/nonsense', 'text/html')).json()).toMatchObject({ code: 'not-found' });
});
