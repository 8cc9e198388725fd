import { workflowInfo } from '@temporalio/workflow';
import type { Notice } from '../src/core/contracts/notice.ts';
import { given } from '../src/core/data/given.ts';
import type { RunDescription } from '../src/core/run/description.ts';
import { type AnyProgress, awaitingOf, type Explained, isoTime } from '../src/core/run/index.ts';
import { startDetached } from './border.ts';
import { prefixed } from './protocol.ts';

/** Whom a run belongs to, as far as it knows. */
export interface AboutRun {
  readonly kind: string;
  readonly site: string | null;
  readonly cluster: number | null;
}

/** Sends notices about a run. It neither waits for them nor fails because of them. */
export interface Notices {
  /** Someone may want notices. Before that, none is sent. */
  enable(prefix: string | undefined): void;
  /** The run may wait for approval now. */
  waits(): void;
  /** Whether failed tasks hold the run open now. */
  held(is: boolean): void;
  failed(explained: Explained): void;
  /** Resolves when the sent notices no longer depend on this run. */
  settled(): Promise<void>;
}

export function createNotices(
  progress: AnyProgress<RunDescription & { readonly started_by?: string }>,
  about: () => AboutRun,
): Notices {
  let enabled = false;
  let idOf = (name: string): string => name;
  let isHeld = false;
  let count = 0;
  const noticed = new Set<string>();
  const starting: Promise<void>[] = [];

  function send(notice: Omit<Notice, 'at' | 'run'>): void {
    if (!enabled) return;
    const { workflow_id, run_id, input } = progress;
    count += 1;
    const run = {
      id: run_id,
      workflow_id,
      ...about(),
      ...given({ title: input.title, started_by: input.started_by }),
    };
    const whole: Notice = { ...notice, at: isoTime(Date.now()), run };
    starting.push(
      startDetached(
        'send_notice',
        idOf(`send_notice:${run_id}:${count}`),
        { notice: whole },
        `notice: ${notice.event}`,
      ),
    );
  }

  return {
    enable(prefix) {
      idOf = (name) => prefixed(prefix, name);
      // The run that started this one reports it itself.
      enabled = workflowInfo().parent === undefined;
    },
    waits() {
      const fresh = awaitingOf(progress).filter(({ before }) => !noticed.has(before));
      for (const { before } of fresh) noticed.add(before);
      if (fresh.length > 0) send({ event: 'awaiting_approval', awaiting_approval: fresh });
    },
    held(is) {
      if (is && !isHeld) send({ event: 'held', next_step: 'retry or skip the failed tasks, or stop the run' });
      isHeld = is;
    },
    failed: ({ reason, next_step }) => send({ event: 'failed', reason, next_step }),
    async settled() {
      await Promise.all(starting);
    },
  };
}
