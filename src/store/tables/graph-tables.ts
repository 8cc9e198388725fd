import type { RootCause } from '../../core/task-on-node.ts';
import type { GraphRunMode, TaskStatus, TransactionStatus } from '../../core/words.ts';
import type { Json, JsonFields, JsonObject } from '../page.ts';
import { anyJson, bytes, choice, count, flag, json, key, reference, serial, text, time } from './column.ts';

/** Node attributes to set after such an outcome, e.g. `{node_attributes: {status: 'ready'}}`. */
const ending = () => json<JsonObject, JsonFields>().nullable();

/** A field of a task as JSON; null if the task does not have it. */
const taskField = () => anyJson();

/** Graphs, their runs, and the outcomes. */
export const graphTables = {
  /** Of one of the three owners. */
  graph: {
    id: serial(),
    releaseId: reference().nullable().internal(),
    pluginId: reference().nullable().internal(),
    clusterId: reference().nullable().internal(),
    type: text().internal(),
    name: text().nullable(),
    /** YAQL predicate over nodes. */
    nodeFilter: text().nullable(),
    onSuccess: ending(),
    onError: ending(),
    onStop: ending(),
    createdAt: time().internal(),
    updatedAt: time().internal(),
  },
  graphTask: {
    graphId: reference().internal(),
    /** Upload order. */
    position: count().internal(),
    taskName: key(),
    version: taskField(),
    type: taskField(),
    condition: taskField(),
    groups: taskField(),
    tasks: taskField(),
    roles: taskField(),
    reexecuteOn: taskField(),
    refreshOn: taskField(),
    requiredFor: taskField(),
    requires: taskField(),
    crossDependedBy: taskField(),
    crossDepends: taskField(),
    parameters: taskField(),
    /** The object of all other fields. */
    custom: json<JsonObject, JsonFields>().nullable(),
  },
  /**
   * A task in Fuel's terms: a run (`deploy`), or one of its graphs (`deployment`), whose parent is the run. How a run ended
   * is in its record alone: read rows by `transactionsIn`.
   */
  deploymentTransaction: {
    id: serial(),
    uuid: text().internal(),
    clusterId: reference().nullable(),
    parentId: reference().nullable(),
    name: key(),
    status: choice<TransactionStatus>().derived(),
    message: text().nullable(),
    result: json<Json, unknown>().nullable().initially('{}'),
    /** Of a child. */
    graphType: key().nullable().internal(),
    mode: choice<GraphRunMode>().initially('apply'),
    force: flag().initially(0),
    debug: flag().initially(0),
    /** The request: a GraphRunInput of the run, a GraphRequest of a child. */
    input: anyJson().internal(),
    workflowId: key().nullable().later(),
    temporalRunId: key().nullable().later(),
    startedBy: text().nullable(),
    timeStart: time().nullable(),
    timeEnd: time().nullable(),
    /** When it was hidden from lists of current work; it is kept. */
    deletedAt: time().nullable().internal(),
    /** Of a planned child. */
    planHash: key().nullable().later(),
  },
  transactionSnapshot: {
    transactionId: reference(),
    kind: choice<
      'deployment_info' | 'cluster_settings' | 'network_configuration' | 'tasks' | 'versions' | 'task_digests'
    >(),
    content: text(),
  },
  /** The outcome of one task on one node in one graph run. */
  taskHistory: {
    /** The graph's transaction. */
    transactionId: reference(),
    /** Id of the node as text; `master`, or `null` for the sync node. */
    node: key(),
    task: key(),
    /** Position in the plan; unplanned tasks come after all others. */
    position: count(),
    /** The scheduler's statuses. */
    status: choice<TaskStatus>(),
    /** 0 before the first attempt. */
    attempts: count(),
    /** Of the write that last changed the row. */
    sequence: count(),
    timeStart: time().nullable(),
    timeEnd: time().nullable(),
    /** Of `blocked`: one value, so that a later cause replaces it as a whole. */
    rootCause: json<RootCause>().nullable(),
    message: text().nullable(),
    summary: anyJson(),
    custom: anyJson(),
  },
  plan: {
    hash: key(),
    reference: json<Json, unknown>(),
    explanation: bytes(),
    createdAt: time(),
    /** Time of the last put. */
    usedAt: time(),
  },
  planChunk: {
    plan: key(),
    part: reference(),
    chunk: reference(),
    text: bytes(),
  },
  planOrderBlock: {
    plan: key(),
    node: key(),
    firstTask: key(),
    orders: bytes(),
  },
  taskState: {
    clusterId: reference(),
    node: key(),
    task: key(),
    content: text(),
    at: time(),
    /** Of what the task did; empty where it is unknown. */
    digest: text(),
  },
  /** Texts that many rows share: snapshots and states. */
  content: {
    /** SHA-256 of the text. */
    hash: text(),
    bytes: bytes(),
  },
};
