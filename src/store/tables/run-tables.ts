import type { Json } from '../ports/page.js';
import { anyJson, count, json, key, text, time } from './column.js';

/** Runs of either kind, and the audit trail. */
export const runTables = {
  /** Writes of a run are merged: the first value of a column stays, unless it is declared `newest()`. */
  run: {
    /** Stable for ever; the key of the run. */
    id: key(),
    /** Of the newest write that was applied; it rises with every write of a run. */
    sequence: count().newest(),
    workflowId: key(),
    temporalRunId: key().nullable(),
    /** `deploy_site`, `update_site`, `redeploy_nodes`, `test_site`, `execute_graph` … */
    kind: key(),
    site: key().nullable(),
    revision: count().nullable(),
    title: text().nullable(),
    labels: json<Readonly<Record<string, string>>>().nullableAs({}),
    /** Any JSON; what cannot be written as such is refused as `invalid`. */
    parameters: anyJson(),
    phase: key().newest(),
    /** Null while the run is under way. */
    outcome: key().nullable().newest(),
    startedBy: text().nullable(),
    /** Why it was started. */
    reason: text().nullable(),
    startedAt: time(),
    endedAt: time().nullable().newest(),
    failedNodes: count().nullable().newest(),
  },
  /** Apart from the run: megabytes that no list should read past. */
  runReport: {
    runId: text(),
    sequence: count(),
    report: json<Json, unknown>(),
  },
  /** How a node stands, or stood, in one run; merged as the run is, by a sequence of its own. */
  runNode: {
    runId: text().internal(),
    node: key(),
    sequence: count().newest(),
    state: key().newest(),
    group: text().nullable().newest(),
    /** What is being done, or was done last: `prepare`, `deploy` … */
    step: text().nullable().newest(),
    attempts: count().nullable().newest(),
    startedAt: time().nullable().newest(),
    endedAt: time().nullable().newest(),
    reason: text().nullable().newest(),
    systemId: text().nullable(),
    /** A result that came after its call had timed out; it changed nothing. Any JSON. */
    lateResult: json<Json, unknown>().nullable(),
  },
  /** Who did what, when and why. */
  auditEntry: {
    /** ULID, or what the caller gave: the same id is stored once. */
    id: key().derived(),
    at: time().derived(),
    actor: key(),
    /** Verb, e.g. `run.pause`. */
    action: key(),
    /** What it was done to, e.g. `site/dc1`. */
    target: key(),
    reason: text().nullable(),
    /** Any JSON. */
    details: anyJson(),
  },
};
