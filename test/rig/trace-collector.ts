import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '../../src/platform/telemetry/log.js';
import type { WorkerMetrics } from '../../src/platform/telemetry/metrics.js';
import type { Traces } from '../../src/platform/telemetry/traces.js';
import type { Store } from '../../src/store/index.js';
import { observeActivities } from '../../worker/metrics.js';
import { traceActivities } from '../../worker/traces.js';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, string> }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Resource {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface Received {
  readonly path: string;
  readonly body: {
    readonly resourceSpans: readonly {
      readonly resource: Resource;
      readonly scopeSpans: readonly { spans: Span[] }[];
    }[];
  };
}

/** A collector of traces that keeps what it is sent. */
export interface TraceCollector {
  readonly endpoint: string;
  readonly received: readonly Received[];
  /** All spans, each with the name of the service that sent it. */
  spans(): readonly (Span & { readonly service: string })[];
  close(): Promise<void>;
}

export async function traceCollector(): Promise<TraceCollector> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      received.push({ path: request.url!, body: JSON.parse(text) });
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    spans: () =>
      received.flatMap(({ body }) =>
        body.resourceSpans.flatMap(({ resource, scopeSpans }) => {
          const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
          return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
        }),
      ),
    close: () => new Promise((closed) => server.close(() => closed()).closeAllConnections()),
  };
}

/** Runs `work` as a second try of `deploy_node` of a site, seen by the worker's metrics and traces. */
export function observedActivity(input: object, work: () => Promise<unknown>, metrics: WorkerMetrics, traces: Traces) {
  const log = createLogger({ level: 'silent', format: 'json' }, 'test');
  const info = {
    ...{ activityType: 'deploy_node', attempt: 2, currentAttemptScheduledTimestampMs: Date.now() },
    workflowExecution: { workflowId: 'deploy_site:dc1', runId: 'r' },
  };
  const measured = observeActivities(metrics, log, {} as Store)({ info } as never).inbound!;
  const traced = traceActivities(traces)[0]!({ info } as never).inbound!;
  return measured.execute!({ args: [input], headers: {} }, (given) => traced.execute!(given, work));
}
