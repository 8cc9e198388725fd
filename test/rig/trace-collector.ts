import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../src/platform/free-port.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import type { WorkerMetrics } from '../../src/platform/telemetry/metrics.ts';
import type { Traces } from '../../src/platform/telemetry/traces.ts';
import { cacheFolder } from '../../src/platform/temporal/find-server.ts';
import type { Store } from '../../src/store/index.ts';
import { observeActivities } from '../../worker/parts/metrics.ts';
import { traceActivities } from '../../worker/parts/traces.ts';

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

/** A collector of traces that keeps everything it receives. */
export interface TraceCollector {
  readonly endpoint: string;
  readonly received: readonly Received[];
  /** All spans, each with the name of the service that sent it. */
  spans(): readonly (Span & { readonly service: string })[];
  close(): Promise<void>;
}

/**
 * Starts it.
 *
 * @param isReal processes send to a real OpenTelemetry Collector, where one is built (`bash .ci/otel-collector`), which passes on
 *   the spans that it understood; with `SITEWRIGHT_OTEL_COLLECTOR=required` there must be one
 */
export async function traceCollector(isReal = false): Promise<TraceCollector> {
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
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const real = isReal ? await realCollector(own) : undefined;
  return {
    endpoint: real?.endpoint ?? own,
    received,
    spans: () =>
      received.flatMap(({ body }) =>
        body.resourceSpans.flatMap(({ resource, scopeSpans }) => {
          const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
          return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
        }),
      ),
    async close() {
      await real?.stop();
      await new Promise<void>((closed) => server.close(() => closed()).closeAllConnections());
    },
  };
}

const VERSION = '0.162.0';

/** OpenTelemetry's own collector in front of a receiver of OTLP. */
async function realCollector(
  receiver: string,
): Promise<{ readonly endpoint: string; stop(): Promise<void> } | undefined> {
  const program = join(cacheFolder(), `otel-collector-${VERSION}`, 'otelcol');
  if (!existsSync(program)) {
    if (process.env.SITEWRIGHT_OTEL_COLLECTOR === 'required') throw new Error(`there is no ${program}`);
    return undefined;
  }
  const endpoint = `127.0.0.1:${await freePort()}`;
  const config = {
    receivers: { otlp: { protocols: { http: { endpoint } } } },
    exporters: { otlp_http: { endpoint: receiver, encoding: 'json', compression: 'none' } },
    service: {
      telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['otlp_http'] } },
    },
  };
  const child = spawn(program, [`--config=yaml:${JSON.stringify(config)}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text));
  const ended = once(child, 'exit');
  const answers = () =>
    fetch(`http://${endpoint}/v1/traces`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
      .then(({ ok }) => ok)
      .catch(() => false);
  const limit = Date.now() + 90_000;
  while (!(await answers())) {
    if (child.exitCode !== null || Date.now() > limit) throw new Error(`the collector does not start: ${said}`);
    await new Promise((again) => setTimeout(again, 100));
  }
  return {
    endpoint: `http://${endpoint}`,
    async stop() {
      child.kill();
      await ended;
    },
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
