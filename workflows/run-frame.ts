import { defineSearchAttributeKey, type SearchAttributePair } from '@temporalio/common';
import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  log,
  setCurrentDetails,
  upsertMemo,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenedRun, OpenedWithin, ShownRun } from '../activities/contract.ts';
import { given } from '../src/core/data/given.ts';
import type { RunDescription } from '../src/core/run/description.ts';
import { RUN_HELP } from '../src/core/run/help.ts';
import {
  type AnyProgress,
  addWarning,
  type Explained,
  failureType,
  isoTime,
  type MaasSilence,
  type OperatorAction,
  type RunAction,
  reach,
  type StepError,
  startHolds,
} from '../src/core/run/index.ts';
import type { ParsedRunInput } from '../src/core/run/input.ts';
import { SURELY_WAITS_MS } from '../src/core/run/opening.ts';
import { type RunSubject, subjectText } from '../src/core/run/subject.ts';
import { isInvalidAnswer } from './answers.ts';
import type { OpenedRow, RunOpening } from './contract.ts';
import { type Control, createControl } from './control.ts';
import { failure, stepError } from './failures.ts';
import { type AboutRun, createNotices, type Notices } from './notices.ts';
import { ANSWERED, type SearchAttributeName } from './protocol.ts';
import { validInput } from './run-input.ts';
import { showRun } from './run-status.ts';

/** PostgreSQL's column for a keyword; a longer one would fail every workflow task. */
const LONGEST_KEYWORD = 255;

type Attributes = Partial<Readonly<Record<SearchAttributeName, string | number | null | undefined>>>;

/** Common state of site runs and graph runs. */
export interface Run<P extends AnyProgress> {
  readonly progress: P;
  readonly control: Control;
  /** Updates the run's details in Temporal's Web UI, and its search attributes. */
  show(): void;
  /** Updates the details only. Unlike `show`, it leaves no trace in the history. */
  refresh(): void;
  /** Warns operators: in status, report and details, and in the worker's log. */
  warn(text: string): void;
  /** Sets the attributes that the server knows. An unknown one would fail every workflow task from then on. */
  setAttributes(values: Attributes): void;
  /** Those of them that the server knows, for a child. */
  attributesOf(values: Attributes): SearchAttributePair[];
  /** Records an operator's action. */
  acted(action: OperatorAction<RunAction>): void;
  readonly notices: Notices;
  /** Exactly these names of `hold_before` wait for approval now. */
  reached(names: readonly string[]): void;
  /** Shows whether MAAS answers. */
  maasSilence(silence: MaasSilence): void;
  /** Stands before the ids of workflows that the run starts; known once the run is opened. */
  prefix: string | undefined;
  /** Search attributes that the server knows; none before the run is opened. */
  known: readonly string[];
  /** Undefined before the run is opened or refused. */
  opening: RunOpening<NonNullable<P['failure']>> | undefined;
}

/** Differences between site runs and graph runs. */
interface RunKind<P extends AnyProgress, Opened extends OpenedRun, Result> {
  readonly kind: string;
  /** What the run claims. */
  readonly subject: RunSubject;
  status(): ShownRun['status'];
  revision?(): number | undefined;
  /** Claims the subject and writes the run's row. @param answered whether whoever started the run waits for the answer */
  open(answered: boolean): Promise<OpenAnswer<Opened, NonNullable<P['failure']>>>;
  /** The site of the opened run. */
  siteOf(opened: Opened): string | null;
  rowOf(opened: Opened): Pick<OpenedRow, 'transaction' | 'warnings'>;
  work(opened: Opened): Promise<void>;
  stepFailed(error: StepError): NonNullable<P['failure']>;
  /** Nodes that have failed so far. */
  failedNodes(): number;
  /** Called once work has ended. */
  outcome(): NonNullable<P['outcome']>;
  /** Writes the report and releases the claim. */
  close(opened: Opened): Promise<void>;
  explain(failure: NonNullable<P['failure']>): Explained;
  result(): Result;
}

type OpenAnswer<Opened extends OpenedRun, Failure> =
  | (Opened & { readonly ok: true })
  | (OpenedWithin & { readonly ok: false; readonly failure: Failure });

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

/** The run's identity in the store. */
export const identityOf = ({ workflow_id, run_id }: AnyProgress) => ({ workflow_id, run_id });

/**
 * @param record records an operator action
 * @param about the description of the run in notices
 * @param shown called after each update of the details
 */
export function createRun<P extends AnyProgress<RunDescription & { readonly started_by?: string }>>(
  progress: P,
  details: (progress: P) => string,
  record: (action: OperatorAction<RunAction>) => void,
  about: () => AboutRun,
  shown: () => void = () => undefined,
): Run<P> {
  let phase: Attributes['RunPhase'];
  const control = createControl((action) => {
    record(action);
    run.show();
    if (action.action === 'pause' || action.action === 'resume') showPause();
  });
  /** So that paused runs can be found in Temporal: `RunPhase='paused'`. */
  const showPause = (): void => {
    if (phase !== undefined) run.setAttributes({ RunPhase: control.paused ? 'paused' : phase });
  };
  const run: Run<P> = {
    progress,
    control,
    known: [],
    opening: undefined,
    prefix: undefined,
    acted: record,
    notices: createNotices(progress, about),
    show() {
      run.refresh();
      shown();
    },
    refresh() {
      progress.paused = control.paused;
      progress.stopping = control.stopping;
      setCurrentDetails(details(progress));
    },
    warn(text) {
      log.warn(text);
      if (addWarning(progress.warnings, text)) run.refresh();
    },
    reached(names) {
      const holds = reach(progress.holds, names, isoTime(Date.now()));
      if (holds.every((hold, at) => hold === progress.holds[at])) return;
      progress.holds = holds;
      run.notices.waits();
      run.show();
    },
    maasSilence(silence) {
      progress.maas_silent_since = silence.since;
      control.maasSilence(silence);
      run.show();
    },
    setAttributes(values) {
      if (values.RunPhase !== undefined && values.RunPhase !== 'paused') phase = values.RunPhase;
      const pairs = run.attributesOf(values);
      if (pairs.length > 0) upsertSearchAttributes(pairs);
    },
    attributesOf(values) {
      return Object.entries(values).flatMap(([name, value]): SearchAttributePair[] => {
        if (value === undefined || value === null || !run.known.includes(name)) return [];
        return typeof value === 'number'
          ? [{ key: defineSearchAttributeKey(name, 'INT'), value }]
          : [{ key: defineSearchAttributeKey(name, 'KEYWORD'), value: value.slice(0, LONGEST_KEYWORD) }];
      });
    },
  };
  return run;
}

/**
 * The frame of every run: claims its subject, does the work and always closes it with a report. Set the operator
 * handlers before, so that they answer from the start.
 */
export async function runInFrame<
  P extends AnyProgress<{ readonly started_by?: string }>,
  Opened extends OpenedRun,
  Result,
>(run: Run<P>, kind: RunKind<P, Opened, Result>): Promise<Result> {
  const { progress, control } = run;
  showHelp();
  run.show();
  void CancellationScope.current().cancelRequested.catch(() => control.cancel());

  /** @throws the error when it is another one */
  const lostClaim = (error: unknown): NonNullable<P['failure']> => {
    const why = kind.stepFailed(stepError(error));
    if (why.kind !== 'claim-lost') throw error;
    return why;
  };

  await CancellationScope.nonCancellable(async () => {
    const answered = isAwaited(SURELY_WAITS_MS.accept);
    const opened = await kind.open(answered).catch(
      (error: unknown) =>
        ({
          ok: false,
          failure: lostClaim(error),
          notices: false,
          approved_by_another: false,
          prefix: undefined,
        }) as const,
    );
    run.prefix = opened.prefix;
    if (opened.notices) run.notices.enable(opened.prefix);
    if (!opened.ok) {
      // Nothing to close: the subject does not exist, or another run has claimed it.
      progress.failure = opened.failure;
      progress.outcome = 'failed';
      run.opening = { ok: false, failure: opened.failure };
      if (!answered || !isAwaited(SURELY_WAITS_MS.open)) run.notices.failed(kind.explain(opened.failure));
      await condition(allHandlersFinished);
      await run.notices.settled();
      return;
    }
    const row = kind.rowOf(opened);
    run.opening = { ok: true, run: { id: progress.run_id, workflow_id: progress.workflow_id, ...row } };
    showRun(() => ({
      run_id: progress.run_id,
      kind: kind.kind,
      subject: kind.subject,
      started_at: isoTime(progress.started_at),
      ...given({ revision: kind.revision?.() }),
      status: kind.status(),
      requests: progress.operator.length,
    }));
    if (row.transaction !== undefined) upsertMemo({ transaction: row.transaction });
    run.known = opened.search_attributes;
    if (opened.approved_by_another) progress.approved_by_another = true;
    run.setAttributes({ SiteName: kind.siteOf(opened), StartedBy: progress.input.started_by, FailedNodes: 0 });
    await kind.work(opened).catch((error: unknown) => {
      if (control.cancelled && isCancellation(error)) return;
      progress.failure = kind.stepFailed(stepError(error));
    });
    if (control.paused && progress.failure?.kind !== 'claim-lost') await control.mayStart();
    progress.outcome = kind.outcome();
    progress.ended_at = Date.now();
    run.show();
    run.setAttributes({ RunPhase: progress.outcome, FailedNodes: kind.failedNodes() });
    // Without the claim nothing of the run is ours to write.
    if (progress.failure?.kind !== 'claim-lost') {
      const end = (failure: NonNullable<P['failure']>): void => {
        progress.failure = failure;
        if (progress.outcome !== 'cancelled') progress.outcome = 'failed';
      };
      await kind
        .close(opened)
        .catch((error: unknown) => {
          if (!isInvalidAnswer(error)) throw error;
          // Someone completed it by hand, so nothing is written, and the claim is held: the step has failed.
          end(kind.stepFailed(stepError(error)));
          run.show();
          return kind.close(opened);
        })
        .catch((error: unknown) => {
          if (!isInvalidAnswer(error)) end(lostClaim(error));
        });
    }
    await condition(allHandlersFinished);
    if (progress.failure !== undefined && progress.outcome !== 'cancelled')
      run.notices.failed(kind.explain(progress.failure));
    await run.notices.settled();
  });

  if (progress.outcome === 'cancelled') throw new CancelledFailure(`run of ${subjectText(kind.subject)} was cancelled`);
  const why = progress.failure;
  if (why === undefined) return kind.result();
  const { reason, next_step } = kind.explain(why);
  throw failure(failureType(why), `${reason}. Next: ${next_step}`, why, kind.result());
}

/** Whether whoever started the run waits for so long: no one else needs to learn of a refusal then. */
function isAwaited(ms: number): boolean {
  const { memo, startTime } = workflowInfo();
  return memo?.[ANSWERED] !== undefined && Date.now() - startTime.getTime() < ms;
}

/** Who starts a run with Temporal's tools sets no memo. */
function showHelp(): void {
  if (workflowInfo().memo?.help === undefined) upsertMemo({ help: RUN_HELP });
}

/** Identity and end time of a run, for the activity that closes it. */
export const endOf = (progress: AnyProgress) => ({
  ...identityOf(progress),
  ended_at: isoTime(progress.ended_at ?? Date.now()),
});
