import type { New, Stored } from '../tables.ts';

/** One attempt to deliver a notice. */
export type NoticeDeliveryRecord = Stored<'noticeDelivery'>;
export type NewNoticeDelivery = New<'noticeDelivery'>;

/** What became of notices: the newest attempts of each receiver. */
export interface NoticeStore {
  /** Forgets the oldest ones of the receiver when there are too many. */
  add(delivery: NewNoticeDelivery): Promise<NoticeDeliveryRecord>;
  /** Newest first. */
  list(receiver?: string): Promise<readonly NoticeDeliveryRecord[]>;
}
