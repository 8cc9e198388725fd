import type { New, Stored } from '../tables.ts';
import type { Json, Page, PageRequest } from './page.ts';

export type RunRecord = Stored<'run'>;

/** What a list of runs shows of one. */
export type RunSummary = Omit<RunRecord, 'sequence' | 'parameters'>;

/**
 * The state of a run at one moment. An absent field keeps the stored value. Writes of a run may be repeated and may
 * arrive out of order. Fields of identity and origin keep the first value ever written, whatever its sequence. Progress
 * fields are taken only from a write with a higher sequence than all before; there, null clears a field.
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
  /** ISO 8601; started at or after this moment. */
  readonly since?: string;
  /** ISO 8601; started before this moment. */
  readonly until?: string;
  /** Only running runs (`true`) or only ended ones (`false`). */
  readonly open?: boolean;
  /** Only runs whose id, workflow, kind, site, title, starter, reason or failure holds this, in any case. */
  readonly text?: string;
}

/** The state of a node in one run. */
export type RunNode = Omit<Stored<'runNode'>, 'runId' | 'sequence'>;

/**
 * The state of a node at one moment of a run. As with RunWrite, an absent field keeps its value, null clears it, and
 * the sequence, here per run and node, decides. The first `systemId` and `lateResult` stay.
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
 * Records of runs. Temporal has the truth about a running run; lists, reports and histories are read from here when
 * Temporal is down or has deleted the history. Every write may be repeated.
 */
export interface RunStore {
  /** Creates or updates the run, and returns what is stored now. */
  put(run: RunWrite): Promise<RunRecord>;
  /** @throws `not-found` */
  get(id: string): Promise<RunRecord>;
  /** Newest first, by start. */
  list(filter?: RunFilter): Promise<Page<RunSummary>>;

  /** Numbers of runs by their ids: 1 is the one that started first. */
  numbers(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /** Number of runs by kind, phase and outcome; the outcome of a running run is null. */
  count(): Promise<readonly RunCount[]>;

  /**
   * Stores a report, any JSON of any size, for a stored run. Drops it if its sequence is not higher than the stored
   * one.
   */
  putReport(runId: string, sequence: number, report: unknown): Promise<void>;
  /** The newest report; undefined while there is none. @throws `not-found` for the run. */
  getReport(runId: string): Promise<Json | undefined>;

  /** Updates any number of nodes of a stored run, all or none. @throws `not-found` for the run. */
  putNodes(runId: string, nodes: readonly RunNodeWrite[]): Promise<void>;
  /** By node name, ascending. @throws `not-found` for the run. */
  listNodes(runId: string, filter?: { readonly state?: string; readonly group?: string }): Promise<readonly RunNode[]>;
  /** One node of a site over its runs, newest first. */
  listNodeHistory(site: string, node: string, page?: PageRequest): Promise<Page<NodeHistoryEntry>>;
}
