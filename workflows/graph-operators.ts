import { workflowInfo } from '@temporalio/workflow';
import { lineOf, objectOf } from '../src/core/data/shape.ts';
import {
  describeRejection,
  type GraphRunProgress,
  hasCapacityForRequest,
  reportGraphRun,
  statusOfGraphRun,
  treeOfRun,
} from '../src/core/graph-run/index.ts';
import { MAX, noteFields } from '../src/core/run/description.ts';
import { isoTime, type OperatorNote, readRequest } from '../src/core/run/index.ts';
import type { TaskOnNode } from '../src/core/task-on-node.ts';
import { approvalHandlers } from './approval.ts';
import { handle } from './border.ts';
import type { GraphRunContract, UpdateName } from './contract.ts';
import { failure } from './failures.ts';
import type { GraphDrive } from './graph-drive.ts';
import type { RetryOrSkip } from './graph-parts.ts';
import { readFromPart } from './graph-signals.ts';
import { maasSilenceHandler, openedHandler, steeringHandlers } from './operators.ts';
import type { Run } from './run-frame.ts';

/** About a task of a running graph. */
type TaskRequest = OperatorNote & TaskOnNode;

export const taskRequest = objectOf<TaskRequest>(
  {
    ...noteFields,
    task: lineOf(MAX.name),
    node: lineOf(MAX.name),
  },
  ['task', 'node'],
);

/** State of a running `execute_graph`. */
export interface GraphRun extends Run<GraphRunProgress> {
  /** The running graph; null between graphs. */
  drive: GraphDrive | null;
}

/** Sets the handlers for operators of a graph run: signals, updates and queries (docs/design.md#the-temporal-surface). */
export function handleGraphOperators(run: GraphRun): void {
  const { progress, control } = run;
  const status = () => statusOfGraphRun(progress);
  const steering = steeringHandlers({
    control,
    status,
    settled: () => run.drive?.acknowledged(),
    validate: (name) => validateCapacity(run, name),
  });
  const approvals = approvalHandlers(run, { status, settled: () => run.drive?.acknowledged() });
  const taskUpdate = (action: RetryOrSkip, description: string) => ({
    description,
    read: (payload: unknown) => readRequest(taskRequest, payload),
    validate: (request: TaskRequest) => validate(run, action, request),
    async handle(request: TaskRequest) {
      const rejection = await run.drive!.ask(action, request);
      if (rejection !== null) throw refused(describeRejection(rejection));
      progress.operator.push({ action, at: isoTime(Date.now()), ...request });
      run.show();
      return status();
    },
  });
  handle<GraphRunContract>({
    signals: {
      ...steering.signals,
      ...approvals.signals,
      ...maasSilenceHandler(run.maasSilence),
      from_part: { read: readFromPart, handle: (signal) => run.drive?.onSignal(signal) },
    },
    updates: {
      opened: openedHandler(run),
      ...steering.updates,
      ...approvals.updates,
      retry_task: taskUpdate(
        'retry_task',
        'Retries a failed task and the tasks that failed because of it: {"task": "NAME", "node": "NODE", "reason": "..."}',
      ),
      skip_task: taskUpdate(
        'skip_task',
        'Skips a task that has not started, or ignores the failure of one that failed: {"task": "NAME", "node": "NODE"}',
      ),
    },
    queries: {
      status: { description: 'Phase, n of m tasks, failing first.', answer: status },
      report: {
        description: 'Report so far: every graph, with reasons.',
        answer: () => reportGraphRun(progress),
      },
      tree: {
        description: 'Graphs, nodes and tasks. A big graph has parts: each is a workflow that answers the same query.',
        answer: () => treeOfRun(progress),
      },
      plan: {
        description: 'The hash and size of the stored plan of each graph.',
        answer: () => progress.graphs.flatMap(({ type, plan }) => (plan === undefined ? [] : [{ type, ...plan }])),
      },
    },
    warn: run.warn,
  });
}

const refused = (message: string) => failure('TaskRequestRefused', message);

function validate(run: GraphRun, name: RetryOrSkip, request: TaskRequest): void {
  if (run.drive === null) {
    throw refused(
      run.progress.outcome === undefined
        ? 'no graph runs at the moment'
        : 'the run has ended: start a new run that continues from it instead (--from)',
    );
  }
  validateCapacity(run, name);
  const rejection = run.drive.objection(name, request);
  if (rejection !== null) throw refused(describeRejection(rejection));
}

/** A rejected update leaves no trace in the history. An accepted one costs a dozen events here and more in each part. */
function validateCapacity(run: GraphRun, name: UpdateName): void {
  if (run.drive?.hasCapacity() ?? hasCapacityForRequest(workflowInfo().historyLength, 0)) return;
  const otherwise = name === 'pause' || name === 'resume' ? `; the signal ${name} is still accepted` : '';
  throw refused(`${describeRejection({ reason: 'exhausted' })}${otherwise}`);
}
