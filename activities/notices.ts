import { ApplicationFailure, Context } from '@temporalio/activity';
import type { NoticeBody } from '../src/core/contracts/notice.ts';
import { noticeText } from '../src/core/run/notice.ts';
import { withoutEnd } from '../src/core/text/text.ts';
import { type Receiver, ReceiversError, readReceivers } from '../src/platform/notices/receivers.ts';
import { sendNotice } from '../src/platform/notices/send.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { translated } from './failures.ts';
import type { DeliverNotice, NoticeActivities } from './notice-contract.ts';

/** Finds the receivers of a notice and sends it, once each try. */
export const noticeActivities = (deps: ActivityDependencies): NoticeActivities => ({
  plan_notice: ({ notice, only }) =>
    translated(async () => {
      const all = await receiversOf(deps);
      const wanted = all.filter(({ name, events, sites }) => {
        if (only !== undefined) return name === only;
        const site = notice.run?.site ?? null;
        return (
          events.some((event) => event === notice.event) && (sites === undefined || sites.some((one) => one === site))
        );
      });
      return { receivers: wanted.map(({ name }) => name), give_up_seconds: deps.notices?.giveUpSeconds ?? 0 };
    }),
  deliver_notice: (request) => translated(() => deliver(deps, request)),
});

async function receiversOf({ notices }: ActivityDependencies): Promise<readonly Receiver[]> {
  if (notices === undefined) return [];
  return await readReceivers(notices.file).catch((error: unknown) => {
    // Someone may correct the file meanwhile.
    throw error instanceof ReceiversError ? ApplicationFailure.retryable(error.message, 'NoticeReceivers') : error;
  });
}

async function deliver(deps: ActivityDependencies, { receiver: name, notice }: DeliverNotice) {
  const { info, cancellationSignal } = Context.current();
  const receiver = (await receiversOf(deps)).find((one) => one.name === name);
  if (receiver === undefined) throw ApplicationFailure.nonRetryable(`receiver ${name} no longer exists`, 'NoReceiver');
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
