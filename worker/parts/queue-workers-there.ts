import { Connection } from '@temporalio/client';
import type { Settings } from '../../src/platform/settings/settings.ts';
import { connectionOptions } from '../../src/platform/temporal/connection-options.ts';
import { ownQueue } from '../../src/platform/temporal/own-queue.ts';

const LIMIT_MS = 2_000;

/** A worker polls every minute; Temporal lists a dead one for five. */
const POLLS_WITHIN_MS = 120_000;

/** Whether workers take work of the queue that ours would take. A server that does not say has none. */
export async function hasWorkers({ temporal }: Pick<Settings, 'temporal'>): Promise<boolean> {
  const connection = Connection.lazy({ ...connectionOptions(temporal), connectTimeout: LIMIT_MS });
  try {
    await connection.ensureConnected();
    const { pollers } = await connection.withDeadline(Date.now() + LIMIT_MS, () =>
      connection.workflowService.describeTaskQueue({
        namespace: temporal.namespace,
        taskQueue: { name: ownQueue(temporal) },
        taskQueueType: 1,
      }),
    );
    const oldest = Date.now() - POLLS_WITHIN_MS;
    return (pollers ?? []).some(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > oldest);
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
