import { workflowInfo } from '@temporalio/workflow';
import {
  describeRejection,
  type GraphRunProgress,
  hasRoomForRequest,
  reportGraphRun,
  statusOfGraphRun,
  treeOfRun,
} from '../src/core/graph-run/index.js';
import { isoTime, readNote } from '../src/core/run/index.js';
import { handle } from './border.js';
import type { GraphRunContract, TaskRequest, UpdateName } from './contract.js';
import { refusal, textOf } from './failures.js';
import type { GraphDrive, TaskUpdate } from './graph-drive.js';
import { steeringHandlers } from './operators.js';
import type { Run } from './run-frame.js';

/** What `execute_graph` has in hand while it runs. */
export interface GraphRun extends Run<GraphRunProgress> {
  /** The graph that runs; null between graphs. */
  drive: GraphDrive | null;
}

/** Answers operators of a run of graphs: its signals, updates and queries (design §5). */
export function handleGraphOperators(run: GraphRun): void {
  const { progress, control } = run;
  const status = () => statusOfGraphRun(progress);
  const steering = steeringHandlers({
    control,
    status,
    settled: () => run.drive?.acknowledged(),
    validate: (name) => validateRoom(run, name),
  });
  const taskUpdate = (action: TaskUpdate, description: string) => ({
    description,
    validate: (request: unknown) => validate(run, action, request),
    async handle(request: TaskRequest) {
      const { task } = request;
      const rejection = await run.drive!.ask(action, task);
      if (rejection !== null) throw refused(describeRejection(rejection));
      progress.operator.push({ action, task, at: isoTime(Date.now()), ...readNote(request) });
      run.show();
      return status();
    },
  });
  handle<GraphRunContract>({
    signals: { ...steering.signals, from_part: { handle: (signal) => run.drive?.onSignal(signal) } },
    updates: {
      ...steering.updates,
      retry_task: taskUpdate(
        'retry_task',
        'Gives a failed task, and what was lost with it, another chance: {"task": "task@node", "reason": "..."}',
      ),
      skip_task: taskUpdate(
        'skip_task',
        'Takes the work out of a task that has not started, or forgives one that failed: {"task": "task@node"}',
      ),
    },
    queries: {
      status: { description: 'Phase, n of m tasks, failing first.', answer: status },
      report: {
        description: 'What happened so far to every graph, and why.',
        answer: () => reportGraphRun(progress),
      },
      tree: {
        description: 'Graphs, nodes, tasks; of a big graph its parts, each a workflow that answers the same query.',
        answer: () => treeOfRun(progress),
      },
      plan: {
        description: 'By graph: the hash of its stored plan, and how big it is.',
        answer: () => progress.graphs.flatMap(({ type, plan }) => (plan === undefined ? [] : [{ type, ...plan }])),
      },
    },
  });
}

const refused = (message: string) => refusal('TaskRequestRefused', message);

function validate(run: GraphRun, name: TaskUpdate, request: unknown): void {
  const task = textOf(request, 'task');
  if (task === undefined || !/^.+@.+$/s.test(task)) {
    throw refused('the payload needs the task and its node: {"task": "task@node"}');
  }
  if (run.drive === null) {
    throw refused(
      run.progress.outcome === undefined
        ? 'no graph runs at the moment'
        : 'the run has come to its end: start another that goes on from it instead (--from)',
    );
  }
  validateRoom(run, name);
  const rejection = run.drive.objection(name, task);
  if (rejection !== null) throw refused(describeRejection(rejection));
}

/** A refused update leaves no trace in the history; an accepted one is another dozen of events, and more in each part. */
function validateRoom(run: GraphRun, name: UpdateName): void {
  if (run.drive?.hasRoom() ?? hasRoomForRequest(workflowInfo().historyLength, 0)) return;
  const otherwise = name === 'pause' || name === 'resume' ? `; a signal ${name} is taken all the same` : '';
  throw refused(`${describeRejection({ reason: 'exhausted' })}${otherwise}`);
}
