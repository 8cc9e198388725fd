import {
  sequenceSchema,
  type startedTransactionSchema,
  transactionSchema,
} from '../../../core/contracts/fuel/deployments.ts';
import type { Wire } from '../../../core/contracts/wire.ts';
import { fuelStatus, type StartedDeployment } from '../../../ops/index.ts';
import type { SequenceRecord, TransactionRecord } from '../../../store/index.ts';
import { shown } from '../../shown.ts';

type TransactionAnswer = Wire<typeof transactionSchema>;

const show = shown(transactionSchema);

/** A transaction as Fuel shows it below /tasks, and where a run is started. */
export const viewTask = (one: TransactionRecord): TransactionAnswer =>
  show({
    ...one,
    status: fuelStatus(one.status),
    cluster: one.clusterId,
    dryRun: one.mode !== 'apply',
    result: one.result ?? {},
    run: one.temporalRunId,
  });

/** The same below /transactions. */
export const viewTransaction = (one: TransactionRecord): TransactionAnswer => {
  const { parent_id: _parent, ...transaction } = viewTask(one);
  return transaction;
};

/** The answer to a start. */
export const viewStarted = ({ run, warnings }: StartedDeployment): Wire<typeof startedTransactionSchema> => ({
  ...viewTask(run),
  warnings: warnings.map(({ severity, code, message, hint }) => ({
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
  })),
});

const showSequence = shown(sequenceSchema);

/** A sequence as the API shows it. */
export const viewSequence = (sequence: SequenceRecord) =>
  showSequence({ ...sequence, graphs: sequence.graphs as Wire<typeof sequenceSchema>['graphs'] });
