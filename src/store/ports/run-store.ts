import type { Json, Page, PageRequest } from './page.js';

/** What a list of runs shows of one. */
export interface RunSummary {
  /** Stable for ever; the key of the run. */
  readonly id: string;
  readonly workflowId: string;
  readonly temporalRunId: string | null;
  /** `deploy_site`, `update_site`, `redeploy_nodes`, `test_site`, `execute_graph` … */
  readonly kind: string;
  readonly site: string | null;
  readonly revision: number | null;
  readonly title: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: string;
  /** Null while the run is under way. */
  readonly outcome: string | null;
  readonly startedBy: string | null;
  readonly reason: string | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly failedNodes: number | null;
}

export interface RunRecord extends RunSummary {
  /** Of the newest write that was applied. */
  readonly sequence: number;
  readonly parameters: Json;
}

/**
 * What is known of a run at one moment. An absent field says nothing: what is stored stays. Writes of a run may be
 * repeated and may arrive late, even before the first; the rules are at the fields.
 */
export interface RunWrite {
  readonly id: string;
  /**
   * Rises with every write of a run. Fields of the progress are taken only from a write whose sequence is higher than
   * any before; a write with a sequence already reached changes none of them.
   */
  readonly sequence: number;

  // Identity and circumstances: the first write that has a field decides, whatever its sequence.
  readonly workflowId: string;
  readonly kind: string;
  readonly startedAt: string;
  readonly temporalRunId?: string;
  readonly site?: string;
  readonly startedBy?: string;
  /** Why it was started. */
  readonly reason?: string;
  readonly title?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Any JSON; what cannot be written as such is refused as `invalid`. */
  readonly parameters?: unknown;
  readonly revision?: number;

  // Progress: null clears a field.
  readonly phase: string;
  readonly outcome?: string | null;
  readonly endedAt?: string | null;
  readonly failedNodes?: number | null;
}

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
export interface RunNode {
  readonly node: string;
  readonly state: string;
  readonly group: string | null;
  /** What is being done, or was done last: `prepare`, `deploy` … */
  readonly step: string | null;
  readonly attempts: number | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly reason: string | null;
  readonly systemId: string | null;
  /** A result that came after its call had timed out; it changed nothing. */
  readonly lateResult: Json;
}

/**
 * How a node stands at one moment of a run. As with RunWrite, absent says nothing, null clears, and the sequence, here
 * per run and node, decides: only a write with a higher one than any before changes what is set.
 */
export interface RunNodeWrite {
  readonly node: string;
  readonly sequence: number;
  readonly state: string;
  readonly group?: string | null;
  readonly step?: string | null;
  readonly attempts?: number | null;
  readonly startedAt?: string | null;
  readonly endedAt?: string | null;
  readonly reason?: string | null;
  /** The first one known stays, whatever its sequence. */
  readonly systemId?: string;
  /** Any JSON. The first one that comes stays, whatever its sequence: it is late by definition. */
  readonly lateResult?: unknown;
}

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
