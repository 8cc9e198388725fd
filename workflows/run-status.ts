import {
  proxySinks,
  type Sink,
  type Sinks,
  type WorkflowInternalsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
import type { ShownRun } from '../activities/contract.ts';
import type { ShownPlan } from '../src/core/contracts/site-run.ts';
import { isHeld } from '../src/core/run/status.ts';

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
      const { shown, requests, report, ...view } = look();
      const text = JSON.stringify(shown.status);
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
