import { defaultPayloadConverter, type Headers, type Payload } from '@temporalio/common';
import {
  proxySinks,
  type Sink,
  type Sinks,
  type WorkflowInterceptors,
  type WorkflowInterceptorsFactory,
  type WorkflowInternalsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
import type { ShownRun } from '../../activities/contract.ts';
import type { ShownPlan } from '../../src/core/contracts/site-run.ts';
import { given } from '../../src/core/data/given.ts';
import { isHeld } from '../../src/core/run/status.ts';
import { LOADED_AHEAD, TRACE_HEADER } from '../protocol.ts';
import { failure } from './failures.ts';

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

/** The id that the SDK gives a query that arrives without a workflow task. */
const QUERY_ALONE = 'legacy_query';

/**
 * Refuses a query for which the worker may have executed a part of the run ahead of its workflow task; the worker then drops the
 * run and reads it again.
 *
 * A query waits for a worker like a workflow task. If a task ends or a signal arrives meanwhile, the SDK's core executes them for
 * the query, and reports the resulting commands of the run with the next workflow task. Decisions by time then differ from what a replay
 * decides at the time of the history, so that no worker could replay the run again. Seen with SDK 1.24 where more runs are looked
 * at than a worker keeps, and when a worker starts or stops. Core executes them at the time of
 * - the workflow task before, if the next one has not started;
 * - the next one, if that has started. It may be lost, with the worker that it was given to, and tried again later. The same is seen
 *   where a worker has read a run for a workflow task of its own: the first query after it is refused for nothing.
 *
 * The query fails once: asked again, it waits for the workflow task. Nothing but a query is refused, unless the run is still
 * there afterwards: a workflow task refused by mistake would be refused for ever.
 */
export function refuseQueriesAhead(): WorkflowInternalsInterceptor {
  let last: string | undefined;
  let wasReplaying = false;
  let isAhead = false;
  let isRefused = false;
  return {
    activate(input, next) {
      const { jobs, timestamp, isReplaying } = input.activation;
      if (jobs?.some(({ queryWorkflow }) => queryWorkflow)) {
        isRefused ||= isAhead && jobs.some(({ queryWorkflow }) => queryWorkflow?.queryId === QUERY_ALONE);
      } else {
        const now = `${timestamp?.seconds}.${timestamp?.nanos}`;
        isAhead = !isReplaying && (wasReplaying || now === last);
        wasReplaying = isReplaying === true;
        last = now;
      }
      if (isRefused) throw failure('LoadedAhead', LOADED_AHEAD);
      next(input);
    },
  };
}

export interface RunStatusSinks extends Sinks {
  readonly runs: Sink & {
    /** @param urgent someone waits for it: an operator has requested something, or is asked for something */
    show(run: ShownRun, urgent: boolean): void;
  };
}

const { runs } = proxySinks<RunStatusSinks>();

/** The run of this workflow as it stands. */
export interface OpenRunView {
  readonly shown: Omit<ShownRun, 'report' | 'plan'>;
  /** Requests of operators so far. */
  readonly requests: number;
  /** Grows when something has happened that the report tells, even if the status does not. */
  readonly changes: number;
  readonly report: () => ShownRun['report'];
  /** Null: it has none. */
  readonly plan: () => ShownPlan | null;
}

/** Once it is opened. */
let look: (() => OpenRunView) | null = null;

/** Shows the run from now on, whenever something has happened. */
export function showRun(view: NonNullable<typeof look>): void {
  look = view;
}

/**
 * Gives the status of a run to its worker, which writes it to the store. A sink leaves no trace in the history, and a status that
 * a worker could not write is followed by another one: lists cost a run neither events nor time.
 */
export function showStatus(): WorkflowInternalsInterceptor {
  let last = '';
  let lastNews = '';
  let isPlanShown = false;
  return {
    concludeActivation(input, next) {
      const output = next(input);
      if (look === null || workflowInfo().unsafe.isReplayingHistoryEvents) return output;
      const { shown, requests, changes, report, ...view } = look();
      const text = JSON.stringify([changes, shown.status]);
      if (text === last) return output;
      last = text;
      const { phase, paused, stopping, awaiting_approval, outcome } = shown.status;
      const news = JSON.stringify([
        requests,
        phase,
        paused,
        stopping,
        awaiting_approval,
        outcome,
        isHeld(shown.status),
      ]);
      const plan = isPlanShown ? null : view.plan();
      isPlanShown ||= plan !== null;
      runs.show({ ...shown, ...(plan && { plan }), report: report() }, news !== lastNews);
      lastNews = news;
      return output;
    },
  };
}
