import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  describeRejection,
  type GraphRunProgress,
  type GraphRunReport,
  type GraphRunStatus,
  hasRoomForWish,
  type PlanReference,
  reportGraphRun,
  statusOfGraphRun,
  type TreeNode,
  treeOfRun,
} from '../src/core/graph-run/index.js';
import { readNote } from '../src/core/run/index.js';
import type { Control } from './control.js';
import type { GraphDrive } from './graph-drive.js';
import type { FromPartSignal } from './graph-signals.js';
import { QUERIES, SIGNALS, type TaskRequest, UPDATES } from './protocol.js';

/** What `execute_graph` has in hand while it runs. */
export interface GraphRun {
  readonly progress: GraphRunProgress;
  readonly control: Control;
  /** The graph that runs; null between graphs. */
  drive: GraphDrive | null;
  /** Refreshes what the Web UI shows of the run. */
  show(): void;
}

const SIGNAL_TEXT = {
  pause:
    'Starts nothing new, retries included, and lets running tasks end. Payload optional: {"reason": "...", "by": "..."}',
  resume: 'Goes on after a pause.',
  stop: 'Ends gracefully: running tasks end, nothing new starts, the report is written.',
} as const;

const UPDATE_TEXT = {
  retry_task: 'Gives a failed task, and what was lost with it, another chance: {"task": "task@node", "reason": "..."}',
  skip_task: 'Takes the work out of a task that has not started, or forgives one that failed: {"task": "task@node"}',
} as const;

/** Answers operators: the signals, updates and queries of a run of graphs (design §5). */
export function handleGraphOperators(run: GraphRun): void {
  const { progress, control } = run;
  for (const name of ['pause', 'resume', 'stop'] as const) {
    setHandler(defineSignal<[unknown?]>(SIGNALS[name]), (note) => control[name](note), {
      description: SIGNAL_TEXT[name],
    });
  }
  for (const name of ['pause', 'resume'] as const) {
    setHandler(
      defineUpdate<GraphRunStatus, [unknown?]>(UPDATES[name]),
      async (note) => {
        control[name](note);
        await run.drive?.acknowledged();
        return statusOfGraphRun(progress);
      },
      { description: SIGNAL_TEXT[name], validator: (_note?: unknown) => validateRoom(run, name) },
    );
  }
  for (const name of ['retry_task', 'skip_task'] as const) {
    setHandler(
      defineUpdate<GraphRunStatus, [TaskRequest]>(UPDATES[name]),
      async (request) => {
        const rejection = await run.drive!.ask(name, request.task);
        if (rejection !== null) refuse(describeRejection(rejection));
        progress.operator.push({
          action: name,
          task: request.task,
          at: new Date(Date.now()).toISOString(),
          ...readNote(request),
        });
        run.show();
        return statusOfGraphRun(progress);
      },
      { description: UPDATE_TEXT[name], validator: (request) => validate(run, name, request) },
    );
  }
  setHandler(defineSignal<[FromPartSignal]>(SIGNALS.from_part), (signal) => run.drive?.onSignal(signal));
  setHandler(defineQuery<GraphRunStatus>(QUERIES.status), () => statusOfGraphRun(progress), {
    description: 'Phase, n of m tasks, failing first.',
  });
  setHandler(defineQuery<GraphRunReport>(QUERIES.report), () => reportGraphRun(progress), {
    description: 'What happened so far to every graph, and why.',
  });
  setHandler(defineQuery<TreeNode>(QUERIES.tree), () => treeOfRun(progress), {
    description: 'Graphs, nodes, tasks; of a big graph its parts, each a workflow that answers the same query.',
  });
  setHandler(
    defineQuery<readonly ({ readonly type: string } & PlanReference)[]>(QUERIES.plan),
    () => progress.graphs.flatMap(({ type, plan }) => (plan === undefined ? [] : [{ type, ...plan }])),
    { description: 'By graph: the hash of its stored plan, and how big it is.' },
  );
}

function validate(run: GraphRun, name: 'retry_task' | 'skip_task', request: unknown): void {
  const task = typeof request === 'object' && request !== null ? (request as { task?: unknown }).task : undefined;
  if (typeof task !== 'string' || !/^.+@.+$/s.test(task)) {
    refuse('the payload needs the task and its node: {"task": "task@node"}');
  }
  if (run.drive === null) {
    refuse(
      run.progress.outcome === undefined
        ? 'no graph runs at the moment'
        : 'the run has come to its end: start another that goes on from it instead (--from)',
    );
  }
  validateRoom(run, name);
  const rejection = run.drive!.objection(name, task as string);
  if (rejection !== null) refuse(describeRejection(rejection));
}

/** A refused update leaves no trace in the history; an accepted one is another dozen of events, and more in each part. */
function validateRoom(run: GraphRun, name: keyof typeof UPDATES): void {
  if (run.drive?.hasRoom() ?? hasRoomForWish(workflowInfo().historyLength, 0)) return;
  const otherwise = name === 'pause' || name === 'resume' ? `; a signal ${name} is taken all the same` : '';
  refuse(`${describeRejection({ reason: 'exhausted' })}${otherwise}`);
}

function refuse(message: string): never {
  throw ApplicationFailure.nonRetryable(message, 'TaskRequestRefused');
}
