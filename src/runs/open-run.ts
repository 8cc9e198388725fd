import { given } from '../core/data/given.ts';
import { isMapping } from '../core/data/plain-value.ts';
import { claimedName } from '../core/run/claimed-name.ts';
import { refusedId, STARTED, type StartedWith } from '../core/run/passed-on.ts';
import type { RunSubject } from '../core/run/subject.ts';
import { GRAPH_RUN_KIND } from '../core/words.ts';
import { type ClaimHolder, type RunFilter, StoreError } from '../store/index.ts';
import { assertOwn, type Execution, type Fence, openClaim, releaseClaim } from './claims.ts';
import { closeGone, type Ends, listRefused, type OpenedRun } from './life.ts';

/** Why a run cannot be opened; else how its record is written, repeatably, with the name of its starter that can be believed. */
export type Checked<Failure, Made> =
  | { readonly ok: false; readonly failure: Failure }
  | { readonly ok: true; readonly record: (run: OpenedRun) => Promise<Made> };

/** What a run on a site, or one of graphs, does in its own way when it opens. */
export interface Opening<Failure, Made> {
  readonly subject: RunSubject;
  /** The run as it asks to be opened. */
  readonly run: OpenedRun;
  readonly start?: StartedWith | undefined;
  /** Whoever started the run waits for the answer: a refusal then needs no row in the list of runs. */
  readonly isAwaited: boolean;
  /** Where there is no such subject. */
  readonly absent: Failure;
  /** While another run has it. */
  busy(holder: ClaimHolder): Promise<Failure>;
  /** Whether it can be opened as it is asked for; the run has its subject by now. */
  check(): Promise<Checked<Failure, Made>>;
  /** What the audit trail says of the start. */
  details(made: Made): object | undefined;
  explain(failure: Failure): string;
}

type Opened<Failure, Made> = { readonly started_by?: string } & (
  | { readonly ok: true; readonly made: Made }
  | { readonly ok: false; readonly failure: Failure }
);

/**
 * Opens a run, whatever it runs on: claims its subject, closes what has ended there without closing itself, checks the request, writes the
 * record and the entry of the audit trail. Safe to repeat.
 *
 * @param me the execution that asks
 * @throws ApplicationFailure of type `ClaimLost` for one that is not the run
 */
export async function openRun<Failure, Made>(
  deps: Fence & Ends,
  me: Execution,
  opening: Opening<Failure, Made>,
): Promise<Opened<Failure, Made>> {
  const { store } = deps;
  const { subject } = opening;
  const holder = { workflowId: opening.run.workflow_id, runId: opening.run.run_id };
  await assertOwn(deps, subject, holder, me);
  const { entry, parent: _parent, ...starter } = await starterOf(deps, holder, opening.run.started_by, opening.start);
  const { started_by: _claimed, ...unnamed } = opening.run;
  const run = { ...unnamed, ...starter };
  const checked = await claimedAndChecked(deps, me, holder, opening);
  if (!checked.ok) {
    if (!opening.isAwaited) await listRefused(store, run, opening.explain(checked.failure));
    return { ok: false, failure: checked.failure, ...starter };
  }
  const made = await checked.record(run);
  await auditStart(deps, run, subject, entry, opening.details(made));
  return { ok: true, made, ...starter };
}

/** The run has its claim when the answer is `ok`. */
async function claimedAndChecked<Failure, Made>(
  deps: Fence & Ends,
  me: Execution,
  holder: ClaimHolder,
  { subject, absent, busy, check }: Opening<Failure, Made>,
): Promise<Checked<Failure, Made>> {
  let other: ClaimHolder | null;
  try {
    other = await openClaim(deps, subject, holder, me);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const { kind } = error.failure;
    // A name that no site can have is invalid.
    if (kind !== 'not-found' && kind !== 'invalid') throw error;
    return { ok: false, failure: absent };
  }
  if (other !== null) return { ok: false, failure: await busy(other) };
  await closeGone(deps, runsOn(subject));
  const checked = await check();
  if (!checked.ok) await releaseClaim(deps.store, subject, holder);
  return checked;
}

const runsOn = (subject: RunSubject): Pick<RunFilter, 'site' | 'kind' | 'labels'> =>
  'site' in subject ? subject : { kind: GRAPH_RUN_KIND, labels: [['cluster', String(subject.cluster)]] };

/** Who started a run: a name that can be believed, or what it claims. Nobody, where it names nobody. `parent`: the id of the run that it is a child of. */
export async function starterOf(
  { store, execution }: Fence,
  { workflowId, runId }: ClaimHolder,
  name: string | undefined,
  { entry, parent }: StartedWith = {},
): Promise<{ readonly started_by?: string; readonly entry?: string; readonly parent?: string }> {
  if (name === undefined) return {};
  if (entry !== undefined) {
    const found = new Map(
      (await store.audit.find([entry, startId(entry), refusedId(entry)])).map((one) => [one.id, one]),
    );
    const { action, target, actor } = found.get(entry) ?? {};
    const isOurs = action === STARTED && target === `workflow/${workflowId}` && actor === name;
    // A start that an API passed on opens one run.
    const opened = found.get(startId(entry))?.details;
    const isUsed = found.has(refusedId(entry)) || (isMapping(opened) && opened.run !== runId);
    if (isOurs && !isUsed) return { started_by: name, entry };
  }
  if (parent !== undefined) {
    const { items } = await store.runs.list({ workflowId: parent, open: true, limit: 1 });
    const now = items[0] && (await execution(parent, items[0].id));
    const isChild = now?.children.some((child) => child.workflowId === workflowId) ?? false;
    if (isChild && items[0]!.startedBy === name) return { started_by: name, parent: items[0]!.id };
  }
  return { started_by: claimedName(name) };
}

const startId = (of: string): string => `start-${of}`;

/** Adds the start of a run to the audit trail, once. @param entry which proves who started it */
const auditStart = (
  { store }: Pick<Fence, 'store'>,
  { kind, run_id, started_at, started_by, reason }: OpenedRun,
  subject: RunSubject,
  entry: string | undefined,
  details: object | undefined,
): Promise<unknown> =>
  store.audit.append({
    id: startId(entry ?? run_id),
    at: started_at,
    actor: started_by ?? claimedName(undefined),
    action: `run.${kind}`,
    target: 'site' in subject ? `site/${subject.site}` : `cluster/${subject.cluster}`,
    ...given({ details: entry === undefined ? details : { ...details, run: run_id }, reason }),
  });
