import type { NoticeDelivery } from '../src/core/contracts/notices.ts';
import type { SendNotice } from '../src/core/run/notice.ts';

/** The activities that `send_notice` calls. Types only, with wire names, as in contract.ts. */
export interface NoticeActivities {
  /** The receivers that want a notice, and how long it is worth sending. Fails if the run is not in that state. */
  plan_notice(
    request: SendNotice,
  ): Promise<{ readonly receivers: readonly string[]; readonly give_up_seconds: number }>;
  /** Sends it once and records the result. Fails if it was not accepted, so that Temporal retries. */
  deliver_notice(request: DeliverNotice): Promise<Pick<NoticeDelivery, 'delivered' | 'status' | 'message'>>;
}

export interface DeliverNotice {
  readonly receiver: string;
  readonly notice: SendNotice['notice'];
}
