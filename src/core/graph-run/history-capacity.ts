/** Limit of events per history (docs/explain/design.md#limits). Temporal warns above it, and a worker that takes over replays each event. */
const MAX_EVENTS = 10_000;

/** A task that ends alone takes six events. Its rows and the messages between parts add up to a quarter. */
const EVENTS_A_TASK = 7.5;

/** Reserve for one more attempt, for running work, and for the end of the run. */
const SPARE_EVENTS = 300;

/** Events that `execute_graph` needs for a graph that children drive: planning, starting, messages, closing. */
const EVENTS_A_GRAPH = 150;

/**
 * How many tasks with work `execute_graph` can still drive itself, after reserving the minimum for later graphs. With
 * more tasks, children drive the graph, each with a separate history.
 *
 * @param later number of later graphs of the run
 */
export const taskCapacity = (events: number, later: number, most: number = MAX_EVENTS): number =>
  Math.max(0, Math.floor((most - events - SPARE_EVENTS - later * EVENTS_A_GRAPH) / EVENTS_A_TASK));

/** Whether a history is long enough that its workflow should continue as new when it can. */
export const shouldContinue = (events: number, most: number = MAX_EVENTS): boolean => events > most / 2;

/**
 * Whether a history has capacity for a retry, in addition to the first attempts of all unfinished tasks. First attempts
 * always fit, because a part is cut to size.
 *
 * @param left tasks with work that have not ended
 */
export const hasCapacityForRetry = (events: number, left: number, most: number = MAX_EVENTS): boolean =>
  events + left * EVENTS_A_TASK + SPARE_EVENTS < most;

/**
 * Whether a history has capacity for an operator's request, in addition to all unfinished tasks. The limit is higher
 * than for retries: an operator who can no longer retry can still skip.
 */
export const hasCapacityForRequest = (events: number, left: number, most: number = MAX_EVENTS): boolean =>
  events + left * EVENTS_A_TASK + SPARE_EVENTS / 2 < most;

/** Why a failed task is not retried although its policy allows it. */
export const HISTORY_FULL =
  'not retried: the history of the run is nearly full (10,000 events), continue in a new run (--from)';
