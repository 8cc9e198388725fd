import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../../src/cli/shell/run-cli.ts';
import { describeSilence } from '../../../src/core/run/late-text.ts';
import { cli, recordingTerminal } from './recording-terminal.ts';
import {
  problem,
  RUN_ID,
  runRecord,
  runStatus,
  type StubAnswer,
  type StubApi,
  type StubRequest,
  stubApi,
} from './stub-api.ts';

const example = fileURLToPath(new URL('../../../examples/stl1', import.meta.url));

let api: StubApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

/** Runs a command against an API with this answer. */
async function against(
  answer: (request: StubRequest) => StubAnswer,
  args: readonly string[],
  options: Parameters<typeof cli>[1] = {},
) {
  api = await stubApi(answer);
  const { env, ...rest } = options;
  const result = await cli(args, { env: { SITEWRIGHT_API: api.url, ...env }, ...rest });
  return { ...result, requests: api.requests };
}

describe('exit codes', () => {
  it.each([
    [problem('invalid', 400, 'that is wrong', { hint: 'write it right' }), 2],
    [problem('not-found', 404, 'no such site'), 3],
    [problem('conflict', 409, 'the name is taken'), 4],
    [problem('site-busy', 409, 'site is busy', { run: { id: RUN_ID, workflow_id: 'deploy_site:dc1' } }), 4],
    [problem('temporal-unreachable', 503, 'Temporal is away'), 5],
    [problem('unexpected', 500, 'a defect'), 5],
    [[200, '<html>'] as const, 5],
    [[404, '<html>'] as const, 5],
    [[401, '<html>'] as const, 5],
    [null, 5],
  ])('are set by the answer %j', async (answer, code) => {
    const result = await against(() => answer, ['site', 'show', 'dc1']);
    expect(result.code).toBe(code);
    expect(result.out).toBe('');
    expect(result.err).toMatch(/^error: /);
  });

  it('come with an error that has the problem, the run and the next step', async () => {
    const more = { hint: 'wait for it', run: { id: RUN_ID, workflow_id: 'deploy_site:dc1' } };
    const { err } = await against(() => problem('site-busy', 409, 'busy', more), ['site', 'deploy', 'dc1']);
    expect(err).toBe(`error: busy\n  run:  ${RUN_ID} (deploy_site:dc1)\n  hint: wait for it\n`);
  });

  it.each([['-f', 'json'], ['--format=json']])('come with a JSON problem with %s', async (...flags) => {
    const answer = problem('conflict', 409, 'taken', { hint: 'choose another' });
    const { err, out } = await against(() => answer, ['site', 'create', 'dc1', ...flags]);
    expect(JSON.parse(err)).toEqual({ code: 'conflict', message: 'taken', hint: 'choose another' });
    expect(out).toBe('');
  });

  it.each([
    [[{ severity: 'error', code: 'run.input', message: 'it is bad' }], 'error: it is bad; really\n'],
    [
      [{ severity: 'error', code: 'run.input', message: 'it is bad', file: 'a.yaml', line: 1, column: 1 }],
      'a.yaml:1:1: error[run.input]: it is bad\n\n1 error\nerror: the input is not valid\n',
    ],
    [
      [{ severity: 'error', code: 'run.input', message: 'another' }],
      'error[run.input]: another\n\n1 error\nerror: it is bad; really\n',
    ],
  ])('come with each problem once: %j', async (errors, text) => {
    const answer = problem('invalid', 400, 'it is bad; really', { errors });
    const { err } = await against(() => answer, ['site', 'create', 'dc1']);
    expect(err).toBe(text);
  });

  it('report an unreachable API, with the way to start it', async () => {
    const gone = await stubApi(() => null);
    await gone.close();
    const { code, err } = await cli(['run', 'list', '--api', gone.url]);
    expect(code).toBe(5);
    expect(err).toContain(`${gone.url} cannot be reached: nothing listens there`);
    expect(err).toContain('sitewright up');
  });

  it('report an API that does not speak TLS, with its address without it', async () => {
    api = await stubApi(() => null);
    const { code, err } = await cli(['run', 'list', '--api', api.url.replace('http:', 'https:')]);
    expect(code).toBe(5);
    expect(err).toContain('cannot be reached: it does not speak TLS there\n');
    expect(err).toContain(`--api ${api.url}\n`);
  });

  it.each([
    [['site', 'lsit'], /Did you mean list\?/],
    [['run', 'list', '--sit', 'x'], /Did you mean --site\?/],
    [['run', 'list', '-f', 'xml'], /Allowed choices are table, json, yaml, csv/],
    [['run', 'list', '--limit', '0'], /whole number from 1 to 1000/],
    [['site', 'show'], /missing required argument/],
    [['site', 'show', '..'], /'\.\.' is not a name/],
    [['site'], /Usage: sitewright site/],
    [[], /Usage: sitewright/],
    [['run', 'list', '--api', 'ftp://x'], /is not an address of an API/],
  ])('report wrong use: %j', async (args, message) => {
    const { code, err } = await cli(args, { env: { SITEWRIGHT_API: 'http://127.0.0.1:9' } });
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });

  it('report wrong use as JSON with -f json', async () => {
    const { code, err } = await cli(['run', 'list', '--sit', 'x', '-f', 'json']);
    expect(code).toBe(2);
    expect(JSON.parse(err)).toMatchObject({
      code: 'usage',
      message: expect.stringContaining("unknown option '--sit'"),
    });
  });

  it.each([[['--help']], [['--version']], [['site', 'deploy', '--help']]])('%j is not an error', async (args) => {
    const { code, out } = await cli(args);
    expect(code).toBe(0);
    expect(out).not.toBe('');
  });
});

describe('settings', () => {
  it('with problems are all reported, with exit code 2', async () => {
    const env = { SITEWRIGHT_API_PORT: 'x', SITEWRIGHT_LOG_LEVEL: 'loud' };
    const { code, err } = await cli(['run', 'list'], { env });
    expect(code).toBe(2);
    expect(err).toMatch(/SITEWRIGHT_API_PORT/);
    expect(err).toMatch(/SITEWRIGHT_LOG_LEVEL/);
  });

  it('are shown by config show with origins, and without secrets', async () => {
    const env = { SITEWRIGHT_MAAS_KEY: 'aaa:bbb:ccc', SITEWRIGHT_STORE_URL: 'postgres://u:pw@h/d' };
    const { code, out } = await cli(['config', 'show', '-f', 'json'], { env, cwd: '/' });
    expect(code).toBe(0);
    const rows = JSON.parse(out) as { setting: string; value: string; origin: string }[];
    expect(rows.find(({ setting }) => setting === 'maas.key')).toEqual({
      setting: 'maas.key',
      value: '(set)',
      origin: 'SITEWRIGHT_MAAS_KEY',
    });
    expect(out).not.toMatch(/aaa|pw@/);
  });
});

describe('a run is found', () => {
  const runs = [
    runRecord(),
    runRecord({ id: '0199aabb-0000-7000-8000-000000000002', site: 'dc2', workflow_id: 'nightly' }),
    // Someone gave a run of dc1 the id that a run of dc3 would have, and no run of dc3 has its usual id.
    runRecord({ id: '0199cc00-0000-7000-8000-000000000003', site: 'dc1', workflow_id: 'deploy_site:dc3' }),
    runRecord({ id: '0199dd00-0000-7000-8000-000000000004', site: 'dc3', workflow_id: 'weekly-2026-01-01T00:00:00Z' }),
    runRecord({ id: '0199ee00-0000-7000-8000-000000000005', site: 'dc4', workflow_id: 'dc2' }),
    runRecord({
      id: '0199ff00-0000-7000-8000-000000000006',
      site: null,
      title: 'lab',
      workflow_id: 'execute_graph:1:x',
    }),
  ];
  const answer = ({ at }: StubRequest): StubAnswer => {
    const { pathname, searchParams } = new URL(at, 'http://x');
    if (pathname === '/runs') {
      const [site, workflow, cluster] = ['site', 'workflow_id', 'cluster'].map((name) => searchParams.get(name));
      if (cluster && cluster !== 'lab') return problem('not-found', 404, 'no such cluster');
      const items = runs.filter(
        (run) =>
          (!site || run.site === site) &&
          (!workflow || run.workflow_id === workflow) &&
          (!cluster || run.title === cluster),
      );
      return [200, { items: items.slice(0, Number(searchParams.get('limit') ?? 50)), next: null }];
    }
    const run = runs.find(({ id }) => pathname === `/runs/${String(id)}`);
    return run ? [200, { ...run, parameters: {} }] : problem('not-found', 404, 'no such run');
  };

  it.each([
    [RUN_ID, RUN_ID],
    ['0199aabb', '0199aabb-0000-7000-8000-000000000002'],
    ['dc1', RUN_ID],
    ['deploy_site:dc1', RUN_ID],
    ['nightly', '0199aabb-0000-7000-8000-000000000002'],
    ['deploy_site:dc3', '0199cc00-0000-7000-8000-000000000003'],
    ['weekly-2026-01-01T00:00:00Z', '0199dd00-0000-7000-8000-000000000004'],
    ['dc3', '0199dd00-0000-7000-8000-000000000004'],
    ['lab', '0199ff00-0000-7000-8000-000000000006'],
  ])('by %s', async (reference, id) => {
    const { code, out } = await against(answer, ['run', 'show', reference, '-f', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id });
  });

  it.each([
    ['lab', '0199ff00-0000-7000-8000-000000000006'],
    // It may be that of a graph within a run, which the API finds.
    ['12', '12'],
  ])('also to read its output: %s', async (reference, asked) => {
    const { code, requests } = await against(
      (request) => (request.at.includes('/logs?') ? [200, { items: [], earlier: null, later: '0' }] : answer(request)),
      ['run', 'logs', reference, '-f', 'json'],
    );
    expect(code).toBe(0);
    expect(requests.some(({ at }) => at.startsWith(`/runs/${asked}/logs?`))).toBe(true);
  });

  it('unless several ids begin with the prefix', async () => {
    const { code, err } = await against(answer, ['run', 'show', '0199aa']);
    expect(code).toBe(2);
    expect(err).toMatch(/'0199aa' matches 2 runs/);
  });

  it('unless it is the workflow id of one run and the site of another: nothing is stopped', async () => {
    const { code, err, requests } = await against(answer, ['run', 'stop', 'dc2']);
    expect(code).toBe(2);
    expect(err).toMatch(/'dc2' matches 2 runs.*dc4.*dc2/s);
    expect(requests.filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it.each(['ffff', 'update_site:dc1', 'deploy_site:dc2', 'dc9'])('or not: %s', async (reference) => {
    const { code, err } = await against(answer, ['run', 'report', reference]);
    expect(code).toBe(3);
    expect(err).toContain(`there is no run '${reference}'`);
    expect(err).toContain("Use a run's number, ");
  });

  it('and one that is nearly the name of a site is suggested', async () => {
    const sites = { items: [{ name: 'webstack' }] };
    const { err } = await against(
      (request) => (request.at === '/sites' ? [200, sites] : answer(request)),
      ['run', 'status', 'webstak'],
    );
    expect(err).toContain("Did you mean 'webstack'?");
  });
});

describe('starting a run', () => {
  const group = {
    ...{ name: 'g', critical: true, depends_on: [], nodes: ['a', 'b'], success_criteria: {}, successes_needed: 0 },
  };
  const machine = { node: 'a', status: 'Ready', deployment: { does: 'refuse', why: 'it is locked' } };
  const nothing = { site: 'dc1', revision: 2, since: 1, groups: [], checks: [], configuration: [], unchanged_nodes: 1 };
  const started = ({ method, at }: StubRequest): StubAnswer => {
    if (method === 'POST') return [202, runRecord()];
    if (at.endsWith('/strategy'))
      return [200, { site: 'dc1', revision: 1, name: null, order: ['g'], warnings: [], groups: [group] }];
    if (at === '/sites/dc1') return [200, { name: 'dc1', cluster: null }];
    if (at === '/clusters') return [200, [{ id: 1, name: 'lab', site: 'dc1' }]];
    if (at.startsWith('/sites/dc1/nodes')) return [200, { site: 'dc1', revision: 1, stale: false, nodes: [machine] }];
    if (at.includes('/difference'))
      return [200, { ...nothing, nodes: [{ name: 'b', change: 'removed', fields: [], values: [] }] }];
    return problem('not-found', 404, at);
  };

  it('prints the next commands, and sends title, reason and labels', async () => {
    const args = ['site', 'deploy', 'dc1', '--revision', '3', '--reason', 'new rack'];
    const { code, out, requests } = await against(started, args, { env: { USER: 'ann' } });
    expect(code).toBe(0);
    expect(out).toBe(
      `started deploy_site of dc1 revision 3: run 12
  watch it  sitewright run watch 12
  page      ${api!.url}/runs/${RUN_ID}
  Temporal  http://ui.test/run
`,
    );
    expect(requests.length).toBe(1);
    expect(requests.at(-1)).toEqual({
      method: 'POST',
      at: '/sites/dc1/runs',
      user: 'ann',
      body: { kind: 'deploy_site', revision: '3', reason: 'new rack', started_by: 'ann' },
    });
  });

  it('prints next commands for the system that the command line names', async () => {
    api = await stubApi(started);
    const { out } = await cli(['--api', api.url, 'site', 'test', 'dc1']);
    expect(out).toContain(`  watch it  sitewright --api ${api.url} run watch `);
    const refused = await stubApi(() => problem('run-ended', 409, 'ended', { hint: 'Again: sitewright run again 12' }));
    onTestFinished(() => refused.close());
    const home = await mkdtemp(join(tmpdir(), 'sitewright-contexts-'));
    onTestFinished(() => rm(home, { recursive: true }));
    const env = { HOME: home };
    await cli(['context', 'add', 'lab', refused.url], { env });
    const { err } = await cli(['run', 'show', RUN_ID, '--context', 'lab'], { env });
    expect(err).toContain('hint: Again: sitewright --context lab run again 12\n');
    // What starts a system is for no other one.
    await api.close();
    const away = await cli(['--api', api.url, 'run', 'list']);
    expect(away.err).toContain(`Start it with 'sitewright up', or set`);
    expect(away.err).toContain(`'sitewright --api ${api.url} doctor' checks everything.`);
  });

  it('reports that the run waits for a worker', async () => {
    const waiting = runRecord({ phase: 'waiting', revision: null, number: null });
    const { code, out } = await against(() => [202, waiting], ['site', 'deploy', 'dc1']);
    expect(code).toBe(0);
    expect(out).toContain(`deploy_site of dc1 waits for a worker to open it: run ${RUN_ID}
  worker    sitewright worker
  watch it  sitewright run watch ${RUN_ID}
`);
  });

  it('asks on a terminal, and does nothing without a yes', async () => {
    const { code, out, err, requests } = await against(started, ['site', 'deploy', 'dc1'], { answer: 'n' });
    expect(code).toBe(2);
    expect(out).toContain('Deploy site dc1: 2 nodes in 1 group? [y/N]');
    for (const affected of ['nodes: a, b', 'a: it is locked', 'cluster lab']) expect(out).toContain(affected);
    expect(err).toContain('nothing was done');
    expect(requests.some(({ method }) => method === 'POST')).toBe(false);
  });

  it('goes ahead on a yes', async () => {
    const { code, out, requests } = await against(started, ['site', 'update', 'dc1', '--release-removed'], {
      answer: 'Yes',
    });
    expect([code, out]).toEqual([0, expect.stringContaining('- node b')]);
    expect(requests.at(-1)?.body).toEqual({ kind: 'update_site', release_removed: true });
  });

  it('adopts the machines of nodes by name, and asks with their names', async () => {
    const args = ['site', 'deploy', 'dc1', '--adopt', 'a', 'b'];
    const { code, out, requests } = await against(started, args, { answer: 'Yes' });
    expect(code).toBe(0);
    expect(out).toContain('take over the machines of a, b');
    expect(requests.at(-1)?.body).toEqual({ kind: 'deploy_site', adopt: ['a', 'b'] });
    await api?.close();
    expect((await against(started, ['site', 'update', 'dc1', '--adopt', 'a'])).code).toBe(2);
  });

  it('needs --yes without a terminal if it is destructive', async () => {
    const without = await against(started, ['site', 'redeploy', 'dc1', 'a', 'b', '--erase']);
    expect(without.code).toBe(2);
    expect(without.requests).toEqual([]);
    await api?.close();
    const args = ['site', 'redeploy', 'dc1', 'a', 'b', 'a', '--erase', '--yes'];
    const { code, requests } = await against(started, args);
    expect(code).toBe(0);
    expect(requests.at(-1)?.body).toEqual({ kind: 'redeploy_nodes', nodes: ['a', 'b'], erase: true });
  });
});

describe('following a run', () => {
  /** Answers of `status`, one per request; the last stays. `null`: the API is unreachable. */
  const script = (looks: readonly (object | null)[], outcome: string) => {
    let look = 0;
    return ({ at }: StubRequest): StubAnswer => {
      const status = looks[Math.min(look, looks.length - 1)]!;
      if (at === `/runs/${RUN_ID}/status`) {
        look += 1;
        return (
          status &&
          ('code' in status ? problem('worker-unavailable', 503, 'no worker answered for the run') : [200, status])
        );
      }
      if (at === `/runs/${RUN_ID}`)
        return [200, { ...runRecord(look >= looks.length ? { outcome, failed_nodes: 1 } : {}), parameters: {} }];
      return problem('not-found', 404, at);
    };
  };
  const ended = (outcome: string) =>
    runStatus({ phase: 'finished', outcome, current: null, software: null, warnings: [], done: 2 });

  it.each([
    ['n', [], 0],
    ['y', [], 1],
    ['n', ['--yes'], 1],
    // Without a terminal, scripts work as they did.
    [undefined, [], 1],
  ] as const)('is cancelled after the question, answered %s, with %j', async (answer, flags, sent) => {
    const { requests, out } = await against(
      ({ at }) => [at.endsWith('/cancel') ? 202 : 200, { ...runRecord(), parameters: {} }],
      ['run', 'cancel', RUN_ID, ...flags],
      answer === undefined ? {} : { answer },
    );
    expect(requests.filter(({ at }) => at.endsWith('/cancel'))).toHaveLength(sent);
    expect(out.includes('Cancel run 12?')).toBe(answer !== undefined && flags.length === 0);
  });

  it.each([
    ['success', 0],
    ['success_with_failures', 0],
    ['failed', 1],
    ['stopped', 1],
    ['cancelled', 1],
    ['terminated', 1],
  ])('that ends as %s gives exit code %i', async (outcome, code) => {
    const result = await against(script([runStatus(), ended(outcome)], outcome), ['run', 'watch', RUN_ID]);
    expect(result.code).toBe(code);
  });

  it('prints each change once, and its progress in between', async () => {
    const failing = { failed: [{ node: 'a', group: 'g', reason: 'no boot' }] };
    const groups = (state: string) => [{ name: 'g', critical: true, state, reason: 'too few' }];
    const looks = [
      runStatus({ phase: 'load', current: null, software: null, warnings: [] }),
      ...Array.from({ length: 12 }, () => runStatus()),
      null,
      runStatus({ maas_silent_since: '2026-11-22T11:42:07.000Z' }),
      runStatus({ paused: { since: 'x', by: 'ann', reason: 'lunch' } }),
      runStatus({ ...failing }),
      runStatus({
        ...failing,
        phase: 'finished',
        outcome: 'failed',
        done: 2,
        current: null,
        software: null,
        warnings: [],
        groups: groups('failed'),
      }),
    ];
    const { out } = await against(script(looks, 'failed'), ['run', 'watch', RUN_ID]);
    const lines = out.split('\n').map((line) => line.replace(/^\d\d:\d\d:\d\d {2}/, ''));
    expect(lines).toEqual([
      'load',
      'baremetal',
      'prepare group g: 2 nodes',
      '… still running after 11s: 0 of 2 nodes, prepare g: a, b',
      expect.stringMatching(/cannot be reached: .*; the run continues, still trying$/),
      'the API answers again',
      describeSilence('2026-11-22T11:42:07.000Z'),
      'paused by ann: lunch',
      'MAAS answers again',
      'resumed',
      'failed a (g): no boot',
      'group g (critical) failed: too few',
      '2 of 2 nodes done',
      'run ended: failed',
      'deploy_site of dc1: failed, 1 node failed',
      '  see why:  sitewright run report 12',
      '',
    ]);
  });

  it('with --wait prints nothing until the end; for programs it is one object', async () => {
    const looks = [runStatus(), runStatus(), ended('success')];
    const scripted = script(looks, 'success');
    const { code, out, err } = await against(
      (request) => (request.method === 'POST' ? [202, runRecord()] : scripted(request)),
      ['site', 'test', 'dc1', '--wait', '-f', 'json'],
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: RUN_ID, outcome: 'success' });
    expect(err).toBe('');
  });

  it('prints why a run without a failed node ended', async () => {
    const failure = 'the site could not be verified: nothing was released; n1: it is locked in MAAS';
    const refused = script([runStatus(), ended('failed')], 'failed');
    const { out, code } = await against(
      (request) => {
        const answer = refused(request);
        if (request.at !== `/runs/${RUN_ID}` || !Array.isArray(answer)) return answer;
        return [200, { ...(answer[1] as object), failure, failed_nodes: 0 }];
      },
      ['run', 'watch', RUN_ID],
    );
    expect(code).not.toBe(0);
    expect(out).toContain(`deploy_site of dc1: failed\n  reason:   ${failure}\n  see why:  sitewright run report`);
  });

  it('reports that the run answers again after an outage of workers', async () => {
    const looks = [runStatus(), { code: 'worker-unavailable' }, ended('success')];
    const { out } = await against(script(looks, 'success'), ['run', 'watch', RUN_ID]);
    expect(out).toMatch(/no worker answered for the run; still trying\n\S+ {2}the run answers again\n/);
  });

  it('gives up when the API stays unreachable, with exit code 5', async () => {
    const { code, err } = await against(script([null], 'x'), ['run', 'watch', RUN_ID, '--api', 'http://127.0.0.1:9']);
    expect(code).toBe(5);
    expect(err).toMatch(/cannot be reached/);
  });

  it('waits minutes for an unavailable API, and no longer', async () => {
    api = await stubApi(script([null], 'x'));
    const terminal = recordingTerminal({ env: { SITEWRIGHT_API: api.url } });
    const from = terminal.now();
    const code = await runCli(['run', 'watch', RUN_ID], terminal);
    expect(code).toBe(5);
    expect(terminal.now() - from).toBeGreaterThan(5 * 60_000);
    expect(terminal.now() - from).toBeLessThan(6 * 60_000);
  });

  it('is ended by Ctrl-C, which does not end the run', async () => {
    api = await stubApi(script([runStatus()], 'x'));
    const terminal = recordingTerminal({ env: { SITEWRIGHT_API: api.url } });
    terminal.onSleep = () => terminal.interrupt();
    const code = await runCli(['run', 'watch', RUN_ID], terminal);
    expect(code).toBe(130);
    expect(terminal.said.err).toContain(
      'the run continues. Watch it: sitewright run watch 12. Stop it: sitewright run stop 12',
    );
    expect(api.requests.every(({ method }) => method === 'GET')).toBe(true);
  });
});

describe('documents', () => {
  const commit = (more: object) => ({
    valid: true,
    diagnostics: [],
    nodes: 6,
    groups: 3,
    created: true,
    revision: { number: 4, hash: 'ab'.repeat(32) },
    ...more,
  });

  it('are committed with message and author', async () => {
    const args = ['site', 'commit', 'dc1', example, '-m', 'first', '--force'];
    const { code, out, requests } = await against(() => [201, commit({})], args, { env: { USER: 'ann' } });
    expect(code).toBe(0);
    expect(out).toContain('revision 4 of dc1 stored: 6 nodes in 3 groups, abababababab');
    const body = requests[0]?.body as { files: { name: string; text: string }[] };
    expect(body).toMatchObject({ message: 'first', author: 'ann', force: true });
    expect(body.files.map(({ name }) => name.replace(/.*\//, ''))).toEqual([
      'deployment-configuration.yaml',
      'deployment-strategy.yaml',
      'nodes.yaml',
    ]);
  });

  it('that are not valid show every finding with its line, and exit code 2', async () => {
    const file = `${example}/nodes.yaml`;
    const errors = [{ severity: 'error', code: 'x.y', message: 'bad thing', file, line: 1, column: 1, text: '---' }];
    const { code, err } = await against(
      () => problem('invalid', 400, '1 error', { errors }),
      ['site', 'commit', 'dc1', file],
    );
    expect(code).toBe(2);
    expect(err).toContain(`${file}:1:1: error[x.y]: bad thing\n  1 | `);
  });

  it('with errors give exit code 2 in a dry run as well', async () => {
    const answer = commit({ valid: false, revision: null, created: false });
    const { code, out } = await against(() => [200, answer], ['site', 'commit', 'dc1', example, '--dry-run']);
    expect(code).toBe(2);
    expect(out).toContain('nothing was stored (dry run)');
  });

  it.each([
    ['site', 'commit', 'dc1', '/nowhere/at.yaml'],
    ['site', 'check', '/nowhere/at.yaml'],
    ['strategy', 'show', '/nowhere/at.yaml'],
  ])('that do not exist are not found: %s %s', async (...args) => {
    const { code, err } = await cli(args);
    expect(code).toBe(3);
    expect(err).toContain('/nowhere/at.yaml');
  });

  it('are checked offline', async () => {
    const { code, out } = await cli(['site', 'check', example]);
    expect(code).toBe(0);
    expect(out).toMatch(/valid: 6 nodes in 3 groups\n$/);
  });
});

describe('nodes', () => {
  it('are selected by all given criteria', async () => {
    const args = ['node', 'select', 'dc1', '--tag', 'a', '--tag', 'b', '--label', 'k:v', '--rack', 'r', '--name', 'n'];
    const { out, requests } = await against(() => [200, { revision: 1, nodes: ['n', 'm'] }], args);
    expect(out).toBe('n\nm\n');
    expect(requests[0]).toMatchObject({
      at: '/sites/dc1/revisions/latest/select',
      body: { selectors: [{ node_names: ['n'], node_tags: ['a', 'b'], node_labels: ['k:v'], rack_names: ['r'] }] },
    });
  });

  it('are shown in their last known state with a warning', async () => {
    const node = { node: 'a', status: 'Deployed', power: 'on', system_id: 's', zone: 'z', tags: [], seen_at: 'then' };
    const answer = { site: 'dc1', revision: 1, stale: true, reason: 'timeout', nodes: [node] };
    const { out, err } = await against(() => [200, answer], ['node', 'status', 'dc1', '-c', 'node', '-c', 'status']);
    expect(err).toContain('MAAS did not answer (timeout)');
    expect(out).toBe('NODE  STATUS\na     Deployed\n');
  });
});

describe('site follow', () => {
  const site = { name: 'dc1', cluster: null, source: null, created_at: '2026-01-01T00:00:00Z' };

  it('sends the branch and the names of secrets, and prints the next step', async () => {
    const flags = ['--folder', 'dc1', '--credential', 'git/reader', '--webhook-secret', 'git/hook'];
    const args = ['site', 'follow', 'dc1', 'https://git.example.org/sites.git', ...flags];
    const { code, out, requests } = await against(() => [200, site], args);
    expect(requests[0]).toMatchObject({
      method: 'PUT',
      at: '/sites/dc1/source',
      body: {
        url: 'https://git.example.org/sites.git',
        branch: 'main',
        folder: 'dc1',
        credential: 'git/reader',
        webhook_secret: 'git/hook',
      },
    });
    expect(out).toContain('sitewright site update dc1 --fetch');
    expect(code).toBe(0);
  });

  it('is undone by unfollow, and read by --fetch', async () => {
    const undone = await against(() => [200, site], ['site', 'unfollow', 'dc1']);
    expect(undone.requests[0]).toMatchObject({ method: 'DELETE', at: '/sites/dc1/source' });
    await api?.close();
    const { requests } = await against(() => [202, runRecord()], ['site', 'update', 'dc1', '--fetch', '--yes']);
    expect(requests[0]).toMatchObject({ at: '/sites/dc1/runs', body: { kind: 'update_site', fetch: true } });
  });
});

describe('schedule', () => {
  const schedule = {
    name: 'nightly',
    kind: 'test_site',
    site: 'dc1',
    cluster: null,
    input: { site: 'dc1' },
    cron: ['0 6 * * *'],
    timezone: 'UTC',
    overlap: 'skip',
    paused: false,
    note: null,
    next_times: ['2027-01-01T06:00:00.000Z'],
    recent: [],
    started: 0,
    skipped: 0,
    missed: 0,
    created_by: 'eva',
    created_at: '2026-12-31T00:00:00.000Z',
  };
  const create = ['schedule', 'create', 'nightly', '--cron', '0 6 * * *'];

  it.each([
    [
      ['--test', 'dc1', '--revision', '3', '--reason', 'why'],
      'test_site',
      { site: 'dc1', revision: '3', reason: 'why' },
    ],
    [['--update', 'dc1', '--fetch'], 'update_site', { site: 'dc1', fetch: true }],
    [
      ['--env', '1', '-t', 'a', 'b', '--noop', '--label', 'team:x'],
      'execute_graph',
      { cluster: 1, graphs: [{ type: 'a' }, { type: 'b' }], mode: 'noop_run', labels: { team: 'x' } },
    ],
  ])('create %j starts %s with %j', async (flags, kind, input) => {
    const { code, out, requests } = await against(() => [201, schedule], [...create, ...flags]);
    expect(requests[0]).toMatchObject({
      method: 'POST',
      at: '/schedules',
      body: { name: 'nightly', kind, input, cron: ['0 6 * * *'] },
    });
    expect(out).toBe('schedule nightly created\n  next:  2027-01-01T06:00:00.000Z (times of UTC)\n');
    expect(code).toBe(0);
  });

  it.each([
    [create, 'a schedule needs a subject'],
    [['schedule', 'create', 'nightly', '--test', 'dc1'], 'a schedule needs times'],
    [[...create, '--test', 'dc1', '--env', '1'], 'cannot be used with'],
    [[...create, '--test', 'dc1', '--type', 'a'], '--type is not for a site'],
    [[...create, '--test', 'dc1', '--release-removed'], '--release-removed is not for --test'],
    [[...create, '--env', '1', '--revision', '3'], '--revision is not for graphs'],
    [[...create, '--test', 'dc1', '--overlap', 'all'], '--overlap'],
  ])('%j is wrong use', async (args, said) => {
    const { code, err, requests } = await against(() => [201, schedule], args);
    expect({ code, requests: requests.length }).toEqual({ code: 2, requests: 0 });
    expect(err).toContain(said);
  });

  it('list shows the runs that each starts, and the next time', async () => {
    const paused = { ...schedule, name: 'held', site: null, cluster: 4, paused: true };
    const { out } = await against(() => [200, { items: [schedule, paused] }], ['schedule', 'list', '-f', 'csv']);
    expect(out.trim().split(/\r?\n/)).toEqual([
      'name,kind,of,cron,timezone,paused,next',
      expect.stringMatching(/^nightly,test_site,dc1,.*2027-01-01T06:00:00.000Z$/),
      expect.stringMatching(/^held,test_site,cluster 4,.*,$/),
    ]);
  });

  it.each([
    ['pause', 'schedule nightly is paused'],
    ['resume', 'schedule nightly is resumed'],
    ['run', 'schedule nightly is starting a run'],
  ])('%s sends the reason', async (verb, said) => {
    const { out, requests } = await against(() => [200, schedule], ['schedule', verb, 'nightly', '--reason', 'why']);
    expect(requests[0]).toMatchObject({ method: 'POST', at: `/schedules/nightly/${verb}`, body: { reason: 'why' } });
    expect(out).toContain(said);
  });

  it('delete removes it', async () => {
    const { out, requests } = await against(() => [204, ''], ['schedule', 'delete', 'nightly', '--yes']);
    expect(requests[0]).toMatchObject({ method: 'DELETE', at: '/schedules/nightly' });
    expect(out).toBe('schedule nightly deleted\n');
  });
});

it('history list has the words of runs, and asks for them', async () => {
  const row = { name: 'deployment', cluster: 1, dry_run: false, progress: 100, message: null };
  const rows = [
    { ...row, id: 3, graph_type: 'default', status: 'nothing_to_do' },
    { ...row, id: 4, graph_type: 'custom', status: 'not_reached' },
  ];
  const args = ['history', 'list', '--statuses', 'nothing_to_do', 'not_reached', '-c', 'id', '-c', 'status'];
  const { out, requests } = await against(() => [200, rows], args);
  expect(requests.map(({ at }) => at)).toEqual(['/history?statuses=nothing_to_do%2Cnot_reached']);
  expect(out).toMatch(/3 +nothing to do *\n +4 +not reached/);
  expect((await against(() => [200, rows], [...args, '-f', 'csv'])).out).toContain('4,not_reached');
});

it('history show has the words of run status, and asks for them', async () => {
  const row = { node_id: '1', time_start: null, time_end: null };
  const rows = [
    { ...row, task_name: 'first', status: 'failed', message: 'exit code 2' },
    { ...row, task_name: 'second', status: 'blocked', root_cause: { task: 'first', node: '1' } },
    { ...row, task_name: 'third', status: 'not_reached' },
  ];
  const columns = ['-c', 'task_name', '-c', 'node', '-c', 'status', '-c', 'root_cause'];
  const answer = ({ at }: StubRequest): StubAnswer => [
    200,
    at.endsWith('/counts') ? { graphs: [], node_names: { 1: 'web' } } : rows,
  ];
  const args = ['history', 'show', '3', '--statuses', 'failed', 'blocked', 'not_reached', ...columns];
  const { out, requests } = await against(answer, args);
  expect(requests[0]!.at).toBe('/transactions/3/tasks?statuses=failed%2Cblocked%2Cnot_reached');
  expect(out).toMatch(/^first +web +failed +-\nsecond +web +blocked +first@web\nthird +web +not reached +-\n$/m);
  expect((await against(answer, [...args.slice(0, -6), '-c', 'node_id', '-c', 'status', '-f', 'csv'])).out).toContain(
    '1,not_reached',
  );
});

it('cluster create without a release prints how to get one', async () => {
  const { code, err } = await against(() => [200, []], ['cluster', 'create', 'c1', '--release', 'base']);
  expect(code).toBe(3);
  expect(err).toContain("there is no release 'base'");
  expect(err).toContain("Install a release package: 'sitewright package install FILE'");
});
