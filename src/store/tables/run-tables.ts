import type { ShownPlan } from '../../core/contracts/site-run.ts';
import type { NodeReport } from '../../core/contracts/site-run-report.ts';
import type { AnyRunStatus } from '../../core/run/status.ts';
import type { NoticeEvent } from '../../core/words.ts';
import type { Json } from '../page.ts';
import { anyJson, choice, count, flag, json, key, text, time } from './column.ts';

/** Runs of either kind, and the audit trail. */
export const runTables = {
  /** Writes of a run are merged: the first value of a column stays, unless it is declared `newest()`. */
  run: {
    /** The key of the run; never changes. */
    id: key(),
    /** For people: that of its transaction, or one that no transaction has. Default: the next one. */
    number: count().nullable().newest(),
    /** Of the newest applied write; increases with every write of a run. */
    sequence: count().newest(),
    workflowId: key(),
    temporalRunId: key().nullable(),
    /** `deploy_site`, `update_site`, `redeploy_nodes`, `test_site`, `execute_graph` … */
    kind: key(),
    site: key().nullable(),
    revision: count().nullable(),
    title: text().nullable(),
    labels: json<Readonly<Record<string, string>>>().nullableAs({}),
    /** Any JSON; anything else is refused as `invalid`. */
    parameters: anyJson(),
    phase: key().newest(),
    /** Whether it is paused; a graph of it is held after a failure; it waits for approval. */
    paused: flag().initially(0).newest(),
    held: flag().initially(0).newest(),
    awaitingApproval: flag().initially(0).newest(),
    /** Null while the run is open. */
    outcome: key().nullable().newest(),
    startedBy: text().nullable(),
    /** Why it was started. */
    reason: text().nullable(),
    startedAt: time(),
    endedAt: time().nullable().newest(),
    failedNodes: count().nullable().newest(),
    /** Of a run of graphs. */
    failedTasks: count().nullable().newest(),
    /** Nodes or tasks that have ended, of so many. */
    done: count().nullable().newest(),
    total: count().nullable().newest(),
    /** Why it did not succeed, or the first failure so far. */
    failure: text().nullable().newest(),
    /** The status that the open run showed last, and when; null before it shows one, and once it has ended. */
    status: json<AnyRunStatus>().nullable().newest(),
    statusAt: time().nullable().newest(),
    /** Of a run on a site that has loaded its documents. */
    plan: json<ShownPlan>().nullable().newest(),
  },
  /** In its own table: reports can be megabytes, which lists of runs should not read. */
  runReport: {
    runId: text(),
    sequence: count(),
    report: json<Json, unknown>(),
  },
  /** A node in one run; merged like runs, by its own sequence. */
  runNode: {
    runId: text().internal(),
    node: key(),
    sequence: count().newest(),
    /** In the run's plan; null for a node that the run only released. */
    position: count().nullable().newest(),
    report: json<NodeReport>().newest(),
    /** How its release ended. */
    released: json<NodeReport>().nullable().newest(),
  },
  /** One attempt to deliver a notice about a run. */
  noticeDelivery: {
    /** ULID. */
    id: key().derived(),
    /** Id of the notice: the same for all receivers and attempts. */
    notice: key(),
    receiver: key(),
    event: choice<NoticeEvent>(),
    run: key().nullable(),
    at: time().derived(),
    attempt: count(),
    delivered: flag(),
    /** HTTP status of the answer. */
    status: count().nullable(),
    message: text().nullable(),
  },
  /** Who did what, when and why. */
  auditEntry: {
    /** ULID, or the caller's id; each id is stored once. */
    id: key().derived(),
    at: time().derived(),
    actor: key(),
    /** Verb, e.g. `run.pause`. */
    action: key(),
    /** The target, e.g. `site/dc1`. */
    target: key(),
    reason: text().nullable(),
    /** Any JSON. */
    details: anyJson(),
  },
};
