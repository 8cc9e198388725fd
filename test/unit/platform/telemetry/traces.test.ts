import { afterEach, expect, it } from 'vitest';
import { WorkerMetrics } from '../../../../src/platform/telemetry/metrics.js';
import { Traces } from '../../../../src/platform/telemetry/traces.js';
import { observeMaas } from '../../../../worker/metrics.js';
import { apiAlone } from '../../../api/api-rig.js';
import { observedActivity, traceCollector } from '../../../rig/trace-collector.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function collector() {
  const opened = await traceCollector();
  closing.push(opened.close);
  return opened;
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

it('makes each request a span of its caller’s trace', async () => {
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

it('makes each activity a span, and calls to MAAS spans within', async () => {
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

it('reports once that the collector is unavailable, and continues', async () => {
  const troubles: string[] = [];
  const traces = tracesTo('http://127.0.0.1:1', troubles);
  for (let n = 0; n < 3; n++) {
    traces.end(traces.begin('x', 'internal'));
    await traces.flush();
  }
  expect(troubles).toEqual([expect.stringContaining('http://127.0.0.1:1')]);
});
