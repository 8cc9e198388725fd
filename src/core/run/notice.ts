import * as z from 'zod/mini';
import type { Wire } from '../contracts/wire.ts';
import { isMapping } from '../data/plain-value.ts';
import { checkFields, lineOf, optional, valueThat } from '../data/schema.ts';
import { NOTICE_EVENTS, type NoticeEvent } from '../words.ts';
import { MAX } from './description.ts';

/** What happened to a run, as its sender says. The words come from the store: anyone with a credential of the namespace can send. */
interface NoticeAsked {
  readonly event: NoticeEvent;
  /** Null in a test. */
  readonly run: { readonly id: string } | null;
}

const name = lineOf(MAX.name);

const notice = valueThat<NoticeAsked>(
  (value) =>
    isMapping(value) &&
    NOTICE_EVENTS.some((event) => event === value.event) &&
    (value.event === 'test' ? value.run === null : isMapping(value.run) && checkFields(name, value.run.id).ok),
  'must name an event, and the run by its id',
);

/** Input of `send_notice`: runs start it, and the API for tests. */
export const sendNoticeInput = z.strictObject({
  notice,
  /** Only to this one, once: a test. Absent: to all that want it, until they have it. */
  ...optional({ only: name }),
});
export type SendNotice = Wire<typeof sendNoticeInput>;
