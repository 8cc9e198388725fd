import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Notice, NoticeBody } from '../../src/core/contracts/notices.ts';
import type { SendNotice } from '../../src/core/run/notice.ts';
import { noticeOf, noticeText } from '../../src/core/run/notice-words.ts';
import { withoutEnd } from '../../src/core/text/text.ts';
import { type Receiver, ReceiversError, readReceivers } from '../../src/platform/notices/receivers.ts';
import { sendNotice } from '../../src/platform/notices/send.ts';
import { StepTimes } from '../../src/runs/step-times.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import { translated } from '../failures.ts';
import type { DeliverNotice, NoticeActivities } from '../notice-contract.ts';

/** Finds the receivers of a notice and sends it, once each try. */
export const noticeActivities = (deps: ActivityDependencies): NoticeActivities => ({
  plan_notice: ({ notice, only }) =>
    translated(async () => {
      const told = await inTime(deps, notice);
      const all = await receiversOf(deps);
      const wanted = all.filter(({ name, events, sites }) => {
        if (only !== undefined) return name === only;
        const site = told.run?.site ?? null;
        return (
          events.some((event) => event === told.event) && (sites === undefined || sites.some((one) => one === site))
        );
      });
      return { receivers: wanted.map(({ name }) => name), give_up_seconds: deps.notices?.giveUpSeconds ?? 0 };
    }),
  deliver_notice: (request) => translated(() => deliver(deps, request)),
});

type Told = Notice & Pick<NoticeBody, 'id'>;

/** What the store says of the run: a run shows it at the end of the turn in which it starts the notice. */
async function inTime(deps: ActivityDependencies, notice: SendNotice['notice']): Promise<Told> {
  const { currentAttemptScheduledTimestampMs: since } = Context.current().info;
  for (;;) {
    const told = await toldBy(deps, notice);
    if (told !== null) return told;
    if (Date.now() - since > SHOWN_WITHIN_MS) throw untrue(notice);
    await Context.current().sleep(LOOK_AGAIN_MS);
  }
}

const SHOWN_WITHIN_MS = 10_000;
const LOOK_AGAIN_MS = 200;

const untrue = ({ event, run }: SendNotice['notice']): ApplicationFailure =>
  ApplicationFailure.nonRetryable(`the store does not say of run ${run?.id}: ${event}`, 'NoSuchNotice');

/** Null where the run is not there, or not in that state. */
async function toldBy({ store }: ActivityDependencies, { event, run }: SendNotice['notice']): Promise<Told | null> {
  const { workflowId, runId } = Context.current().info.workflowExecution!;
  if (run === null) return { id: runId, event: 'test', at: new Date().toISOString(), run: null };
  if (!(await store.runs.known([run.id])).has(run.id)) return null;
  const row = await store.runs.get(run.id);
  const report = event === 'failed' ? ((await store.runs.getReport(run.id)) as Explanation | undefined) : undefined;
  const late = event === 'stuck' && !row.paused ? await new StepTimes(store).late(row) : [];
  const stuck = late.filter(({ pace }) => pace === 'stuck');
  return noticeOf(event, row, report, workflowId, stuck);
}

type Explanation = NonNullable<Parameters<typeof noticeOf>[2]>;

async function receiversOf({ notices }: ActivityDependencies): Promise<readonly Receiver[]> {
  if (notices === undefined) return [];
  return await readReceivers(notices.file).catch((error: unknown) => {
    // Someone may correct the file meanwhile.
    throw error instanceof ReceiversError ? ApplicationFailure.retryable(error.message, 'NoticeReceivers') : error;
  });
}

async function deliver(deps: ActivityDependencies, { receiver: name, notice: asked }: DeliverNotice) {
  const { info, cancellationSignal } = Context.current();
  const receiver = (await receiversOf(deps)).find((one) => one.name === name);
  if (receiver === undefined) throw ApplicationFailure.nonRetryable(`receiver ${name} no longer exists`, 'NoReceiver');
  const notice = await toldBy(deps, asked);
  if (notice === null) throw untrue(asked);
  const page = deps.notices?.pageUrl;
  const run =
    notice.run === null || page === undefined
      ? notice.run
      : { ...notice.run, url: `${withoutEnd(page, '/')}/runs/${encodeURIComponent(notice.run.id)}` };
  const whole = { ...notice, run };
  const body: NoticeBody = { ...whole, text: noticeText(whole) };
  const sending = await sendNotice(receiver, body, info.attempt, cancellationSignal);
  // A log that cannot be written must not send a notice twice.
  await deps.store.notices
    .add({
      notice: notice.id,
      receiver: name,
      event: notice.event,
      run: notice.run?.id ?? null,
      attempt: info.attempt,
      ...sending,
    })
    .catch(() => undefined);
  const isLast = notice.event === 'test';
  if (sending.delivered || isLast) return sending;
  throw ApplicationFailure.retryable(`${name}: ${sending.message}`, 'NoticeNotDelivered');
}
