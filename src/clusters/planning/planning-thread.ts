import { given } from '../../core/data/given.ts';
import { answerOf, Thread } from '../../platform/threads/thread.ts';
import type { OpenPlanner, PlanForm, PlanningAnswer, PlanningWork, ReceivePrepared } from './planning-work.ts';
import type { PreparedPiece } from './prepared-run.ts';

export interface PlanningData {
  /** Path of the module of helper functions. */
  readonly helpers: string | undefined;
}

export interface PlanningRequest {
  readonly form: PlanForm;
  readonly work: PlanningWork;
}

/** Ten times the time for 1,000 nodes: budgets of the expressions end a hostile plan long before. */
const MAX_MEGABYTES = 2_048;
/** Of processor time. */
const WORK_MS = 300_000;

/**
 * Makes plans in order in a thread, so that heartbeats and requests of this process continue. An abort ends the thread,
 * because planning does not check for it, and the next plan starts another.
 */
export function openPlanningThread(helpers?: string): OpenPlanner {
  const thread = new Thread<PlanningRequest, PlanningAnswer<PlanForm>, PreparedPiece>({
    program: new URL('./planning-thread-main.ts', import.meta.url),
    makes: 'the plan',
    data: { helpers } satisfies PlanningData,
    maxMegabytes: MAX_MEGABYTES,
  });
  return {
    plan<Form extends PlanForm>(form: Form, work: PlanningWork, signal?: AbortSignal, receive?: ReceivePrepared) {
      const asked = thread.ask({ form, work }, { workMs: WORK_MS, ...given({ signal, receive }) });
      // A message has no type parameter: the answer has the requested form.
      return asked.then((answer) => answerOf(answer) as PlanningAnswer<Form>);
    },
    close: () => thread.close(),
  };
}
