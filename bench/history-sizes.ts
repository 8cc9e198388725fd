import type { Client } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';

type Event = temporal.api.history.v1.IHistoryEvent;

/** What the history of one execution holds. */
export interface HistorySize {
  readonly id: string;
  readonly events: number;
  /** As JSON, which is near to what the server stores. */
  readonly bytes: number;
  readonly largest: number;
  readonly timeouts: number;
  readonly workflowTasks: number;
  readonly signals: number;
  readonly records: number;
}

/** The sizes of a history and of its events. */
export function sizeOf(id: string, events: readonly Event[]): HistorySize {
  const each = events.map(
    (event) =>
      JSON.stringify(event, (_key, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : value,
      ).length,
  );
  const count = (is: (event: Event) => boolean): number => events.filter(is).length;
  return {
    id,
    events: events.length,
    bytes: each.reduce((sum, bytes) => sum + bytes, 0),
    largest: Math.max(...each),
    timeouts: count((event) => event.workflowTaskTimedOutEventAttributes != null),
    workflowTasks: count((event) => event.workflowTaskCompletedEventAttributes != null),
    signals: count((event) => event.workflowExecutionSignaledEventAttributes != null),
    records: count((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'record_tasks'),
  };
}

/** The sizes of the histories of these executions. */
export const historySizes = (client: Client, ids: readonly string[]): Promise<HistorySize[]> =>
  Promise.all(ids.map(async (id) => sizeOf(id, (await client.workflow.getHandle(id).fetchHistory()).events ?? [])));
