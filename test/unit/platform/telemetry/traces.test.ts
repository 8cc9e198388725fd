import { defaultPayloadConverter } from '@temporalio/common';
import { afterEach, expect, it } from 'vitest';
import { WorkerMetrics } from '../../../../src/platform/telemetry/metrics.ts';
import { Traces } from '../../../../src/platform/telemetry/traces.ts';
import { observeMaas } from '../../../../worker/parts/metrics.ts';
import { traceActivities } from '../../../../worker/parts/traces.ts';
import { apiAlone } from '../../../api/api-rig.ts';
import { observedActivity, type TraceCollector, traceCollector } from '../../../rig/trace-collector.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function collector(): Promise<TraceCollector> {
  const started = await traceCollector();
  closing.push(started.close);
  return started;
}

function tracesTo(endpoint: string, troubles: string[] = []): Traces {
  const traces = new Traces({
    endpoint,
    service: 'test',
    version: '1',
    onOutage: (message) => troubles.push(message),
  });
  closing.unshift(() => traces.stop());
  return traces;
}

it('each request is a span of its caller’s trace', async () => {
  const { endpoint, received, spans } = await collector();
  const traces = tracesTo(`${endpoint}/`);
  const rig = await apiAlone({ traces });
  const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  await rig.ask('GET', '/api/v1/sites/secret-name', undefined, { traceparent: `00-${trace}-${parent}-01` });
  await rig.ask('GET', '/nothing', undefined, { traceparent: `00-${'0'.repeat(32)}-${parent}-01` });
  await traces.flush();
  await rig.close();
  expect(received[0]).toMatchObject({
    path: '/v1/traces',
    body: {
      resourceSpans: [
        { resource: { attributes: [{ key: 'service.name', value: { stringValue: 'test' } }, expect.anything()] } },
      ],
    },
  });
  const [asked, lost] = spans();
  expect(asked).toMatchObject({ traceId: trace, parentSpanId: parent, name: 'GET /api/v1/sites/:site', kind: 2 });
  expect(asked!.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '404' } });
  expect(asked!.startTimeUnixNano).toMatch(/^\d{19}$/);
  expect(BigInt(asked!.endTimeUnixNano) >= BigInt(asked!.startTimeUnixNano)).toBe(true);
  expect(lost!.traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
  expect(lost).not.toHaveProperty('parentSpanId');
  expect(JSON.stringify(spans())).not.toContain('secret-name');
});

it('each activity is a span, and calls to MAAS are spans within', async () => {
  const { endpoint, spans } = await collector();
  const traces = tracesTo(endpoint);
  const metrics = new WorkerMetrics('1');
  const call = observeMaas(metrics, traces);
  const work = async () => {
    await Promise.resolve();
    call({ request: 'POST machines/abc/?op=deploy', ms: 20, outcome: 200, again: false });
    throw new Error('no power');
  };
  await expect(observedActivity({ site: 'dc1', node: 'n1' }, work, metrics, traces)).rejects.toThrow();
  await traces.flush();
  const [inner, outer] = spans();
  expect(inner).toMatchObject({ name: 'MAAS POST machines/abc/', kind: 3, status: {} });
  expect(outer).toMatchObject({ name: 'deploy_node', kind: 1, status: { code: 2, message: 'no power' } });
  expect([inner!.traceId, inner!.parentSpanId]).toEqual([outer!.traceId, outer!.spanId]);
  expect(outer!.attributes).toContainEqual({ key: 'sitewright.node', value: { stringValue: 'n1' } });
  expect(outer!.attributes).toContainEqual({ key: 'temporal.workflow_id', value: { stringValue: 'deploy_site:dc1' } });
});

it('an unavailable collector is reported once, and work continues', async () => {
  const troubles: string[] = [];
  const traces = tracesTo('http://127.0.0.1:1', troubles);
  for (let n = 0; n < 3; n++) {
    traces.end(traces.begin('x', 'internal'));
    await traces.flush();
  }
  expect(troubles).toEqual([expect.stringContaining('http://127.0.0.1:1')]);
});

it('the trace of a header is continued, and a run without one gets a trace named by its run id', async () => {
  const { endpoint, spans } = await collector();
  const traces = tracesTo(endpoint);
  const info = {
    activityType: 'deploy_node',
    attempt: 1,
    workflowExecution: { runId: '0af76519-16cd-43dd-8448-eb211c80319c' },
  };
  const { inbound } = traceActivities(traces)[0]!({ info } as never);
  const header = defaultPayloadConverter.toPayload('00-11111111111111111111111111111111-2222222222222222-01');
  await inbound!.execute!({ args: [], headers: { traceparent: header } }, async () => 'done');
  await inbound!.execute!({ args: [], headers: {} }, async () => 'done');
  await traces.flush();
  const [within, alone] = spans();
  expect(within).toMatchObject({ traceId: '1'.repeat(32), parentSpanId: '2'.repeat(16) });
  expect(alone).toMatchObject({ traceId: '0af7651916cd43dd8448eb211c80319c' });
  expect(alone).not.toHaveProperty('parentSpanId');
});
