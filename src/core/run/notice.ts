import type { Notice } from '../contracts/notice.ts';
import { isMapping } from '../data/plain-value.ts';
import { lineOf, objectOf, oneOf, type Shape, valueThat } from '../data/shape.ts';
import { NOTICE_EVENTS, type NoticeEvent } from '../words.ts';
import { describeAwaiting } from './approval.ts';
import { MAX } from './description.ts';
import { graphRunOf } from './subject.ts';

/** Input of `send_notice`: runs start it, and the API for tests. */
export interface SendNotice {
  readonly notice: Notice;
  /** Only to this one, once: a test. Absent: to all that want it, until they have it. */
  readonly only?: string;
}

const notice: Shape<Notice> = valueThat(
  (value) =>
    isMapping(value) &&
    oneOf(NOTICE_EVENTS).problems(value.event, []).length === 0 &&
    typeof value.at === 'string' &&
    (value.run === null || isMapping(value.run)),
  'must be a notice of a run',
);

export const sendNoticeInput = objectOf<SendNotice>({ notice, only: lineOf(MAX.name) }, ['notice']);

/** A run that ended before it could send its notice, and how, as Temporal has it. */
export function lostRunNotice(
  run: {
    readonly id: string;
    readonly workflowId: string;
    readonly kind: string;
    readonly number: number | null;
    readonly site: string | null;
    readonly labels: Readonly<Record<string, string>>;
    readonly title: string | null;
    readonly startedBy: string | null;
  },
  end: { readonly outcome: string; readonly at: Date; readonly reason?: string },
): Notice {
  const { id, workflowId, kind, site, title, startedBy } = run;
  const reason = end.reason === undefined ? '' : `: ${end.reason}`;
  return {
    event: 'failed',
    at: end.at.toISOString(),
    run: {
      ...{ id, workflow_id: workflowId, kind, site },
      cluster: graphRunOf(run).cluster,
      ...(title === null ? {} : { title }),
      ...(startedBy === null ? {} : { started_by: startedBy }),
    },
    reason: `it ended as ${end.outcome} before it could write its report${reason}`,
    next_step: 'check its results, then start it again: the next run continues from there',
  };
}

const HAPPENED: Readonly<Record<NoticeEvent, string>> = {
  failed: 'failed',
  held: 'is held: tasks failed',
  awaiting_approval: 'waits',
  test: 'works',
};

/** A notice in a few words, for people. */
export function noticeText({ event, run, reason, next_step, awaiting_approval }: Notice): string {
  if (run === null) return 'This is a test of Sitewright’s notices.';
  const about = run.site ?? `cluster ${run.cluster}`;
  const title = run.title === undefined ? '' : ` (${run.title})`;
  const what = awaiting_approval ? `is ${describeAwaiting(awaiting_approval)}` : HAPPENED[event];
  const why = reason === undefined ? '' : `: ${reason}`;
  const next = next_step === undefined ? '' : `. Next: ${next_step}`;
  return `${run.kind} of ${about}${title} ${what}${why}${next}${run.url === undefined ? '' : ` ${run.url}`}`;
}
