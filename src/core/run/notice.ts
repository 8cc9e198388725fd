import { isMapping } from '../data/plain-value.ts';
import { lineOf, objectOf, oneOf, type Shape, valueThat } from '../data/shape.ts';
import { NOTICE_EVENTS, type NoticeEvent } from '../words.ts';
import { MAX } from './description.ts';

/** What happened to a run, as its sender says. The words come from the store: anyone with a credential of the namespace can send. */
interface NoticeAsked {
  readonly event: NoticeEvent;
  /** Null in a test. */
  readonly run: { readonly id: string } | null;
}

/** Input of `send_notice`: runs start it, and the API for tests. */
export interface SendNotice {
  readonly notice: NoticeAsked;
  /** Only to this one, once: a test. Absent: to all that want it, until they have it. */
  readonly only?: string;
}

const notice: Shape<NoticeAsked> = valueThat(
  (value) =>
    isMapping(value) &&
    oneOf(NOTICE_EVENTS).problems(value.event, []).length === 0 &&
    (value.event === 'test'
      ? value.run === null
      : isMapping(value.run) && lineOf(MAX.name).problems(value.run.id, []).length === 0),
  'must name an event, and the run by its id',
);

export const sendNoticeInput = objectOf<SendNotice>({ notice, only: lineOf(MAX.name) }, ['notice']);
