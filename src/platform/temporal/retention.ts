import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

const DAY_SECONDS = 24 * 60 * 60;

/** Days that a namespace keeps the histories of ended runs; undefined if the server does not report it. */
export async function retentionDays(connection: Connection, namespace: string): Promise<number | undefined> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  const seconds = config?.workflowExecutionRetentionTtl?.seconds;
  return seconds == null ? undefined : Number(seconds) / DAY_SECONDS;
}

/** Sets it, for runs that end from now on: the server decides when a run ends how long it is kept. */
export async function setRetentionDays(address: string, namespace: string, days: number): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    if ((await retentionDays(connection, namespace)) === days) return;
    const workflowExecutionRetentionTtl = msToTs(`${days} days`);
    await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
  } finally {
    await connection.close();
  }
}

/** The command for an administrator. */
export const retentionCommand = (namespace: string, days: number): string =>
  `temporal operator namespace update --namespace ${namespace} --retention ${days * 24}h`;
