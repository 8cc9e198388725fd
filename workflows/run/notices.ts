import { workflowInfo } from '@temporalio/workflow';
import { given } from '../../src/core/data/given.ts';
import { awaitingOf } from '../../src/core/run/approval.ts';
import { parseRunInput } from '../../src/core/run/input.ts';
import { type SendNotice, sendNoticeInput } from '../../src/core/run/notice.ts';
import type { AnyProgress } from '../../src/core/run/progress.ts';
import type { NoticeEvent } from '../../src/core/words.ts';
import type { SentNotice } from '../contract.ts';
import { prefixed } from '../protocol.ts';
import { bookkeeping } from './activity-options.ts';
import { callActivity, startDetached, validInput } from './border.ts';

/** Sends notices about a run. It neither waits for them nor fails because of them. */
export class Notices {
  readonly #progress: AnyProgress;
  #enabled = false;
  #prefix: string | undefined;
  #isHeld = false;
  #count = 0;
  readonly #noticed = new Set<string>();
  readonly #starting: Promise<void>[] = [];

  constructor(progress: AnyProgress) {
    this.#progress = progress;
  }

  /** Someone may want notices. Before that, none is sent. */
  enable(prefix: string | undefined): void {
    this.#prefix = prefix;
    // The run that started this one reports it itself.
    this.#enabled = workflowInfo().parent === undefined;
  }
  /** The run may wait for approval now. */
  waits(): void {
    const fresh = awaitingOf(this.#progress).filter(({ before }) => !this.#noticed.has(before));
    for (const { before } of fresh) this.#noticed.add(before);
    if (fresh.length > 0) this.#send('awaiting_approval');
  }
  /** Whether failed tasks, or a rollout, hold the run open now. */
  held(is: boolean): void {
    if (is && !this.#isHeld) this.#send('held');
    this.#isHeld = is;
  }
  failed(): void {
    this.#send('failed');
  }
  /** Resolves when the sent notices no longer depend on this run. */
  async settled(): Promise<void> {
    await Promise.all(this.#starting);
  }

  #send(event: NoticeEvent): void {
    if (!this.#enabled) return;
    const { run_id } = this.#progress;
    this.#count += 1;
    const id = prefixed(this.#prefix, `send_notice:${run_id}:${this.#count}`);
    this.#starting.push(
      startDetached('send_notice', id, { notice: { event, run: { id: run_id } } }, `notice: ${event}`),
    );
  }
}

/**
 * Sends a notice to all receivers that want it, each on its own, until it has arrived or the time for that is over. Runs
 * start it and do not wait for it.
 */
export async function send_notice(...args: unknown[]): Promise<SentNotice> {
  const { notice, only } = validInput<SendNotice>(
    parseRunInput(sendNoticeInput, args, '{"notice":{"event":"failed","run":{"id":"RUN"}}}'),
  );
  const { receivers, give_up_seconds } = await callActivity(
    'plan_notice',
    { notice, ...given({ only }) },
    bookkeeping('find the receivers of the notice'),
  );
  const sent = await Promise.all(
    receivers.map(async (receiver) => {
      const answer = await callActivity(
        'deliver_notice',
        { receiver, notice },
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
