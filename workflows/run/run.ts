import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowFailure,
  condition,
  isCancellation,
  log,
  patched,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenedRun, OpenedWithin, ShownRun } from '../../activities/contract.ts';
import type { ShownPlan } from '../../src/core/contracts/site-run.ts';
import { given } from '../../src/core/data/given.ts';
import { reach, startHolds, undecided } from '../../src/core/run/approval.ts';
import type { RunDescription } from '../../src/core/run/description.ts';
import { claimLost, type Explained, failureType, type StepError } from '../../src/core/run/failure.ts';
import { RUN_HELP } from '../../src/core/run/help.ts';
import type { ParsedRunInput } from '../../src/core/run/input.ts';
import { SURELY_WAITS_MS } from '../../src/core/run/opening.ts';
import type { OperatorAction } from '../../src/core/run/operator.ts';
import type { StartedWith } from '../../src/core/run/passed-on.ts';
import { type AnyProgress, addWarning, isoTime } from '../../src/core/run/progress.ts';
import type { MaasSilence } from '../../src/core/run/silence.ts';
import { type RunSubject, subjectText } from '../../src/core/run/subject.ts';
import type { RunAction } from '../../src/core/words.ts';
import type { OpenedRow, RunOpening } from '../contract.ts';
import { ANSWERED, type SearchAttributeName } from '../protocol.ts';
import { isInvalidAnswer } from './answers.ts';
import { validInput } from './border.ts';
import { Control } from './control.ts';
import { failure, stepError } from './failures.ts';
import { showRun } from './interceptors.ts';
import { Notices } from './notices.ts';

/** PostgreSQL's column for a keyword; a longer one would fail every workflow task. */
const LONGEST_KEYWORD = 255;

type Attributes = Partial<Readonly<Record<SearchAttributeName, string | number | null | undefined>>>;

/** What every run of users has to say of itself. */
export type Progress = AnyProgress<RunDescription & { readonly started_by?: string }>;

type FailureOf<P extends Progress> = NonNullable<P['failure']>;

type OpenAnswer<Opened extends OpenedRun, Failure> =
  | (Opened & { readonly ok: true })
  | (OpenedWithin & { readonly ok: false; readonly failure: Failure });

/** Ends the work of a run, not its workflow: an operator stopped it, nothing is left to do, or it has failed. */
export class RunEnded extends Error {}

/** Progress of a run that starts now. @throws when its input is invalid */
export function startProgress<Input extends { readonly hold_before?: readonly string[] }>(
  parsed: ParsedRunInput<Input>,
) {
  const input = validInput(parsed);
  // A reset changes the run id; the run is the same.
  const { workflowId: workflow_id, originalExecutionRunId: run_id } = workflowInfo();
  return {
    input,
    workflow_id,
    run_id,
    started_at: Date.now(),
    paused: null,
    stopping: false,
    holds: startHolds(input.hold_before),
    warnings: [],
  };
}

/**
 * A run of users, on a site or of graphs: claims its subject, does its work and always closes with a report. What they differ in
 * is abstract.
 */
export abstract class Run<P extends Progress, Opened extends OpenedRun = OpenedRun, Result = unknown> {
  readonly progress: P;
  readonly control: Control;
  readonly notices: Notices;
  /** Undefined before the run is opened or refused. */
  opening: RunOpening<FailureOf<P>> | undefined;
  /** Stands before the ids of workflows that the run starts; known once the run is opened. */
  protected prefix: string | undefined;
  /** Search attributes that the server knows; none before the run is opened. */
  #known: readonly string[] = [];
  #phase: Attributes['RunPhase'];
  #changes = 0;

  constructor(progress: P) {
    this.progress = progress;
    this.control = new Control((action) => {
      this.acted(action);
      this.show();
      if (action.action === 'pause' || action.action === 'resume') this.#showPause();
    });
    this.notices = new Notices(progress);
  }

  protected abstract readonly kind: string;
  /** What the run claims. */
  protected abstract readonly subject: RunSubject;
  abstract status(): ShownRun['status'];
  /** So far, small enough for an answer. */
  abstract report(): ShownRun['report'];
  /** Null: it has none, or the store has it already. */
  plan(): ShownPlan | null {
    return null;
  }
  protected abstract details(): string;
  /** Records an operator's action. */
  abstract acted(action: OperatorAction<RunAction>): void;
  /** Nodes that have failed so far. */
  protected abstract failedNodes(): number;
  /** Claims the subject and writes the run's row. @param answered whether whoever started the run waits for the answer */
  protected abstract open(answered: boolean): Promise<OpenAnswer<Opened, FailureOf<P>>>;
  /** The site of the opened run. */
  protected abstract siteOf(opened: Opened): string | null;
  protected abstract rowOf(opened: Opened): Pick<OpenedRow, 'number' | 'warnings'>;
  protected abstract work(opened: Opened): Promise<void>;
  protected abstract stepFailed(error: StepError): FailureOf<P>;
  /** Called once work has ended. */
  protected abstract outcome(): NonNullable<P['outcome']>;
  /** Writes the report and releases the claim. */
  protected abstract close(opened: Opened): Promise<void>;
  protected abstract explain(why: FailureOf<P>): Explained;
  protected abstract result(): Result;
  protected revision(): number | undefined {
    return undefined;
  }

  /** Updates the run's details in Temporal's Web UI. */
  show(): void {
    this.refresh();
  }
  /** Updates the details, and nothing that leaves a trace in the history. */
  refresh(): void {
    this.#changes += 1;
    this.progress.paused = this.control.paused;
    this.progress.stopping = this.control.stopping;
    setCurrentDetails(this.details());
  }
  /** Warns operators: in status, report and details, and in the worker's log. */
  warn(text: string): void {
    log.warn(text);
    if (addWarning(this.progress.warnings, text)) this.refresh();
  }
  /** Shows whether MAAS answers. */
  maasSilence(silence: MaasSilence): void {
    this.progress.maas_silent_since = silence.since;
    this.control.maasSilence(silence);
    this.show();
  }

  /** Exactly these names of `hold_before` wait for approval now. */
  reached(names: readonly string[]): void {
    const { progress } = this;
    const holds = reach(progress.holds, names, isoTime(Date.now()));
    if (holds.every((hold, at) => hold === progress.holds[at])) return;
    progress.holds = holds;
    this.notices.waits();
    this.show();
  }
  /** Waits at this point of `hold_before` until an operator approves. @throws `RunEnded` when the run stops instead */
  async approval(before: string): Promise<void> {
    const { control } = this;
    const isHeld = () => undecided(this.progress.holds).includes(before);
    if (!isHeld()) return;
    while (isHeld() && !control.stopping && !control.cancelled) {
      this.reached([before]);
      await control.changed();
    }
    if (control.stopping || control.cancelled) throw new RunEnded();
  }
  /** Waits while paused. @throws `RunEnded` when nothing new may start */
  async goOn(): Promise<void> {
    if (!(await this.control.mayStart())) throw new RunEnded();
  }
  /** @throws `RunEnded`, always: the run has failed */
  fail(why: FailureOf<P>): never {
    this.progress.failure = why;
    throw new RunEnded();
  }

  /** Sets the attributes that the server knows. An unknown one would fail every workflow task from then on. */
  setAttributes(values: Attributes): void {
    if (values.RunPhase !== undefined && values.RunPhase !== 'paused') this.#phase = values.RunPhase;
    const pairs = this.attributesOf(values);
    if (pairs.length > 0) upsertSearchAttributes(pairs);
  }
  /** Those of them that the server knows, for a child. */
  attributesOf(values: Attributes): SearchAttributePair[] {
    return Object.entries(values).flatMap(([name, value]): SearchAttributePair[] => {
      if (value === undefined || value === null || !this.#known.includes(name)) return [];
      return typeof value === 'number'
        ? [{ key: defineSearchAttributeKey(name, 'INT'), value }]
        : [{ key: defineSearchAttributeKey(name, 'KEYWORD'), value: value.slice(0, LONGEST_KEYWORD) }];
    });
  }
  /** So that paused runs can be found in Temporal: `RunPhase='paused'`. */
  #showPause(): void {
    if (this.#phase !== undefined) this.setAttributes({ RunPhase: this.control.paused ? 'paused' : this.#phase });
  }

  /** As lists, reports and notices show it. */
  get startedBy(): string | undefined {
    return this.progress.started_by ?? this.progress.input.started_by;
  }
  /** How it was started, for the activity that opens it. */
  protected get start(): StartedWith {
    const { memo, parent } = workflowInfo();
    const entry = memo?.[ANSWERED];
    return given({ entry: typeof entry === 'string' ? entry : undefined, parent: parent?.workflowId });
  }
  /** The run's identity in the store. */
  protected get identity() {
    const { workflow_id, run_id } = this.progress;
    return { workflow_id, run_id };
  }
  /** Identity and end time, for the activity that closes the run. */
  protected get end() {
    return { ...this.identity, ended_at: isoTime(this.progress.ended_at ?? Date.now()) };
  }

  /** From the claim to the report. Set the operator handlers before, so that they answer from the start. */
  async run(): Promise<Result> {
    const { progress } = this;
    // Who starts a run with Temporal's tools sets no memo.
    if (workflowInfo().memo?.help === undefined) upsertMemo({ help: RUN_HELP });
    this.show();
    void CancellationScope.current().cancelRequested.catch(() => this.control.cancel());

    await CancellationScope.nonCancellable(async () => {
      const answered = isAwaited(SURELY_WAITS_MS.accept);
      const opened = await this.#opened(answered);
      this.prefix = opened.prefix;
      if (opened.started_by !== undefined) progress.started_by = opened.started_by;
      if (opened.notices) this.notices.enable(opened.prefix);
      if (opened.ok) await this.#workAndClose(opened);
      else this.#refuse(opened.failure, answered && isAwaited(SURELY_WAITS_MS.open));
      await condition(allHandlersFinished);
      if (opened.ok && progress.failure !== undefined && progress.outcome !== 'cancelled') this.notices.failed();
      await this.notices.settled();
    });

    if (progress.outcome === 'cancelled')
      throw new CancelledFailure(`run of ${subjectText(this.subject)} was cancelled`);
    const why = progress.failure;
    if (why === undefined) return this.result();
    const { reason, next_step } = this.explain(why);
    throw failure(failureType(why), `${reason}. Next: ${next_step}`, why, this.result());
  }

  async #opened(answered: boolean): Promise<OpenAnswer<Opened, FailureOf<P>>> {
    try {
      return await this.open(answered);
    } catch (error) {
      const why = this.#lostClaim(error);
      return { ok: false, failure: why, notices: false, approved_by_another: false };
    }
  }

  /** Nothing to close: the subject does not exist, or another run has claimed it. */
  #refuse(why: FailureOf<P>, isKnown: boolean): void {
    const { progress } = this;
    progress.failure = why;
    progress.outcome = 'failed';
    this.opening = { ok: false, failure: why };
    if (!isKnown) this.notices.failed();
  }

  async #workAndClose(opened: Opened): Promise<void> {
    const { progress, control } = this;
    this.#isOpen(opened);
    await this.work(opened).catch((error: unknown) => {
      if (error instanceof RunEnded || (control.cancelled && isCancellation(error))) return;
      const why = stepError(error);
      progress.failure = this.stepFailed(isOldOfChild(error, why) ? { ...why, type: 'ChildFailed' } : why);
    });
    if (control.paused && progress.failure?.kind !== 'claim-lost') await control.mayStart();
    progress.outcome = this.outcome();
    progress.ended_at = Date.now();
    this.show();
    this.setAttributes({ RunPhase: progress.outcome, FailedNodes: this.failedNodes() });
    // Without the claim nothing of the run is ours to write.
    if (progress.failure?.kind !== 'claim-lost') await this.#close(opened);
  }

  #isOpen(opened: Opened): void {
    const { progress } = this;
    const row = this.rowOf(opened);
    this.opening = { ok: true, run: { id: progress.run_id, workflow_id: progress.workflow_id, ...row } };
    showRun(() => ({
      shown: {
        run_id: progress.run_id,
        kind: this.kind,
        subject: this.subject,
        started_at: isoTime(progress.started_at),
        ...given({ revision: this.revision() }),
        status: this.status(),
      },
      requests: progress.operator.length,
      changes: this.#changes,
      report: () => this.report(),
      plan: () => this.plan(),
    }));
    upsertMemo({ number: row.number });
    this.#known = opened.search_attributes;
    if (opened.approved_by_another) progress.approved_by_another = true;
    this.setAttributes({ SiteName: this.siteOf(opened), StartedBy: this.startedBy, FailedNodes: 0 });
  }

  async #close(opened: Opened): Promise<void> {
    const { progress } = this;
    const end = (why: FailureOf<P>): void => {
      progress.failure = why;
      if (progress.outcome !== 'cancelled') progress.outcome = 'failed';
    };
    await this.close(opened)
      .catch((error: unknown) => {
        if (!isInvalidAnswer(error)) throw error;
        // Someone completed it by hand, so nothing is written, and the claim is held: the step has failed.
        end(this.stepFailed(stepError(error)));
        this.show();
        return this.close(opened);
      })
      .catch((error: unknown) => {
        if (!isInvalidAnswer(error)) end(this.#lostClaim(error));
      });
  }

  /** @throws the error when it is another one */
  #lostClaim(error: unknown): FailureOf<P> {
    const why = this.stepFailed(stepError(error));
    if (why.kind !== 'claim-lost') throw error;
    return why;
  }
}

/**
 * Whether a child says that the run has lost its claim. A child proves it with its run, which may have been terminated then: after a reset it
 * goes on, and has the claim. Closing the run shows whether that is so. Runs of earlier builds believed the child.
 */
const isOldOfChild = (error: unknown, why: StepError): boolean =>
  error instanceof ChildWorkflowFailure && claimLost(why) !== undefined && patched('children-decide-no-claim');

/** Whether whoever started the run waits for so long: no one else needs to learn of a refusal then. */
function isAwaited(ms: number): boolean {
  const { memo, startTime } = workflowInfo();
  return memo?.[ANSWERED] !== undefined && Date.now() - startTime.getTime() < ms;
}
