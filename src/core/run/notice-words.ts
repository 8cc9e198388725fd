import type { AwaitingApproval } from '../contracts/approval.ts';
import type { Notice, NoticeBody } from '../contracts/notices.ts';
import type { LateNode } from '../contracts/site-run.ts';
import { given } from '../data/given.ts';
import { someOf } from '../text/text.ts';
import { GRAPH_RUN_KIND, type NoticeEvent } from '../words.ts';
import { describeAwaiting } from './approval.ts';
import { lateText } from './late-text.ts';
import { graphRunOf } from './subject.ts';

/** A run as the store has it. */
interface NoticedRun {
  readonly id: string;
  readonly workflowId: string;
  readonly kind: string;
  readonly number: number | null;
  readonly site: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly title: string | null;
  readonly startedBy: string | null;
  readonly outcome: string | null;
  readonly endedAt: string | null;
  readonly held: boolean;
  readonly awaitingApproval: boolean;
  readonly failure: string | null;
  readonly status: { readonly awaiting_approval?: AwaitingApproval } | null;
  readonly statusAt: string | null;
}

/**
 * The notice of an event, in the words of the store. Null where the run is not in that state.
 *
 * @param report of a run that has ended
 * @param sender tells the times apart that a run is held
 * @param late nodes that are stuck now
 */
export function noticeOf(
  event: NoticeEvent,
  row: NoticedRun,
  report: { readonly reason?: string; readonly next_step?: string } | undefined,
  sender: string,
  late: readonly LateNode[] = [],
): (Notice & Pick<NoticeBody, 'id'>) | null {
  const { id, workflowId, kind, site, title, startedBy, outcome, endedAt, statusAt } = row;
  const run = {
    ...{ id, workflow_id: workflowId, kind, site },
    cluster: graphRunOf(row).cluster,
    ...(title !== null && { title }),
    ...(startedBy !== null && { started_by: startedBy }),
  };
  const awaiting = row.status?.awaiting_approval ?? [];
  switch (event) {
    case 'failed': {
      if (outcome === null || endedAt === null || ENDED_WELL.includes(outcome)) return null;
      const why = outcome === 'failed' ? (report ?? {}) : lostWords(outcome, row.failure);
      const { reason = row.failure, next_step } = why;
      return {
        id: `${id}-failed-${endedAt}`,
        event,
        at: endedAt,
        run,
        ...(reason !== null && { reason }),
        ...given({ next_step }),
      };
    }
    case 'held':
      if (outcome !== null || !row.held) return null;
      return {
        id: `${id}-held-${sender}`,
        event,
        at: statusAt ?? '',
        run,
        next_step: kind === GRAPH_RUN_KIND ? HELD : HELD_ROLLOUT,
      };
    case 'awaiting_approval': {
      const since = awaiting
        .map((one) => one.since)
        .sort()
        .at(-1);
      if (outcome !== null || !row.awaitingApproval || since === undefined) return null;
      return { id: `${id}-awaiting-${since}`, event, at: since, run, awaiting_approval: awaiting };
    }
    case 'stuck': {
      if (outcome !== null || late.length === 0) return null;
      const now = Date.now();
      const reason = someOf(
        late.map((one) => lateText(one, now)),
        3,
      );
      return { id: `${id}-stuck-${sender}`, event, at: new Date(now).toISOString(), run, reason, next_step: STUCK };
    }
    case 'test':
      return null;
  }
}

/** Nobody is told of these: they were asked for, or all is well. */
const ENDED_WELL: readonly string[] = ['success', 'success_with_failures', 'nothing_to_do', 'stopped', 'cancelled'];

/** Of a run that could not say itself how it ended. */
const lostWords = (outcome: string, reason: string | null) => ({
  reason: `it ended as ${outcome} before it could write its report${reason === null ? '' : `: ${reason}`}`,
  next_step: 'check its results, then start it again: the next run continues from there',
});

const HELD =
  'retry or skip the failed tasks, promote a rollout that waits, or stop the run: it keeps the documents, package versions and settings of its start, and only a run that continues it has new ones';

const HELD_ROLLOUT =
  'see why with `sitewright run status RUN`, then promote the rollout, retry the failed nodes, or end it with `sitewright run abort-rollout RUN`';

const STUCK = 'look at the console of its machine; the run waits until the time limit of its documents';

const HAPPENED: Readonly<Record<NoticeEvent, string>> = {
  failed: 'failed',
  held: 'is held: it waits for a person',
  awaiting_approval: 'waits',
  stuck: 'takes too long',
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
