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
export class Notices {
  readonly #progress: AnyProgress<RunDescription & { readonly started_by?: string }>;
  readonly #about: () => AboutRun;
  #enabled = false;
  #prefix: string | undefined;
  #isHeld = false;
  #count = 0;
  readonly #noticed = new Set<string>();
  readonly #starting: Promise<void>[] = [];

  constructor(progress: AnyProgress<RunDescription & { readonly started_by?: string }>, about: () => AboutRun) {
    this.#progress = progress;
    this.#about = about;
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
    if (fresh.length > 0) this.#send({ event: 'awaiting_approval', awaiting_approval: fresh });
  }
  /** Whether failed tasks hold the run open now. */
  held(is: boolean): void {
    if (is && !this.#isHeld)
      this.#send({ event: 'held', next_step: 'retry or skip the failed tasks, or stop the run' });
    this.#isHeld = is;
  }
  failed({ reason, next_step }: Explained): void {
    this.#send({ event: 'failed', reason, next_step });
  }
  /** Resolves when the sent notices no longer depend on this run. */
  async settled(): Promise<void> {
    await Promise.all(this.#starting);
  }

  #send(notice: Omit<Notice, 'at' | 'run'>): void {
    if (!this.#enabled) return;
    const { workflow_id, run_id, input } = this.#progress;
    this.#count += 1;
    const run = {
      id: run_id,
      workflow_id,
      ...this.#about(),
      ...given({ title: input.title, started_by: input.started_by }),
    };
    const whole: Notice = { ...notice, at: isoTime(Date.now()), run };
    const id = prefixed(this.#prefix, `send_notice:${run_id}:${this.#count}`);
    this.#starting.push(startDetached('send_notice', id, { notice: whole }, `notice: ${notice.event}`));
  }
}
