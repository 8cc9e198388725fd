import {
  proxySinks,
  type Sink,
  type Sinks,
  type WorkflowInternalsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
import type { ShownRun } from '../activities/contract.ts';
import { isHeld } from '../src/core/run/status.ts';

export interface RunStatusSinks extends Sinks {
  readonly runs: Sink & {
    /** @param urgent someone waits for it: an operator has requested something, or is asked for something */
    show(run: ShownRun, urgent: boolean): void;
  };
}

const { runs } = proxySinks<RunStatusSinks>();

/** The run of this workflow, once it is opened. */
let shown: (() => ShownRun & { readonly requests: number }) | null = null;

/** Shows the run from now on, whenever something has happened. */
export function showRun(look: NonNullable<typeof shown>): void {
  shown = look;
}

/**
 * Gives the status of a run to its worker, which writes it to the store. A sink leaves no trace in the history, and a status that
 * a worker could not write is followed by another one: lists cost a run neither events nor time.
 */
export function showStatus(): WorkflowInternalsInterceptor {
  let last = '';
  let lastNews = '';
  return {
    concludeActivation(input, next) {
      const output = next(input);
      if (shown === null || workflowInfo().unsafe.isReplayingHistoryEvents) return output;
      const { requests, ...run } = shown();
      const text = JSON.stringify(run.status);
      if (text === last) return output;
      last = text;
      const { phase, paused, stopping, awaiting_approval, outcome } = run.status;
      const news = JSON.stringify([requests, phase, paused, stopping, awaiting_approval, outcome, isHeld(run.status)]);
      runs.show(run, news !== lastNews);
      lastNews = news;
      return output;
    },
  };
}
