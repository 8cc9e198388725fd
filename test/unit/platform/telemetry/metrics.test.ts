import { readFileSync } from 'node:fs';
import { CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { RecordTasks } from '../../../../activities/graph-contract.ts';
import { loadSettings } from '../../../../src/platform/settings/load-settings.ts';
import { createLogger } from '../../../../src/platform/telemetry/log.ts';
import {
  ApiMetrics,
  LabelValues,
  type ProcessMetrics,
  WorkerMetrics,
} from '../../../../src/platform/telemetry/metrics.ts';
import type { Store } from '../../../../src/store/index.ts';
import { observeActivities, startMetricsServer } from '../../../../worker/parts/metrics.ts';
import { apiAlone } from '../../../api/api-rig.ts';
import { describeStore } from '../../store/backends.ts';

const noStore = {
  runs: { count: () => Promise.reject(new Error('away')) },
  nodes: { countOnline: () => Promise.reject(new Error('away')) },
  audit: { list: () => Promise.reject(new Error('away')) },
  checkResults: { count: () => Promise.reject(new Error('away')) },
} as unknown as Store;

interface Described {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
}

async function exportedBy(metrics: ProcessMetrics): Promise<Described[]> {
  const all = await metrics.registry.getMetricsAsJSON();
  return all.map(({ name, type }) => ({
    name,
    type: String(type),
    labels: (metrics.registry.getSingleMetric(name) as unknown as { labelNames: string[] }).labelNames,
  }));
}

/** Value of one line of the text, as `name{labels}`. */
async function sampleOf(metrics: ProcessMetrics, line: string): Promise<number | undefined> {
  const found = (await metrics.text()).split('\n').find((one) => one.startsWith(`${line} `));
  return found === undefined ? undefined : Number(found.slice(line.length + 1));
}

describe('docs/how-to/monitor.md', () => {
  const text = readFileSync(new URL('../../../../docs/how-to/monitor.md', import.meta.url), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| (\w+) \| ([^|]*)\| (\w+) \| (.+) \|$/gm)].map(
    ([, name, type, labels, of]) => ({
      name: name!,
      type: type!,
      labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!),
      of: of!,
    }),
  );

  it('lists exactly the exported metrics, with type and labels', async () => {
    const [api, worker] = [await exportedBy(new ApiMetrics('1', noStore)), await exportedBy(new WorkerMetrics('1'))];
    const ours = (list: Described[]) => list.filter(({ name }) => !/^(process|nodejs)_/.test(name));
    const inBoth = (name: string) => [api, worker].every((list) => list.some((one) => one.name === name));
    const exported = new Map(
      [
        ...ours(api).map((one) => ({ ...one, of: 'API' })),
        ...ours(worker).map((one) => ({ ...one, of: 'worker' })),
      ].map((one) => [one.name, inBoth(one.name) ? { ...one, of: 'both' } : one]),
    );
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
    expect([...rows].sort(byName)).toEqual([...exported.values()].sort(byName));
    expect(api.some(({ name }) => name === 'process_cpu_seconds_total')).toBe(true);
    expect(worker.some(({ name }) => name === 'nodejs_eventloop_lag_seconds')).toBe(true);
  });

  it('has names valid for Prometheus', () => {
    for (const { name, type, labels } of rows) {
      expect(name).toMatch(/^sitewright_[a-z]+(_[a-z]+)*$/);
      expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
      if (type === 'histogram') expect(name).toMatch(/_seconds$/);
      for (const label of labels) expect(['site', 'node', 'run', 'task', 'user', 'token', 'path']).not.toContain(label);
    }
  });
});

describeStore('The metrics of the API', (backend) => {
  it('metrics report the current data of the store, and none while it is unreachable', async () => {
    const store = await backend.fresh();
    const metrics = new ApiMetrics('1.2.3', store);
    const run = { site: 'dc1', startedAt: '2026-01-01T00:00:00Z', sequence: 1 };
    for (const id of ['a', 'b'])
      await store.runs.put({ ...run, id, workflowId: id, kind: 'deploy_site', phase: 'deploying' });
    await store.runs.put({
      ...run,
      id: 'c',
      workflowId: 'c',
      kind: 'deploy_site',
      phase: 'finished',
      outcome: 'failed',
    });
    const deploying = 'sitewright_runs{kind="deploy_site",phase="deploying",outcome="none"}';
    const failed = 'sitewright_runs{kind="deploy_site",phase="finished",outcome="failed"}';
    const alarm = {
      actor: 'node/dc1/n',
      action: 'agent.alarm',
      target: 'node/dc1/n',
      details: { kind: 'other-order' },
    };
    await store.audit.append(alarm);
    await store.audit.append({ ...alarm, at: '2026-01-01T00:00:00.000Z' });
    expect(await sampleOf(metrics, 'sitewright_agent_alarms{kind="other-order"}')).toBe(1);
    expect(await sampleOf(metrics, deploying)).toBe(2);
    expect(await sampleOf(metrics, failed)).toBe(1);
    expect(await sampleOf(metrics, 'sitewright_nodes{online="true"}')).toBe(0);
    const node = { status: 'discover', meta: {}, name: 'n', site: null };
    await store.nodes.create({ ...node, mac: '52:54:00:00:00:01', online: true } as never);
    await store.nodes.create({ ...node, mac: '52:54:00:00:00:02', online: false } as never);
    await store.runs.put({
      ...run,
      id: 'a',
      workflowId: 'a',
      kind: 'deploy_site',
      phase: 'finished',
      outcome: 'failed',
      sequence: 2,
    });
    expect(await sampleOf(metrics, deploying)).toBe(1);
    expect(await sampleOf(metrics, failed)).toBe(2);
    expect(await sampleOf(metrics, 'sitewright_nodes{online="true"}')).toBe(1);
    expect(await sampleOf(metrics, 'sitewright_nodes{online="false"}')).toBe(1);
    await store.sites.create({ name: 'dc1' });
    const result = { runId: 'a', text: '', output: null, at: run.startedAt };
    const results = (['well', 'failed', 'failed'] as const).map((verdict, at) => ({
      ...result,
      ...{ verdict, node: `n${at}`, ms: at * 1000 },
    }));
    await store.checkResults.add('dc1', 'disk', results, { checks: ['disk'], nodes: ['n0', 'n1', 'n2'] });
    expect(await sampleOf(metrics, 'sitewright_check_results{check="disk",verdict="failed"}')).toBe(2);
    expect(await sampleOf(metrics, 'sitewright_check_results{check="disk",verdict="well"}')).toBe(1);
    expect(await sampleOf(metrics, 'sitewright_check_duration_seconds{check="disk"}')).toBe(2);
    expect(await sampleOf(metrics, 'sitewright_store_up')).toBe(1);
    await store.close();
    const text = await metrics.text();
    expect(text).toContain('sitewright_store_up 0');
    expect(text).not.toContain('deploying');
  });

  it('metrics time the calls to the store', async () => {
    let metrics: ApiMetrics | undefined;
    const store = await backend.open(await backend.newUrl(), { onCall: (call) => metrics?.storeCall(call) });
    metrics = new ApiMetrics('1', store);
    await store.sites.create({ name: 'dc1' });
    await store.sites.list();
    await store.sites.get('nowhere').catch(() => undefined);
    const count = (kind: string, result: string) =>
      sampleOf(metrics!, `sitewright_store_call_duration_seconds_count{kind="${kind}",result="${result}"}`);
    expect(await count('write', 'ok')).toBeGreaterThanOrEqual(1);
    expect(await count('read', 'ok')).toBeGreaterThanOrEqual(1);
    expect(await count('read', 'error')).toBe(1);
  });
});

describe('the page of metrics', () => {
  it('is at /metrics of the API, with each request by its route', async () => {
    const metrics = new ApiMetrics('1.2.3', noStore);
    const rig = await apiAlone({ metrics });
    for (const path of ['/api/v1/sites/one', '/api/v1/sites/two', '/no/such/thing', '/no/such/thing/either'])
      await rig.ask('GET', path);
    const { status, headers, body } = await rig.ask('GET', '/metrics');
    expect(status).toBe(200);
    expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
    const count = 'sitewright_http_request_duration_seconds_count';
    expect(body).toContain(`${count}{method="GET",route="/api/v1/sites/:site",status="4xx"} 2`);
    expect(body).toContain(`${count}{method="GET",route="unknown",status="4xx"} 2`);
    expect(body).toContain('sitewright_build_info{version="1.2.3"} 1');
    await rig.close();
  });

  it('is on the metrics port of a worker that has one, and nothing else is served there', async () => {
    const loaded = loadSettings({ env: { SITEWRIGHT_TELEMETRY_METRICS_PORT: '0' }, cwd: '/nonexistent' });
    if (!loaded.ok) throw new Error('settings');
    const log = createLogger({ level: 'silent', format: 'json' }, 'test');
    const server = await startMetricsServer(loaded.settings, new WorkerMetrics('9'), log);
    const text = await (await fetch(server!.url)).text();
    expect(text).toContain('sitewright_build_info{version="9"} 1');
    expect((await fetch(server!.url.replace('/metrics', '/'))).status).toBe(404);
    expect((await fetch(server!.url, { method: 'POST' })).status).toBe(404);
    const { port } = new URL(server!.url);
    const same = { ...loaded.settings, telemetry: { ...loaded.settings.telemetry, metrics_port: Number(port) } };
    await expect(startMetricsServer(same, new WorkerMetrics('9'), log)).rejects.toThrow(/telemetry\.metrics_port/);
    await server!.stop();
    const off = { ...loaded.settings, telemetry: { metrics_host: '127.0.0.1' } };
    expect(await startMetricsServer(off, new WorkerMetrics('9'), log)).toBeUndefined();
  });
});

describe('a worker', () => {
  const scheduled = Date.now() - 700;
  const lines: string[] = [];
  const log = createLogger({ level: 'info', format: 'json' }, 'worker', (line) => lines.push(line));
  const reads: string[] = [];
  const store = {
    transactions: { get: async () => ({ planHash: 'h' }) },
    plans: {
      getOrder: async (_hash: string, node: string, task: string) => {
        reads.push(`${task}@${node}`);
        if (task === 'lost') throw new Error('not there');
        const limits = { timeout_sec: 60, retries: 0, interval_sec: 0, deadline_sec: 60 };
        return { site: 'dc1', uid: node, type: 'puppet', parameters: {}, ...limits };
      },
    },
  } as unknown as Store;

  const run = (
    metrics: WorkerMetrics,
    activityType: string,
    attempt: number,
    input: unknown,
    work: () => Promise<unknown>,
  ) => {
    const info = { activityType, attempt, currentAttemptScheduledTimestampMs: scheduled };
    const { inbound } = observeActivities(metrics, log, store)({ info } as never);
    return inbound!.execute!({ args: [input], headers: {} }, work);
  };

  it('measures activities, and logs the context of failed ones', async () => {
    const metrics = new WorkerMetrics('1');
    expect(await run(metrics, 'open_run', 1, {}, async () => 7)).toBe(7);
    const input = { site: 'dc1', run_id: 'r1', node: 'n1', secret: 'x' };
    await expect(run(metrics, 'deploy_node', 3, input, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    const cancelled = () => Promise.reject(new CancelledFailure('stop'));
    await expect(run(metrics, 'deploy_node', 1, input, cancelled)).rejects.toThrow('stop');
    const count = 'sitewright_activity_duration_seconds_count';
    expect(await sampleOf(metrics, `${count}{activity="open_run",result="completed"}`)).toBe(1);
    expect(await sampleOf(metrics, `${count}{activity="deploy_node",result="failed"}`)).toBe(1);
    expect(await sampleOf(metrics, `${count}{activity="deploy_node",result="cancelled"}`)).toBe(1);
    expect(await sampleOf(metrics, 'sitewright_activity_retries_total{activity="deploy_node"}')).toBe(1);
    const lag = 'sitewright_activity_schedule_to_start_seconds';
    expect(await sampleOf(metrics, `${lag}_sum{activity="open_run"}`)).toBeGreaterThanOrEqual(0.7);
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ site: 'dc1', run: 'r1', node: 'n1', activity: 'deploy_node', attempt: 3, level: 40 }),
    ]);
  });

  it('measures tasks by type and outcome, and asks for each type once', async () => {
    const metrics = new WorkerMetrics('1');
    const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
    const row = (task: string, node: string, seconds: number, outcome: string) => ({
      ...{ task, node, attempt: 1, status: outcome === 'success' ? 'success' : 'failed' },
      end: { outcome, started_at: at(0), ended_at: at(seconds) },
    });
    const rows = [
      row('netconfig', '1', 3, 'success'),
      row('netconfig', '2', 4, 'success'),
      row('netconfig', '3', 5, 'failed'),
      row('lost', '1', 1, 'success'),
      { task: 'netconfig', node: '4', attempt: 1, status: 'running', started_at: at(0) },
      { task: 'never', node: '4', attempt: 1, status: 'blocked' },
    ];
    await run(metrics, 'record_tasks', 1, { graph: 2, rows } as unknown as RecordTasks, async () => undefined);
    const tasks = 'sitewright_task_duration_seconds';
    expect(await sampleOf(metrics, `${tasks}_count{type="puppet",outcome="success"}`)).toBe(2);
    expect(await sampleOf(metrics, `${tasks}_sum{type="puppet",outcome="success"}`)).toBe(7);
    expect(await sampleOf(metrics, `${tasks}_count{type="puppet",outcome="failed"}`)).toBe(1);
    expect(await sampleOf(metrics, `${tasks}_count{type="unknown",outcome="success"}`)).toBe(1);
    expect(reads).toEqual(['netconfig@1', 'lost@1']);
    // Work that was not recorded was not done as far as anybody knows.
    const away = () => Promise.reject(new Error('away'));
    await expect(run(metrics, 'record_tasks', 1, { graph: 2, rows }, away)).rejects.toThrow('away');
    expect(await sampleOf(metrics, `${tasks}_count{type="puppet",outcome="success"}`)).toBe(2);
  });

  it('measures calls to MAAS by request and result', async () => {
    const metrics = new WorkerMetrics('1');
    metrics.maasAttempt({ request: 'POST machines/abc/?op=deploy', ms: 1500, outcome: 200, again: false });
    metrics.maasAttempt({
      request: 'GET machines/?hostname=x%26op%3Devil',
      ms: 10,
      outcome: 'ECONNRESET',
      again: false,
    });
    metrics.maasAttempt({ request: 'GET machines/?hostname=x%26op%3Devil', ms: 10, outcome: 503, again: true });
    metrics.maasAttempt({ request: 'GET version/', ms: 60_000, outcome: 'TIMEOUT', again: false });
    const name = 'sitewright_maas_call_duration_seconds';
    expect(await sampleOf(metrics, `${name}_sum{method="POST",operation="deploy",result="2xx"}`)).toBe(1.5);
    expect(await sampleOf(metrics, `${name}_count{method="GET",operation="none",result="no_answer"}`)).toBe(1);
    expect(await sampleOf(metrics, `${name}_count{method="GET",operation="none",result="5xx"}`)).toBe(1);
    expect(await sampleOf(metrics, `${name}_count{method="GET",operation="none",result="timeout"}`)).toBe(1);
    expect(await sampleOf(metrics, 'sitewright_maas_retries_total')).toBe(1);
    expect(await metrics.text()).not.toContain('evil');
  });
});

it('no label grows without end', () => {
  const values = new LabelValues(3);
  expect(['a', 'b', 'a', 'c', 'd', 'a', 'e', 'c'].map((value) => values.of(value))).toEqual([
    'a',
    'b',
    'a',
    'c',
    'other',
    'a',
    'other',
    'c',
  ]);
  expect(new LabelValues().of('x'.repeat(101))).toBe('other');
});
