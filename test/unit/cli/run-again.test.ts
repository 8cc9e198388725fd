import { afterEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/shell/run-cli.ts';
import { recordingTerminal } from './recording-terminal.ts';
import { RUN_ID, runRecord, type StubAnswer, type StubApi, type StubRequest, stubApi } from './stub-api.ts';

let api: StubApi | undefined;
afterEach(() => api?.close());

async function againstRun(before: object, args: readonly string[], answer?: string) {
  const reply = ({ method, at }: StubRequest): StubAnswer => {
    if (method === 'GET') return [200, runRecord(before)];
    return [202, at.startsWith('/graphs') ? { id: 13, cluster: 1, status: 'pending', run: 'r-2' } : runRecord()];
  };
  api = await stubApi(reply);
  const terminal = recordingTerminal({
    env: { SITEWRIGHT_API: api.url, USER: 'bob' },
    ...(answer === undefined ? {} : { answer }),
  });
  const code = await runCli(['run', 'again', RUN_ID, ...args], terminal);
  return { code, ...terminal.said, sent: api.requests.filter(({ method }) => method === 'POST') };
}

describe('a run of a site', () => {
  const deployed = {
    revision: 3,
    parameters: { site: 'dc1', started_by: 'ann', reason: 'first', labels: { team: 'a' }, title: 'Racks 1–4' },
  };

  it('is started again with its revision and arguments, by the current user', async () => {
    const { code, sent } = await againstRun(deployed, ['--reason', 'power is back']);
    expect(code).toBe(0);
    expect(sent).toEqual([
      {
        method: 'POST',
        at: '/sites/dc1/runs',
        user: 'bob',
        body: {
          kind: 'deploy_site',
          revision: 3,
          labels: { team: 'a' },
          title: 'Racks 1–4',
          reason: 'power is back',
          started_by: 'bob',
        },
      },
    ]);
  });

  it('can be started again with another revision', async () => {
    const { sent } = await againstRun(deployed, ['--revision', 'latest', '--title', 'Rack 5', '--label', 'team:b']);
    expect(sent[0]!.body).toMatchObject({ revision: 'latest', title: 'Rack 5', labels: { team: 'b' } });
  });

  it('that destroys data is only started again after confirmation', async () => {
    const destroyed = {
      kind: 'redeploy_nodes',
      revision: 3,
      parameters: { site: 'dc1', nodes: ['a', 'b'], erase: true },
    };
    const without = await againstRun(destroyed, []);
    expect([without.code, without.sent]).toEqual([2, []]);
    await api?.close();
    const { sent } = await againstRun(destroyed, ['--yes']);
    expect(sent[0]!.body).toMatchObject({ kind: 'redeploy_nodes', nodes: ['a', 'b'], erase: true });
  });

  it('is started again after confirmation on a terminal', async () => {
    const { code, out, sent } = await againstRun(deployed, [], 'n');
    expect([code, sent]).toEqual([2, []]);
    expect(out).toContain('Start deploy_site of site dc1 again, with revision 3? [y/N]');
  });

  it('refuses options for graphs', async () => {
    const { code, err } = await againstRun(deployed, ['--apply', '--force']);
    expect(code).toBe(2);
    expect(err).toContain('has no --apply, --force');
  });
});

describe('a run of graphs', () => {
  const planned = {
    kind: 'execute_graph',
    // Of an installation with a prefix.
    workflow_id: 'west:execute_graph:1:12',
    ...{ site: null, cluster: 1 },
    parameters: {
      cluster: 1,
      started_by: 'ann',
      reason: 'look',
      mode: 'dry_run',
      graphs: [{ type: 'a', nodes: [2], tasks: ['x'] }],
      max_nodes: 3,
      labels: { team: 'a' },
    },
  };
  const same = { cluster: 1, graphs: [{ type: 'a', nodes: [2], tasks: ['x'] }], max_nodes: 3, labels: { team: 'a' } };

  it.each([
    [[], { ...same, dry_run: true }],
    [['--apply', '--reason', 'now'], { ...same, reason: 'now' }],
    [['--noop'], { ...same, noop_run: true }],
    [['--force'], { ...same, dry_run: true, force: true }],
  ])('with %j', async (flags, body) => {
    const { code, out, sent } = await againstRun(planned, flags);
    expect({ code, at: sent[0]?.at, body: sent[0]?.body }).toEqual({ code: 0, at: '/graphs/execute', body });
    expect(out).toContain('started run 13 on cluster 1');
  });

  it.each([
    [{ sequence: 4 }, { sequence: 4 }],
    [{ from: 9 }, { from: 9 }],
    [{}, { graphs: [{ type: 'default' }] }],
  ])('chosen by %j', async (choice, wanted) => {
    const before = { ...planned, parameters: { cluster: 1, ...choice } };
    expect((await againstRun(before, [])).sent[0]!.body).toEqual({ cluster: 1, ...wanted });
  });

  it('has no revision', async () => {
    const { code, err } = await againstRun(planned, ['--revision', '3']);
    expect(code).toBe(2);
    expect(err).toContain('a run on cluster 1 has no --revision');
  });
});

it('audit list sends its filters', async () => {
  const entry = {
    id: 'x',
    at: '2026-01-02T03:04:05.000Z',
    actor: 'ann',
    action: 'run.pause',
    target: 'run/r',
    reason: 'r',
    details: null,
  };
  api = await stubApi(() => [200, { items: [entry], next: null }]);
  const terminal = recordingTerminal({ env: { SITEWRIGHT_API: api.url } });
  const args = [
    '--actor',
    'ann',
    '--action',
    'run.pause',
    '--target',
    'run/r',
    '--since',
    '2026-01-01T00:00:00Z',
    '-l',
    '5',
  ];
  expect(await runCli(['audit', 'list', ...args, '-f', 'csv'], terminal)).toBe(0);
  expect(terminal.said.out).toBe(
    'at,actor,action,target,reason,details\r\n2026-01-02T03:04:05.000Z,ann,run.pause,run/r,r,\r\n',
  );
  const [{ at } = { at: '' }] = api.requests;
  expect(Object.fromEntries(new URL(at, api.url).searchParams)).toEqual({
    actor: 'ann',
    action: 'run.pause',
    target: 'run/r',
    since: '2026-01-01T00:00:00Z',
    limit: '5',
  });
});

it('a run in which nodes asked checks is not started again: its site asks them', async () => {
  const checks = { site: 'dc1', revision: 3, names: ['disk'], nodes: ['n1'] };
  const { code, err, sent } = await againstRun(
    { kind: 'execute_graph', site: null, cluster: 1, parameters: { cluster: 1, checks } },
    [],
  );
  expect([code, sent]).toEqual([2, []]);
  expect(err).toContain('sitewright check run dc1 disk');
});
