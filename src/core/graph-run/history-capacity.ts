/** Most events of a history (design §5): Temporal warns of more, and each one is read again when a worker dies. */
export const MOST_EVENTS = 10_000;

/** A task that ends alone takes six events; its history rows, and what parts tell each other, up to a quarter more. */
const EVENTS_A_TASK = 7.5;

/** For what one more attempt costs, for what is under way, and for the end of the run. */
const SPARE_EVENTS = 300;

/** What `execute_graph` needs of its own for a graph that children drive: planning, starting, messages, closing. */
const EVENTS_A_GRAPH = 150;

/**
 * How many tasks with work `execute_graph` may still drive itself, beside what the graphs after this one need at least.
 * A graph with more goes to children, each with a history of its own.
 *
 * @param later graphs of the run that come after this one
 */
export const taskCapacity = (events: number, later: number, most: number = MOST_EVENTS): number =>
  Math.max(0, Math.floor((most - events - SPARE_EVENTS - later * EVENTS_A_GRAPH) / EVENTS_A_TASK));

/** Whether a history is long enough for its workflow to go on with an empty one, at a moment at which it can. */
export const shouldContinue = (events: number, most: number = MOST_EVENTS): boolean => events > most / 2;

/**
 * Whether a history has room for a further attempt of a task, beside the first attempts of all that has not ended:
 * those always have it, since a part is cut to size.
 *
 * @param left tasks with work that have not ended
 */
export const hasCapacityForRetry = (events: number, left: number, most: number = MOST_EVENTS): boolean =>
  events + left * EVENTS_A_TASK + SPARE_EVENTS < most;

/**
 * Whether a history has room for an operator's request, beside all that has not ended. A little is left above what
 * retries may take: who cannot retry any more can still skip.
 */
export const hasCapacityForRequest = (events: number, left: number, most: number = MOST_EVENTS): boolean =>
  events + left * EVENTS_A_TASK + SPARE_EVENTS / 2 < most;

/** Why a failed task that may be tried again is not. */
export const HISTORY_FULL = 'not tried again: the history of the run is nearly full, go on in a new run (--from)';
