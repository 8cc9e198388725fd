/** Events of one thing in one run of a workflow. */
interface Events {
  /** `child c1`, `activity a2` and so on. */
  readonly thing: string;
  readonly simulated: readonly string[];
  readonly real: readonly string[];
}

/** What a real server decides by its timing alone: either history is right. */
interface Freedom {
  readonly name: string;
  /** Why no program can tell which one comes. */
  readonly reason: string;
  readonly explains: (events: Events) => boolean;
}

/** Each with its reason. What none of them explains is a fault of the simulation, or a new line here. */
export const FREEDOMS: readonly Freedom[] = [
  {
    name: 'requests to another workflow arrive in either order',
    reason:
      'A server passes on each request to another workflow (a signal, a cancellation) by a task of its own, and the tasks of one workflow task run side by side.',
    explains: ({ thing, simulated, real }) =>
      thing.startsWith('to ') && JSON.stringify([...simulated].sort()) === JSON.stringify([...real].sort()),
  },
];
