/** Most events of a history (design §5): Temporal warns of more, and each one is read again when a worker dies. */
const MOST_EVENTS = 10_000;

/** A task that ends alone takes six events; its history rows, and what parts tell each other, up to a quarter more. */
const EVENTS_A_TASK = 7.5;

/** For what one more attempt costs, for what is under way, and for the end of the run. */
const SPARE_EVENTS = 300;

/**
 * Whether a history has room for a further attempt of a task, beside the first attempts of all that has not ended:
 * those always have it, since a part is cut to size.
 *
 * @param left tasks with work that have not ended
 */
export const hasRoomForRetry = (events: number, left: number): boolean =>
  events + left * EVENTS_A_TASK + SPARE_EVENTS < MOST_EVENTS;

/** Whether a history has room for an operator's wish; what parts tell of the end still has to fit. */
export const hasRoomForWish = (events: number): boolean => events + 2 * SPARE_EVENTS < MOST_EVENTS;

/** Why a failed task that may be tried again is not. */
export const NO_ROOM = 'not tried again: the history of the run is nearly full, go on in a new run (--from)';
