import * as z from 'zod/mini';
import { planned } from '../src/core/checks/check.ts';
import type { Pace, ShownPlan, SitePlan } from '../src/core/contracts/site-run.ts';
import type { RunReport } from '../src/core/contracts/site-run-report.ts';
import type { Wire } from '../src/core/contracts/wire.ts';
import { flag, number, optional, text, texts, time, whole, wholes } from '../src/core/data/schema.ts';
import type { NodeResult } from '../src/core/deployment/baremetal.ts';
import type { PermitAnswer } from '../src/core/permits/answer.ts';
import type { PermitWork } from '../src/core/permits/limits.ts';
import { rolloutPolicy } from '../src/core/rollout/policy.ts';
import type { StartedWith } from '../src/core/run/passed-on.ts';
import type { MaasSilence } from '../src/core/run/silence.ts';
import type { AnyRunReport, AnyRunStatus } from '../src/core/run/status.ts';
import type { RunSubject } from '../src/core/run/subject.ts';
import { runFailure } from '../src/core/site-run/failure.ts';
import type { NodeWrite } from '../src/core/site-run/report.ts';
import type { SiteRunKind, SiteRunOutcome } from '../src/core/words.ts';

/**
 * The activities that site workflows may call: workflows import this file, activities implement it. Of requests, types only; an
 * answer is read by its schema before a workflow uses it.
 * The names are wire names that operators see (workflows/protocol.ts lists them).
 */
export interface SiteActivities {
  /** Claims the site for this run and writes the run's row. Safe to repeat. */
  open_run(request: OpenRun): Promise<OpenRunAnswer>;
  /** Takes the documents from the branch that the site follows and stores them as a revision. Safe to repeat. */
  fetch_source(request: FetchSource): Promise<FetchSourceAnswer>;
  /** Loads and validates a revision, resolves groups, and for update_site finds the changes. */
  load_plan(request: LoadPlan): Promise<LoadPlanAnswer>;
  verify_site(request: SiteCheck): Promise<SiteCheckAnswer>;
  prepare_site(request: SiteCheck): Promise<SiteCheckAnswer>;
  /** Brings a machine into a state from which it can be deployed. */
  prepare_node(request: NodeCall): Promise<NodeResult>;
  deploy_node(request: NodeCall): Promise<NodeResult>;
  release_node(request: NodeCall): Promise<NodeResult>;
  /** Aborts the work of MAAS for a node whose call ended without a result. Returns the state it found. */
  abort_node(request: NodeCall): Promise<AbortAnswer>;
  /** The errors of the attempts before of activities that this workflow waits for, by their ids. */
  last_errors(request: LastErrors): Promise<Readonly<Record<string, string>>>;
  /** Whether MAAS answers now, for whoever cannot wait for it; in seconds. */
  ask_maas(): Promise<MaasSilence>;
  /** Reads the state of a node and changes nothing. */
  look_at_node(request: NodeCall): Promise<AbortAnswer>;
  /** For test_site: reads the real state of every node and changes nothing. */
  inspect_nodes(request: InspectNodes): Promise<Wire<typeof inspectNodesAnswer>>;
  /** Asks one check of a site, of at most a hundred nodes, until it has a verdict. Changes nothing on them. */
  run_check(request: RunCheck): Promise<RunCheckAnswer>;
  record_nodes(request: NodesRecord): Promise<void>;
  /** Gives permits of machines back, and takes those that the limits of their site leave the run now. Safe to repeat. */
  take_permits(request: TakePermits): Promise<PermitAnswer>;
  /** As `take_permits`, and waits for the first of them, or until they wait for something else. */
  await_permits(request: TakePermits): Promise<PermitAnswer>;
  /**
   * Writes the final report, marks a good revision and releases the site. Safe to repeat. `records-differ`, and nothing is written,
   * if the store says something else of the nodes than the run does: it was restored from an older copy, say.
   */
  close_run(request: CloseRun): Promise<'records-differ' | undefined>;
}

/** What runs of both kinds ask of the audit trail. */
export interface AuditActivities {
  /** Whether an API has recorded an approval before it passed it on. */
  find_approval(request: ApprovalAsked): Promise<{ readonly found: boolean }>;
}

export interface ApprovalAsked {
  readonly run_id: string;
  /** Id of the entry. */
  readonly entry: string;
  readonly by: string;
  readonly before?: string | undefined;
}

export interface OpenRun {
  readonly kind: SiteRunKind;
  readonly site: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly started_at: string;
  readonly started_by?: string | undefined;
  readonly reason?: string | undefined;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** See `OpenGraphRun`. */
  readonly answered: boolean;
  readonly start?: StartedWith | undefined;
}

/** Settings of this installation that a run must know, whether it was opened or refused. */
export const openedWithin = {
  /** Another person than who started the run must approve. */
  approved_by_another: flag,
  /** Someone may want notices about the run. */
  notices: flag,
  ...optional({
    /** Who started it: a name that an API has verified, or a claim, which says so. Absent: nobody is named. */
    started_by: text,
    /** Prefix of the ids of workflows that the run starts (`prefixed`). */
    prefix: text,
  }),
};
export type OpenedWithin = Wire<z.ZodMiniObject<typeof openedWithin>>;

/** An answer without the settings of the installation. */
export type OpenedAlone<Answer> = Answer extends unknown
  ? Omit<Answer, Exclude<keyof OpenedWithin, 'started_by'>>
  : never;

/** The answer to every run that was opened. */
export const openedRun = {
  /** Those that this server knows. Setting another one would block the workflow. */
  search_attributes: texts,
  ...openedWithin,
};
export type OpenedRun = Wire<z.ZodMiniObject<typeof openedRun>>;

export const done = { ok: z.literal(true) };
/** The answer of an activity that may find that the run has to fail. */
export const failing = <F extends z.core.$ZodType>(failure: F) => ({ ok: z.literal(false), failure });

export const openRunAnswer = z.discriminatedUnion('ok', [
  z.object({
    ...done,
    /** The run's, for people. */
    number: whole,
    ...openedRun,
  }),
  z.object({ ...failing(runFailure), ...openedWithin }),
]);
export type OpenRunAnswer = Wire<typeof openRunAnswer>;

interface FetchSource {
  readonly site: string;
}

export const fetchSourceAnswer = z.discriminatedUnion('ok', [
  /** `deployed`: it is the revision that was deployed last. */
  z.object({ ...done, revision: whole, commit: text, deployed: flag }),
  z.object(failing(runFailure)),
]);
export type FetchSourceAnswer = Wire<typeof fetchSourceAnswer>;

export interface LoadPlan {
  readonly kind: SiteRunKind;
  readonly site: string;
  readonly revision?: string | number | undefined;
  readonly nodes?: readonly string[] | undefined;
  /** Names that the strategy must have. */
  readonly hold_before?: readonly string[];
  /** Names that the documents must have. */
  readonly adopt?: readonly string[];
  readonly checks?: readonly string[];
}

const pace = z.object({ interval: number, timeout: number });

/** As the API shows it, which says more about its fields. */
const sitePlan: z.core.$ZodType<SitePlan> = z.object({
  ...{ site: text, revision: whole, hash: text, nodes: texts, done: wholes, removed: texts, warnings: texts },
  groups: z.array(
    z.object({
      ...{ name: text, critical: flag, depends_on: texts, nodes: wholes },
      ...optional({
        success_criteria: z.object(
          optional({
            percent_successful_nodes: number,
            minimum_successful_nodes: number,
            maximum_failed_nodes: number,
          }),
        ),
        rollout: z.extend(rolloutPolicy, { order: wholes }),
      }),
    }),
  ),
  pace: z.object({
    ...{ verify_site: pace, prepare_site: pace, prepare: pace, deploy: pace, release: pace },
    ...{ max_parallel_nodes: whole, heartbeat_seconds: number },
  }),
  ...optional({
    ...{ commit: text, commit_url: text, cluster: whole },
    maintenance: z.array(z.object({ node: text, reason: text, since: time, by: text })),
    limits: z.object({ at_a_time: whole }),
    checks: z.array(planned),
  }),
});

export const loadPlanAnswer = z.discriminatedUnion('ok', [
  z.object({ ...done, plan: sitePlan }),
  z.object(failing(runFailure)),
]);
export type LoadPlanAnswer = Wire<typeof loadPlanAnswer>;

export interface SiteCheck {
  readonly site: string;
  readonly revision: number;
  readonly pace: Pace;
  /** Check only these nodes; absent: all. */
  readonly nodes?: readonly string[];
  /** The nodes will be released: also check that no release would be refused. */
  readonly release?: boolean;
  /** Nodes whose machines the run takes over. */
  readonly adopt?: readonly string[];
}

export const siteCheckAnswer = z.object({
  ok: flag,
  problems: texts,
  warnings: texts,
  ...optional({
    /** Changes made in MAAS. */
    changes: texts,
  }),
});
export type SiteCheckAnswer = Wire<typeof siteCheckAnswer>;

export interface TakePermits {
  /** What the run has claimed. */
  readonly subject: RunSubject;
  readonly run_id: string;
  /** The site of the machines. Absent: names are ids of nodes of the cluster. */
  readonly site?: string;
  readonly work: PermitWork;
  /** Names of machines, in the order in which the run would touch them. */
  readonly wants: readonly string[];
  /** Those on which it has succeeded, has failed, and has done nothing: it needs their permits no more. */
  readonly done?: readonly string[];
  readonly failed?: readonly string[];
  readonly unused?: readonly string[];
  /**
   * Those whose permits for this work the run has, by all that it has heard. Others that it was given before it asked go back: of before a
   * reset, or before the store was restored. Absent: it cannot tell.
   */
  readonly holds?: readonly string[];
  /** The run was started with the right to go beyond the limits. */
  readonly overrides?: boolean;
}

export interface NodeCall {
  readonly site: string;
  readonly revision: number;
  readonly node: string;
  readonly run_id: string;
  /** Starts at 1 and grows with each operator's retry, so that an old failure is not taken for the result of the retry. */
  readonly attempt: number;
  /** Known from an earlier call. Host names can change, this id cannot. */
  readonly system_id?: string;
  /** Longest poll interval, in seconds. */
  readonly interval: number;
  /** release_node: also erase the disks. */
  readonly erase?: boolean;
  /** Take its machine over, if something else deployed it with our MAAS user. */
  readonly adopt?: boolean;
  /** The run must have a permit for the machine. */
  readonly permit?: 'needed' | 'overridden';
}

export const abortAnswer = z.object({
  /** `deployed` and `ready` mean that the work succeeded after all: a late result. */
  found: z.enum(['aborted', 'deployed', 'ready', 'failed', 'running', 'nothing']),
  message: text,
});
export type AbortAnswer = Wire<typeof abortAnswer>;

export interface LastErrors {
  /** Ids of activities. */
  readonly activities: readonly string[];
}

interface InspectNodes {
  readonly site: string;
  readonly revision: number;
  /** Only these; absent: all. */
  readonly nodes?: readonly string[];
}

export const inspectNodesAnswer = z.object({
  counts: z.record(z.string(), whole),
  /** Nodes that differ from the documents, each with the reason; at most 300. */
  problems: z.array(z.object({ node: text, problem: text })),
});

export interface RunCheck {
  readonly site: string;
  readonly run_id: string;
  /** Of a run of graphs on it; absent: the run has the site. */
  readonly cluster?: number;
  readonly revision: number;
  readonly check: string;
  /** Absent: the check is asked once. */
  readonly nodes?: readonly string[];
  /** The run of graphs in which nodes have asked. */
  readonly ran?: AskingRun;
}

export interface AskingRun {
  readonly workflow_id: string;
  readonly run_id: string;
  /** Those of its graphs that asked; absent: all of them. */
  readonly graphs?: readonly number[];
}

/** Under a kilobyte. */
export const runCheckAnswer = z.object({
  /** Empty: all are well. `nodes`: their positions in the request; none if the check is asked once. */
  unwell: z.array(z.object({ verdict: z.enum(['failed', 'unknown']), text, nodes: wholes })),
});
export type RunCheckAnswer = Wire<typeof runCheckAnswer>;

/** A run as it shows itself to the store. */
export interface ShownRun {
  readonly run_id: string;
  readonly kind: string;
  readonly subject: RunSubject;
  readonly started_at: string;
  /** Of a run on a site that has loaded its documents. */
  readonly revision?: number;
  /** The same, once: what is shown again has none. */
  readonly plan?: ShownPlan;
  readonly status: AnyRunStatus;
  /** The report so far; of a large site run, without nodes that are recorded (`fitReport`). */
  readonly report: AnyRunReport;
}

export interface NodesRecord {
  readonly run_id: string;
  /** Absent: of a run that an earlier build began. */
  readonly site?: string;
  /** Grows with each record of a run: an older record never overwrites a newer one. */
  readonly sequence: number;
  readonly nodes: readonly NodeWrite[];
}

export interface CloseRun {
  readonly kind: SiteRunKind;
  readonly site: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly outcome: SiteRunOutcome;
  readonly ended_at: string;
  /** Without nodes: `record_nodes` has recorded them. */
  readonly report: RunReport;
  readonly failed_nodes: number;
  /** What the run knows of its nodes (`digestOfRecords`). Absent: not compared. */
  readonly records?: string;
  /** The revision that is now deployed on this site. */
  readonly deployed_revision?: number;
}
