import { afterEach, describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/program.ts';
import { CHANGING } from '../../../src/cli/shell/dry-run.ts';
import { isChange } from '../../../src/cli/shell/would-change.ts';
import { API } from '../../../src/core/contracts/api.ts';
import { cli } from './recording-terminal.ts';
import { type StubAnswer, type StubApi, type StubRequest, stubApi } from './stub-api.ts';

let api: StubApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

async function against(answer: (request: StubRequest) => StubAnswer, ...args: readonly string[]) {
  api = await stubApi(answer);
  const result = await cli(args, { env: { SITEWRIGHT_API: api.url } });
  return { ...result, changes: api.requests.filter(({ method }) => method !== 'GET') };
}

const NODES = [{ id: 7, name: 'web3', hostname: 'web3' }];

/** Commands that change nothing of the system, or work on this machine alone. */
const READING = [
  ...[
    'site check',
    'site render',
    'graph check',
    'graph serialize',
    'graph plan',
    'graph draw',
    'graph diff',
    'graph simulate',
  ],
  ...['rehearse site', 'rehearse cluster'],
  ...[
    'package check',
    'package create',
    'package build',
    'schemas export',
    'init site',
    'init release',
    'cluster versions',
  ],
  ...[
    'strategy simulate',
    'strategy show',
    'yaql eval',
    'yaql console',
    'yaql functions',
    'maas check',
    'maas simulate',
  ],
  ...[
    'demo',
    'up',
    'guard-ui',
    'api',
    'gateway',
    'doctor',
    'login',
    'logout',
    'completion',
    'version',
    'config show',
    'tag pending',
  ],
  // Of a model each change has a plan of its own.
  'mcp',
  ...['run tree', 'run nodes', 'run watch', 'run logs', 'run report', 'site revisions', 'site files', 'site plan'],
  ...['site diff', 'site drift', 'node select', 'node history', 'notice log', 'worker versions', 'cluster check'],
  ...['settings history', 'settings diff', 'history deployment-info', 'history settings', 'history network'],
  // In the files of this user, or on the machine of a store, a node or an agent.
  ...['context add', 'context use', 'context delete', 'context remove'],
  ...['db migrate', 'token bootstrap', 'agent run', 'agent serve', 'agent token', 'agent install', 'agent drain'],
  ...['agent policy check', 'identity certificates', 'identity revoke', 'identity order-keys'],
  ...['identity rotate-order-key', 'identity remove-order-key', 'identity encryption-key'],
];
const READING_VERBS = /(list|show|status|results|download)$/;

interface Leaf {
  readonly path: string;
  readonly options: readonly string[];
}

async function leaves(): Promise<readonly Leaf[]> {
  const program = await createProgram({ out() {}, err() {}, env: {}, color: false, interactive: false } as never);
  const below = (command: typeof program, path: string): Leaf[] =>
    command.commands.flatMap((one) => {
      const own = `${path} ${one.name()}`.trim();
      return one.commands.length > 0
        ? below(one, own)
        : [{ path: own, options: one.options.map(({ long }) => long ?? '') }];
    });
  return below(program, '');
}

describe('--dry-run', () => {
  it('is an option of every command that changes something, with --detailed-exitcode', async () => {
    const all = await leaves();
    const dry = all.filter(({ options }) => options.includes('--dry-run'));
    const without = all.filter((one) => !dry.includes(one)).map(({ path }) => path);
    expect(without.filter((path) => !READING.includes(path) && !READING_VERBS.test(path))).toEqual([]);
    expect(dry.filter(({ options }) => !options.includes('--detailed-exitcode'))).toEqual([]);
    const known = all.map(({ path }) => path);
    expect([...CHANGING].filter((path) => !known.includes(path))).toEqual([]);
  });

  it('lets through what only reads: exactly the requests of viewers', () => {
    const reading = Object.entries<{ access: string }>(API)
      .filter(([route, { access }]) => access === 'viewer' && route !== 'DELETE /session')
      .map(([route]) => route);
    expect(reading.filter(isChange)).toEqual([]);
    const changing = Object.entries<{ access: string }>(API).filter(([, { access }]) =>
      ['operator', 'admin'].includes(access),
    );
    expect(changing.map(([route]) => route).filter((route) => !route.startsWith('GET ') && !isChange(route))).toEqual(
      [],
    );
  });

  it('shows the question and what would be sent, and sends nothing', async () => {
    const { code, out, err, changes } = await against(() => [200, NODES], 'node', 'delete', 'web3', '--dry-run');
    expect([code, changes]).toEqual([0, []]);
    expect(err).toBe('Delete node web3 from the inventory?\n');
    expect(out).toBe('dry run, nothing was changed; it would send:\n  DELETE /api/v1/nodes?ids=7\n');
  });

  it('of a command that asks nothing shows what would be sent; as JSON with -f json', async () => {
    const { out, changes } = await against(
      () => [200, NODES],
      ...['node', 'maintenance', 'on', 'web3', '--reason', 'a disk', '--dry-run', '-f', 'json'],
    );
    expect([JSON.parse(out), changes]).toEqual([
      { dry_run: true, would: [{ method: 'PUT', path: '/api/v1/nodes/7/maintenance', body: { reason: 'a disk' } }] },
      [],
    ]);
  });

  it.each<[code: number, what: string, args: readonly string[]]>([
    [2, 'would change', ['node', 'delete', 'web3', '--dry-run']],
    [1, 'fails', ['node', 'delete', 'web99', '--dry-run']],
    [1, 'is wrong', ['node', 'delete', '--dry-run']],
    [0, 'changes nothing', ['cluster', 'settings', '1', '--dry-run']],
    [2, 'has tasks to run', ['graph', 'plan', '--cluster', '1', '-f', 'json']],
  ])('with --detailed-exitcode ends with %d where the command %s', async (code, _what, args) => {
    const plan = { totals: { running: 2 }, nodes: [], left_out: [], warnings: [] };
    const answer = ({ at }: StubRequest): StubAnswer => [
      200,
      at.startsWith('/clusters/1/plan') ? plan : at.startsWith('/nodes') ? NODES : {},
    ];
    expect((await against(answer, ...args, '--detailed-exitcode')).code).toBe(code);
  });
});

describe('a decision about a run', () => {
  const RUN = { id: 'r-1', workflow_id: 'w', kind: 'deploy_site', site: 'dc1', cluster: null, number: 12 };
  const PLAN = {
    groups: [
      { name: 'control', nodes: ['n1', 'n2'] },
      { name: 'workers', nodes: ['n3', 'n4'] },
    ],
  };
  const REPORTS = [
    { name: 'n1', state: 'success' },
    { name: 'n2', state: 'prepared', running: 'deploy' },
    { name: 'n3', state: 'waiting' },
    { name: 'n4', state: 'success' },
  ];
  const answer = ({ at }: StubRequest): StubAnswer => {
    if (at.endsWith('/plan')) return [200, { plan: PLAN }];
    if (at.endsWith('/nodes')) return [200, { items: REPORTS }];
    return at.startsWith('/runs?') ? [200, { items: [RUN], next: null }] : [200, RUN];
  };

  it.each([
    ['stop', [], 'running, finishes: n2\nstill to do, not started: n3\nStop run 12?\n'],
    ['cancel', [], 'running, aborted: n2\nstill to do, not started: n3\nCancel run 12?\n'],
    ['pause', [], 'running, finishes: n2\nstill to do, waits: n3\nPause run 12?\n'],
    [
      'approve',
      ['--before', 'workers'],
      'running, goes on: n2\nstill to do, starts: n3\nApprove run 12 before workers?\n',
    ],
    ['reject', [], 'running, finishes: n2\nstill to do, not started: n3\nReject run 12?\n'],
    [
      'promote',
      ['--group', 'workers'],
      'still to do, starts, wave by wave: n3\nPromote the rollout of group workers in run 12?\n',
    ],
    ['hold', [], 'running, finishes: n2\nstill to do, waits after the open wave: n3\nHold the rollout in run 12?\n'],
    ['abort-rollout', [], 'running, finishes: n2\nstill to do, not started: n3\nAbort the rollout in run 12?\n'],
  ])('to %s it shows the nodes that it touches, by name', async (verb, more, question) => {
    const { err, changes } = await against(answer, 'run', verb, 'r-1', ...more, '--dry-run');
    expect([err, changes]).toEqual([question, []]);
  });

  it.each([null, 'dc1'])('on graphs shows tasks, also where the cluster belongs to a site (%s)', async (site) => {
    const tasks = [
      { task: 'a', node: '7', status: 'running' },
      { task: 'b', node: '7', status: 'waiting' },
      { task: 'sync', node: 'null', status: 'waiting' },
    ];
    const graphs = ({ at }: StubRequest): StubAnswer => {
      if (at.startsWith('/nodes')) return [200, NODES];
      if (at.includes('/tasks')) return [200, { items: tasks, next: null }];
      const run = { ...RUN, kind: 'execute_graph', site, cluster: 1 };
      return [200, at.startsWith('/runs?') ? { items: [run], next: null } : run];
    };
    const { err } = await against(graphs, 'run', 'stop', 'r-1', '--dry-run');
    expect(err).toBe('running, finishes: a@web3\nstill to do, not started: b@web3, sync\nStop run 12?\n');
  });
});
