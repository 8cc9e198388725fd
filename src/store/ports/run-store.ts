import type { New, Stored } from '../tables.js';
import type { Json, Page, PageRequest } from './page.js';

export type RunRecord = Stored<'run'>;

/** What a list of runs shows of one. */
export type RunSummary = Omit<RunRecord, 'sequence' | 'parameters'>;

/**
 * What is known of a run at one moment. An absent field says nothing: what is stored stays. Writes of a run may be
 * repeated and may arrive late, even before the first. Of its identity and circumstances the first value known stays,
 * whatever the sequence of its write; its progress is taken only from a write whose sequence is higher than any
 * before, where null clears a field.
 */
export type RunWrite = New<'run'>;

export interface RunCount {
  readonly kind: string;
  readonly phase: string;
  readonly outcome: string | null;
  readonly count: number;
}

export interface RunFilter extends PageRequest {
  readonly site?: string;
  /** One or several kinds. */
  readonly kind?: string | readonly string[];
  readonly phase?: string | readonly string[];
  readonly outcome?: string | readonly string[];
  readonly workflowId?: string;
  /** Only runs that have all of these. */
  readonly labels?: readonly (readonly [name: string, value: string])[];
  readonly startedBy?: string;
  /** ISO 8601; started from this moment on. */
  readonly since?: string;
  /** ISO 8601; started before this moment. */
  readonly until?: string;
  /** Only runs still under way (`true`) or only ended ones (`false`). */
  readonly open?: boolean;
}

/** How a node stands, or stood, in one run. */
export type RunNode = Omit<Stored<'runNode'>, 'runId' | 'sequence'>;

/**
 * How a node stands at one moment of a run. As with RunWrite, absent says nothing, null clears, and the sequence, here
 * per run and node, decides; the first `systemId` and `lateResult` known stay.
 */
export type RunNodeWrite = New<'runNode'>;

/** A node's part in one run, with the run. */
export interface NodeHistoryEntry extends RunNode {
  readonly run: Pick<
    RunSummary,
    'id' | 'workflowId' | 'kind' | 'site' | 'revision' | 'phase' | 'outcome' | 'startedAt' | 'endedAt'
  >;
}

/**
 * What runs did. Temporal holds the truth of a run under way; this is what lists, reports and histories are read from
 * when Temporal is down or has forgotten. Every write may be repeated.
 */
export interface RunStore {
  /** Creates the run or brings it up to date, and answers with what is stored now. */
  put(run: RunWrite): Promise<RunRecord>;
  /** @throws `not-found` */
  get(id: string): Promise<RunRecord>;
  /** Newest first, by start. */
  list(filter?: RunFilter): Promise<Page<RunSummary>>;

  /** How many there are of each kind, phase and outcome that occur; of runs under way the outcome is null. */
  count(): Promise<readonly RunCount[]>;

  /** Stores a report, any JSON of any size, for a run that is stored. One with a sequence already reached is dropped. */
  putReport(runId: string, sequence: number, report: unknown): Promise<void>;
  /** The newest report; undefined while there is none. @throws `not-found` for the run. */
  getReport(runId: string): Promise<Json | undefined>;

  /** Brings nodes of a stored run up to date, all or none; any number of them. @throws `not-found` for the run. */
  putNodes(runId: string, nodes: readonly RunNodeWrite[]): Promise<void>;
  /** By node name, ascending. @throws `not-found` for the run. */
  listNodes(runId: string, filter?: { readonly state?: string; readonly group?: string }): Promise<readonly RunNode[]>;
  /** One node of a site over its runs, newest first. */
  listNodeHistory(site: string, node: string, page?: PageRequest): Promise<Page<NodeHistoryEntry>>;
}
