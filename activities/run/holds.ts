import { ApplicationFailure } from '@temporalio/activity';

/** Type of the failure of a try that waits for a resume. */
export const RUN_HELD = 'RunHeld';

/** Type of the failure of a step that had not changed anything when its run was stopped. */
export const RUN_STOPPED = 'RunStopped';

/** How soon a resume is noticed. */
const LOOK_AGAIN_MS = 5_000;

/** A try that waits for a resume, as Temporal records it. */
export const held = (why: string): ApplicationFailure =>
  ApplicationFailure.create({
    message: `${why}: nothing is changed until it continues`,
    type: RUN_HELD,
    nextRetryDelay: LOOK_AGAIN_MS,
    category: 'BENIGN',
  });
