/** Events of one thing in one run of a workflow. */
interface Events {
  /** `child c1`, `activity a2` and so on. */
  readonly thing: string;
  readonly simulated: readonly string[];
  readonly real: readonly string[];
  /** Of the run itself, on the real server. */
  readonly workflow: readonly string[];
}

/** What a real server decides by its timing alone: either history is right. */
interface Freedom {
  readonly name: string;
  /** Why no program can tell which one comes. */
  readonly reason: string;
  readonly explains: (events: Events) => boolean;
}

const CLOSES_CHILD = /^ChildWorkflowExecution(Completed|Failed|Canceled|Terminated|TimedOut)$/;
const CLOSES = /^WorkflowExecution(Completed|Failed|Canceled|Terminated|TimedOut|ContinuedAsNew)$/;

const withoutClose = (events: readonly string[]): string =>
  JSON.stringify(events.filter((one) => !CLOSES_CHILD.test(one)));

/** Each with its reason. What none of them explains is a fault of the simulation, or a new line here. */
export const FREEDOMS: readonly Freedom[] = [
  {
    name: 'a child ends beside its parent',
    reason:
      'A server tells a parent of the end of its child by a task of its own (RecordChildExecutionCompleted), while a worker may be ending the parent: the parent, which waits only for the request to be passed on, has the event before its end, or not at all.',
    explains: ({ thing, simulated, real, workflow }) =>
      thing.startsWith('child ') &&
      workflow.some((one) => CLOSES.test(one)) &&
      simulated.length !== real.length &&
      withoutClose(simulated) === withoutClose(real),
  },
  {
    name: 'requests to another workflow arrive in either order',
    reason:
      'A server passes on each request to another workflow (a signal, a cancellation) by a task of its own, and the tasks of one workflow task run side by side.',
    explains: ({ thing, simulated, real }) =>
      thing.startsWith('to ') && JSON.stringify([...simulated].sort()) === JSON.stringify([...real].sort()),
  },
];
