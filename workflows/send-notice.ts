import { workflowInfo } from '@temporalio/workflow';
import { given } from '../src/core/data/given.ts';
import { parseRunInput } from '../src/core/run/input.ts';
import { type SendNotice, sendNoticeInput } from '../src/core/run/notice.ts';
import { bookkeeping } from './activity-options.ts';
import { callActivity, validInput } from './border.ts';
import type { SentNotice } from './contract.ts';

/**
 * Sends a notice to all receivers that want it, each on its own, until it has arrived or the time for that is over. Runs
 * start it and do not wait for it.
 */
export async function send_notice(...args: unknown[]): Promise<SentNotice> {
  const { notice, only } = validInput<SendNotice>(
    parseRunInput(sendNoticeInput, args, '{"notice":{"event":"test","at":"2026-01-01T00:00:00Z","run":null}}'),
  );
  const id = workflowInfo().runId;
  const { receivers, give_up_seconds } = await callActivity(
    'plan_notice',
    { notice, ...given({ only }) },
    bookkeeping('find the receivers of the notice'),
  );
  const sent = await Promise.all(
    receivers.map(async (receiver) => {
      const answer = await callActivity(
        'deliver_notice',
        { receiver, notice: { ...notice, id } },
        {
          summary: `send the notice to ${receiver}`,
          startToCloseTimeout: '1 minute',
          scheduleToCloseTimeout: give_up_seconds * 1000,
          retry:
            only === undefined
              ? { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' }
              : { maximumAttempts: 1 },
        },
      ).catch(() => ({ delivered: false, status: null, message: 'it could not be delivered' }));
      return [receiver, answer] as const;
    }),
  );
  return Object.fromEntries(sent);
}
