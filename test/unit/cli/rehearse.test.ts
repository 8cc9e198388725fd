import type { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { rehearsalText } from '../../../src/cli/views/rehearsal.ts';
import { API } from '../../../src/core/contracts/api.ts';
import { BUDGETS } from '../../../src/core/contracts/budget.ts';
import type { Rehearsal } from '../../../src/core/contracts/rehearsals.ts';
import { cli, recordingTerminal } from './recording-terminal.ts';
import { type StubApi, type StubRequest, stubApi } from './stub-api.ts';

let api: StubApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

const STARTED_AT = '2000-01-01T00:00:00.000Z';
const REHEARSAL = {
  ...{ kind: 'execute_graph', site: null, cluster: 1, outcome: 'success', seconds: 90, started_at: STARTED_AT },
  ...{ events: [], events_omitted: 0, steps: [], steps_omitted: 0, report: null, software: null, assumptions: [] },
};

/** Types a command; what it sent that is no question. */
async function typed(...args: readonly string[]) {
  await api?.close();
  api = await stubApi(({ method, at }: StubRequest) => {
    if (at.endsWith('/rehearsals')) return [200, REHEARSAL];
    if (method === 'POST' && at.startsWith('/sites')) return [202, { id: 'r1', kind: 'deploy_site', site: 'dc1' }];
    if (method === 'POST' || method === 'PUT') return [202, { id: 13, cluster: 1, status: 'pending', run: 'r-2' }];
    if (at.startsWith('/transactions/')) return [200, { id: 12, cluster: 1 }];
    return [200, {}];
  });
  const result = await cli(args, { env: { SITEWRIGHT_API: api.url } });
  const sent = api.requests.filter(({ method }) => method !== 'GET');
  return { ...result, sent, body: (sent[0]?.body ?? {}) as Readonly<Record<string, unknown>> };
}

const EVERYTHING = [
  ...['--dry-run', '--force', '--trace', '--hold-on-failure', '--max-nodes', '3', '--hold-before', 'netconfig'],
  ...['--hold-before', '*', '--reason', 'change 4711', '--title', 'Racks', '--description', 'of **dc1**'],
  ...['--label', 'team:storage', '--subgraphs', 'netconfig/1,3-5:api'],
];
const CHOSEN = ['--type', 'default', 'health', '--node', '3', '4', '--tasks', 'netconfig,ntp'];

async function command(path: string): Promise<Command> {
  let found: Command = await createProgram(recordingTerminal());
  for (const name of path.split(' ')) found = found.commands.find((one) => one.name() === name)!;
  return found;
}

const STARTS = {
  'rehearse site': ['site deploy', 'site update', 'site redeploy', 'site test'],
  'rehearse cluster': ['graph execute', 'cluster deploy', 'cluster redeploy', 'sequence execute'],
};

describe('a rehearsal', () => {
  it.each(Object.entries(STARTS))('%s knows each option of the commands that start the run', async (path, starts) => {
    const rehearse = await command(path);
    const known = rehearse.options.map(({ flags }) => flags);
    // The cluster is what it is on; it names it as others do.
    const named = ['--cluster <id>', '-e, --env <id>'];
    for (const start of starts) {
      const wanted = (await command(start)).options.map(({ flags }) => flags);
      expect([start, wanted.filter((flags) => !known.includes(flags) && !named.includes(flags))]).toEqual([start, []]);
    }
  });

  it.each(Object.keys(STARTS))('%s says why it does not take what it does not take', async (path) => {
    const rehearse = await command(path);
    const refused = rehearse.options.filter(({ hidden, description }) => hidden && !description.startsWith('Fuel'));
    expect(refused.map(({ long }) => long)).toEqual(expect.arrayContaining(['--watch', '--wait', '--yes']));
    for (const { long, description } of refused) {
      const { code, err, sent } = await typed(...path.split(' '), 'dc1', long!);
      // With this one, 2 means that there is something to do.
      expect([code, sent]).toEqual([long === '--detailed-exitcode' ? 1 : 2, []]);
      expect(err).toContain(`${long}: ${description}`);
    }
  });

  it('of graphs sends what graph execute sends', async () => {
    const { body: started } = await typed('graph', 'execute', '--cluster', '1', ...CHOSEN, ...EVERYTHING);
    const { sent, code, body } = await typed('rehearse', 'cluster', '1', ...CHOSEN, ...EVERYTHING);
    expect([code, sent[0]?.at]).toEqual([0, '/clusters/1/rehearsals']);
    expect({ cluster: 1, ...body }).toEqual(started);
    expect(Object.keys(body)).toEqual(expect.arrayContaining(['graphs', 'subgraphs', 'hold_before', 'max_nodes']));
  });

  it('continues an earlier run on its cluster, with what fails', async () => {
    const { body: started } = await typed('graph', 'execute', '--from', '12', '--hold-on-failure');
    const { sent, body } = await typed('rehearse', 'cluster', '--from', '12', '--hold-on-failure');
    expect(sent[0]?.at).toBe('/clusters/1/rehearsals');
    expect({ cluster: 1, ...body }).toEqual(started);
    const { body: failing } = await typed('rehearse', 'cluster', '1', '--from', '12', '--fail-task', 'ntp@node-3');
    expect(failing).toEqual({ from: 12, fail_tasks: [{ task: 'ntp', node: 'node-3' }] });
    const { code, err } = await typed('rehearse', 'cluster', '--from', '12', '--tasks', 'ntp');
    expect([code, err]).toEqual([2, expect.stringContaining('--from takes graphs, nodes and tasks')]);
    expect((await typed('rehearse', 'cluster')).err).toContain('name the cluster');
  });

  it('of deployment changes names no graph; of a sequence its number', async () => {
    expect((await typed('rehearse', 'cluster', '1', '--noop')).body).toEqual({ noop_run: true });
    expect((await typed('rehearse', 'cluster', '1', '--sequence', '7', '--force')).body).toEqual({
      sequence: 7,
      force: true,
    });
    // As graph execute has it: nodes and tasks are those of the graph default.
    expect((await typed('rehearse', 'cluster', '1', '--node', '3')).body).toEqual({
      graphs: [{ type: 'default', nodes: [3] }],
    });
  });

  it.each([
    ['deploy_site', 'deploy', [], ['--hold-before', 'control']],
    ['update_site', 'update', [], ['--hold-before', '*', '--release-removed']],
    ['redeploy_nodes', 'redeploy', ['node-1'], ['--erase', '--hold-before', '*', '--yes']],
    ['test_site', 'test', [], []],
  ])('of %s sends what site %s sends', async (kind, verb, nodes, options) => {
    const all = [...options, '--revision', '3', '--reason', 'change 4711', '--label', 'team:storage'];
    const { body: started } = await typed('site', verb, 'dc1', ...nodes, ...all);
    const shown = all.filter((option) => option !== '--yes');
    const { sent, code, body } = await typed('rehearse', 'site', 'dc1', ...nodes, '--kind', kind, ...shown);
    expect([code, sent[0]?.at]).toEqual([0, '/sites/dc1/rehearsals']);
    const { started_by: _, ...asked } = started;
    expect(body).toEqual(asked);
  });
});

it('a rehearsal is waited for as long as the API works on it', async () => {
  const limits = vi.spyOn(AbortSignal, 'timeout');
  try {
    await typed('rehearse', 'cluster', '1');
    expect(limits.mock.calls.flat()).toContainEqual(
      expect.toSatisfy((ms: number) => ms > BUDGETS.rehearsing.seconds * 1000),
    );
  } finally {
    limits.mockRestore();
  }
});

describe('the request of a rehearsal', () => {
  const fieldsOf = (route: keyof typeof API): readonly string[] => {
    const { body } = API[route] as { readonly body?: { readonly shape: Readonly<Record<string, unknown>> } };
    return Object.keys(body!.shape);
  };

  it('has each field of the request that starts the run', () => {
    expect(fieldsOf('POST /sites/:site/rehearsals')).toEqual(
      expect.arrayContaining([...fieldsOf('POST /sites/:site/runs')]),
    );
    const started = fieldsOf('POST /graphs/execute/').filter((field) => field !== 'cluster');
    expect(started).toContain('from');
    expect(fieldsOf('POST /clusters/:id/rehearsals')).toEqual(expect.arrayContaining([...started]));
  });
});

describe('the text of a rehearsal', () => {
  const step = (node: string, from: number, to: number, state = 'success') => ({
    ...{ what: 'configure', graph: 'default', node, from, to, state },
  });
  const event = (at: number) => ({ at, text: `task ${at} done` });
  const shown = (more: object) => rehearsalText({ ...REHEARSAL, ...more } as Rehearsal, false, 'cluster lab');

  it('has a line for each step of a few', () => {
    const text = shown({ steps: [step('node-1', 0, 45), step('node-2', 45, 90, 'failed')] });
    expect(text).toContain('Rehearsal of execute_graph on cluster lab: success after 1m30s');
    expect(text).toContain(`configure node-1  ${'█'.repeat(20)}${' '.repeat(20)}  45s\n`);
    expect(text).toContain(`configure node-2  ${' '.repeat(20)}${'█'.repeat(20)}  45s  failed`);
  });

  it('has a line for each node of many steps, and shows where one fails', () => {
    const steps = Array.from({ length: 61 }, (_, at) => step('node-1', at, at + 1));
    const text = shown({ steps: [...steps, step('node-2', 45, 90, 'failed')] });
    expect(text).toContain(`node-1  ${'█'.repeat(27)}${' '.repeat(13)}  61 steps\n`);
    expect(text).toContain(`node-2  ${' '.repeat(20)}${'█'.repeat(19)}x  1 step, failed: 1\n`);
    expect(text).not.toContain('configure');
  });

  it('has the beginning and the end of many events', () => {
    const text = shown({ events: Array.from({ length: 100 }, (_, at) => event(at)) });
    expect(text).toContain('task 29 done\n  40 more: -f json has them\n   0:01:10  task 70 done\n');
    expect(text).toContain('task 99 done\n');
  });
});
