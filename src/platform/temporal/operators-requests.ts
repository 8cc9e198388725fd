import type { Client } from '@temporalio/client';

/** More are not read: the answer is "possibly". */
const MAX_EVENTS = 500;

/**
 * Whether operators may have requested anything of a workflow since its history had `from` events, by Sitewright or by
 * Temporal's own tools.
 *
 * @param to events that it has now
 * @param internal signals and updates that no operator sends
 */
export async function mayBeRequested(
  { connection, options: { namespace } }: Client,
  execution: { readonly workflowId: string; readonly runId: string },
  { from, to }: { readonly from: number; readonly to: number },
  internal: ReadonlySet<string>,
): Promise<boolean> {
  let missing = to - from;
  if (missing > MAX_EVENTS) return true;
  let nextPageToken: Uint8Array | null | undefined;
  while (missing > 0) {
    const page = await connection.workflowService.getWorkflowExecutionHistoryReverse({
      namespace,
      execution,
      maximumPageSize: missing,
      ...(nextPageToken && { nextPageToken }),
    });
    for (const event of page.history?.events ?? []) {
      if (Number(event.eventId) <= from) return false;
      const signal = event.workflowExecutionSignaledEventAttributes?.signalName;
      if (signal && !internal.has(signal)) return true;
      const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.name;
      if (update && !internal.has(update)) return true;
      if (event.workflowExecutionCancelRequestedEventAttributes) return true;
      missing = Math.min(missing, Number(event.eventId) - 1 - from);
    }
    if (!page.nextPageToken?.length) break;
    ({ nextPageToken } = page);
  }
  return false;
}
