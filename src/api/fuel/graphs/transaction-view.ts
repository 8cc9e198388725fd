import type {
  sequenceSchema,
  startedTransactionSchema,
  transactionSchema,
} from '../../../core/contracts/fuel/deployments.js';
import type { Wire } from '../../../core/contracts/wire.js';
import { fuelStatus, type StartedDeployment } from '../../../ops/index.js';
import type { SequenceRecord, TransactionRecord } from '../../../store/index.js';

type TransactionAnswer = Wire<typeof transactionSchema>;

/** A transaction as Fuel shows it below /transactions. */
export const viewTransaction = (one: TransactionRecord): TransactionAnswer => ({
  id: one.id,
  uuid: one.uuid,
  name: one.name,
  status: fuelStatus(one.status),
  progress: one.progress,
  cluster: one.clusterId,
  graph_type: one.graphType,
  dry_run: one.mode !== 'apply',
  message: one.message,
  result: one.result ?? {},
  time_start: one.timeStart,
  time_end: one.timeEnd,
  mode: one.mode,
  workflow_id: one.workflowId,
  run: one.temporalRunId,
});

/** The same below /tasks and where a run is started. */
export const viewTask = (one: TransactionRecord): TransactionAnswer => ({
  ...viewTransaction(one),
  parent_id: one.parentId,
});

/** The answer to a start. */
export const viewStarted = ({ run, warnings }: StartedDeployment): Wire<typeof startedTransactionSchema> => ({
  ...viewTask(run),
  warnings: warnings.map(({ severity, code, message, hint }) => ({
    severity: severity === 'error' ? severity : 'warning',
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
  })),
});

/** A sequence as the API shows it. */
export const viewSequence = ({ id, name, releaseId, graphs }: SequenceRecord): Wire<typeof sequenceSchema> => ({
  id,
  name,
  release_id: releaseId,
  graphs: graphs as Wire<typeof sequenceSchema>['graphs'],
});
