import {
  type FUEL_STATUSES,
  type FUEL_TASK_STATUSES,
  recordedRunSchema,
  sequenceSchema,
  type startedTransactionSchema,
  transactionSchema,
} from '../../../core/contracts/fuel/deployments.ts';
import type { Wire } from '../../../core/contracts/wire.ts';
import { given } from '../../../core/data/given.ts';
import type { TaskStatus, TransactionStatus } from '../../../core/words.ts';
import type { ShownTransaction, StartedDeployment } from '../../../ops/index.ts';
import type { SequenceRecord } from '../../../store/index.ts';
import { shown } from '../../shown.ts';

type TransactionAnswer = Wire<typeof transactionSchema>;

const show = shown(transactionSchema);

type FuelStatus = (typeof FUEL_STATUSES)[number];
export type FuelWord = (typeof FUEL_TASK_STATUSES)[number];

/** An `ignored` task failed where that does not matter; a `blocked` task never ran because of an error. */
const TASK_WORDS: Readonly<Record<TaskStatus, FuelWord>> = {
  waiting: 'pending',
  running: 'running',
  retrying: 'running',
  success: 'ready',
  ignored: 'ready',
  failed: 'error',
  blocked: 'error',
  not_reached: 'skipped',
  skipped: 'skipped',
};

/** To Fuel's clients all that an operator ended is an error. */
export const FUEL_STATUS_OF: Readonly<Record<TransactionStatus, FuelStatus>> = {
  waiting: 'pending',
  running: 'running',
  success: 'ready',
  nothing_to_do: 'ready',
  failed: 'error',
  refused: 'error',
  not_reached: 'error',
  stopped: 'error',
  cancelled: 'error',
  terminated: 'error',
  lost: 'error',
};

/** The status of a task as Fuel shows it. */
export const fuelTaskStatus = (status: TaskStatus): FuelWord => TASK_WORDS[status];

const fieldsOf = (one: ShownTransaction) => ({
  ...one,
  cluster: one.clusterId,
  dryRun: one.mode !== 'apply',
  result: one.result ?? {},
  run: one.temporalRunId,
});

/** A transaction as Fuel shows it below /tasks, and where a run is started. */
export const viewTask = (one: ShownTransaction): TransactionAnswer =>
  show({ ...fieldsOf(one), status: FUEL_STATUS_OF[one.status] });

const showRecorded = shown(recordedRunSchema);

/** The same in the words of runs. */
export const viewRecorded = (one: ShownTransaction): Wire<typeof recordedRunSchema> => showRecorded(fieldsOf(one));

/** The same below /transactions. */
export const viewTransaction = (one: ShownTransaction): TransactionAnswer => {
  const { parent_id: _parent, ...transaction } = viewTask(one);
  return transaction;
};

/** A run that no worker has opened: it has no transaction yet. */
const viewWaiting = ({
  id: run,
  workflowId,
  cluster,
}: Extract<StartedDeployment['run'], { readonly kind: 'waiting' }>) => ({
  id: null,
  uuid: run,
  name: 'deploy',
  status: 'pending' as const,
  progress: 0,
  cluster,
  graph_type: null,
  dry_run: false,
  message: 'no worker has opened the run yet: it starts once one is available',
  result: {},
  time_start: null,
  time_end: null,
  mode: 'apply' as const,
  workflow_id: workflowId,
  run,
});

/** The answer to a start. */
export const viewStarted = ({ run, warnings }: StartedDeployment): Wire<typeof startedTransactionSchema> => ({
  ...('kind' in run ? viewWaiting(run) : viewTask(run)),
  warnings: warnings.map(({ severity, code, message, hint }) => ({
    severity,
    code,
    message,
    ...given({ hint }),
  })),
});

const showSequence = shown(sequenceSchema);

/** A sequence as the API shows it. */
export const viewSequence = (sequence: SequenceRecord) =>
  showSequence({ ...sequence, graphs: sequence.graphs as Wire<typeof sequenceSchema>['graphs'] });
