import type { Context } from '@temporalio/activity';
import { type ClientInterceptors, defaultPayloadConverter } from '@temporalio/client';
import type { Headers } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import { given } from '../../src/core/data/given.ts';
import { programVersion } from '../../src/platform/installation.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import { Traces } from '../../src/platform/telemetry/traces.ts';
import { TRACE_HEADER } from '../../workflows/protocol.ts';
import type { TraceSinks } from '../../workflows/run/interceptors.ts';

/** Traces of a process; undefined if not configured. */
export function tracesOf({ telemetry }: Settings, service: string, log: Logger): Traces | undefined {
  const { otlp_endpoint: endpoint } = telemetry;
  if (endpoint === undefined) return undefined;
  return new Traces({ endpoint, service, version: programVersion(), onOutage: (message) => log.warn(message) });
}

/** Starts workflows within the current span: their activities continue its trace. */
export function traceStarts(traces: Traces | undefined): { readonly interceptors?: ClientInterceptors } {
  if (traces === undefined) return {};
  const traced = (headers: Headers): Headers => {
    const { traceparent } = traces;
    if (traceparent === undefined) return headers;
    return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload(traceparent) };
  };
  return {
    interceptors: {
      workflow: [
        {
          startWithDetails: (input, next) => next({ ...input, headers: traced(input.headers) }),
          startUpdateWithStart: (input, next) =>
            next({ ...input, workflowStartHeaders: traced(input.workflowStartHeaders) }),
          signalWithStart: (input, next) => next({ ...input, headers: traced(input.headers) }),
        },
      ],
    },
  };
}

/** Makes each attempt of an activity a span of the trace that started its workflow. */
export function traceActivities(traces: Traces | undefined): ActivityInterceptorsFactory[] {
  if (traces === undefined) return [];
  return [
    ({ info }: Context) => ({
      inbound: {
        async execute(input, next) {
          const { workflowId, runId } = info.workflowExecution ?? {};
          const header = input.headers[TRACE_HEADER];
          const parent = header === undefined ? undefined : defaultPayloadConverter.fromPayload<unknown>(header);
          const started = traces.begin(info.activityType, 'internal', typeof parent === 'string' ? parent : undefined);
          // A run that was started without a trace gets one of its own, named by its id.
          const span =
            header === undefined && runId !== undefined ? { ...started, traceId: traceIdOf(runId) } : started;
          const { site, run, task, node } = subjectOfActivity(input.args[0]);
          const attributes = {
            'temporal.workflow_id': workflowId,
            'temporal.run_id': runId,
            'temporal.attempt': info.attempt,
            'sitewright.site': site,
            'sitewright.run': run,
            'sitewright.task': task,
            'sitewright.node': node,
          };
          try {
            const result = await traces.inside(span, () => next(input));
            traces.end(span, attributes);
            return result;
          } catch (error) {
            traces.end(span, attributes, { error: error instanceof Error ? error.message : String(error) });
            throw error;
          }
        },
      },
    }),
  ];
}

/** Receives the spans of workflows from the workflow code. */
export const traceSinks = (traces: Traces | undefined): InjectedSinks<TraceSinks> => ({
  trace: {
    ended: {
      fn({ workflowId, runId, workflowType }, { parent, spanId, startMs, error }) {
        if (traces === undefined) return;
        const attributes = { 'temporal.workflow_id': workflowId, 'temporal.run_id': runId };
        const span = { ...traces.begin(workflowType, 'internal', parent), spanId, startMs };
        traces.end(span, attributes, given({ error }));
      },
      callDuringReplay: false,
    },
  },
});

/** Temporal's run ids are UUIDs: as many bits as the id of a trace. */
const traceIdOf = (runId: string): string => runId.replaceAll('-', '');

/** The subject of an activity, from its input, for log lines and traces. */
export function subjectOfActivity(input: unknown): Record<string, string> {
  if (typeof input !== 'object' || input === null) return {};
  const fields = input as Record<string, unknown>;
  const text = (...keys: string[]): string | undefined => {
    const value = keys.map((key) => fields[key]).find((one) => typeof one === 'string' || typeof one === 'number');
    return value === undefined ? undefined : String(value);
  };
  const known = {
    site: text('site'),
    run: text('run_id', 'run', 'transaction'),
    task: text('task'),
    node: text('node'),
  };
  return Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as Record<string, string>;
}
