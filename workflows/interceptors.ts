import { defaultPayloadConverter, type Headers, type Payload } from '@temporalio/common';
import {
  proxySinks,
  type Sink,
  type Sinks,
  type WorkflowInterceptors,
  type WorkflowInterceptorsFactory,
  workflowInfo,
} from '@temporalio/workflow';
import { given } from '../src/core/data/given.ts';
import { refuseQueriesAhead } from './loaded-ahead.ts';
import { TRACE_HEADER } from './protocol.ts';
import { showStatus } from './run-status.ts';

/** All code between the SDK and our workflows. Each bundle of them is made with this module. */
export const interceptors: WorkflowInterceptorsFactory = () => ({
  ...passTrace(),
  internals: [refuseQueriesAhead(), showStatus()],
});

/** A workflow as a span of the trace that started it. */
interface WorkflowSpan {
  /** `traceparent` of the caller: a request to the API, or the parent workflow. */
  readonly parent: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly startMs: number;
  readonly error?: string;
}

export interface TraceSinks extends Sinks {
  readonly trace: Sink & { ended(span: WorkflowSpan): void };
}

const { trace } = proxySinks<TraceSinks>();

/** Unique per run without using the workflow's random numbers, which recorded histories depend on. */
const ownSpanId = (): string => workflowInfo().runId.replaceAll('-', '').slice(-16);

/**
 * Passes the trace of a workflow's caller to its activities and children (W3C Trace Context). Runs that no traced
 * process started carry no header: a header costs a hundred bytes in every event.
 */
export function passTrace(): WorkflowInterceptors {
  let own: Payload | undefined;
  const pass = <Input extends { readonly headers: Headers }>(input: Input): Input =>
    own === undefined ? input : { ...input, headers: { ...input.headers, [TRACE_HEADER]: own } };
  return {
    inbound: [
      {
        // Not `async` and no `await` without a trace: both could change the order of commands on replay.
        execute(input, next) {
          const header = input.headers[TRACE_HEADER];
          const parent = header === undefined ? undefined : defaultPayloadConverter.fromPayload<unknown>(header);
          const [version, traceId, , flags] = typeof parent === 'string' ? parent.split('-') : [];
          if (typeof parent !== 'string' || flags === undefined) return next(input);
          const spanId = ownSpanId();
          const startMs = workflowInfo().startTime.getTime();
          own = defaultPayloadConverter.toPayload(`${version}-${traceId}-${spanId}-${flags}`);
          const end = (error?: string) => trace.ended({ parent, spanId, startMs, ...given({ error }) });
          return next(input).then(
            (result) => {
              end();
              return result;
            },
            (error: unknown) => {
              end(error instanceof Error && error.name !== 'ContinueAsNew' ? error.message : undefined);
              throw error;
            },
          );
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(pass(input)),
        startChildWorkflowExecution: (input, next) => next(pass(input)),
        continueAsNew: (input, next) => next(pass(input)),
      },
    ],
  };
}
