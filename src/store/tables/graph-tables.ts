import type { GraphRunMode, ShownTaskStatus } from '../../core/words.js';
import type { Json, JsonFields, JsonObject } from '../ports/page.js';
import { anyJson, bytes, count, flag, json, key, reference, serial, text, time, word } from './column.js';

/** Node attributes to set when a run ends so, e.g. `{node_attributes: {status: 'ready'}}`. */
const ending = () => json<JsonObject, JsonFields>().nullable();

/** A field of a task, as JSON; null while the task has none. */
const taskField = () => anyJson();

/** Graphs, what is run of them, and what came of it. */
export const graphTables = {
  /** None of the three owners, and no type, or one of them with a type. */
  graph: {
    id: serial(),
    releaseId: reference().nullable().internal(),
    pluginId: reference().nullable().internal(),
    clusterId: reference().nullable().internal(),
    /** Null for an orphan, which has no owner either. */
    type: text().nullable().internal(),
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
  /** What Fuel calls a task row: a run (`deploy`), or one graph of a run (`deployment`), whose parent the run is. */
  deploymentTransaction: {
    id: serial(),
    uuid: text().internal(),
    clusterId: reference().nullable(),
    parentId: reference().nullable(),
    name: key(),
    /** `stopped` is our own word; Fuel's clients know the others. */
    status: word<'pending' | 'running' | 'ready' | 'error' | 'stopped'>().derived(),
    /** Percent. */
    progress: count().initially(0),
    message: text().nullable(),
    result: json<Json, unknown>().nullable().initially('{}'),
    /** Of a child. */
    graphType: key().nullable().internal(),
    mode: word<GraphRunMode>().initially('apply'),
    force: flag().initially(0),
    debug: flag().initially(0),
    /** What was requested: a GraphRunInput of the run, a GraphRequest of a child. */
    input: anyJson().internal(),
    workflowId: key().nullable().later(),
    temporalRunId: key().nullable().later(),
    startedBy: text().nullable(),
    timeStart: time().nullable(),
    timeEnd: time().nullable(),
    /** Set: hidden from lists of current work, but kept. */
    deletedAt: time().nullable().internal(),
    /** Of a child that has been planned. */
    planHash: key().nullable().later(),
  },
  transactionReport: {
    transactionId: reference(),
    /** gzip of JSON, as all bytes here. */
    report: bytes(),
  },
  transactionSnapshot: {
    transactionId: reference(),
    kind: word<'deployment_info' | 'cluster_settings' | 'network_configuration' | 'tasks'>(),
    content: text(),
  },
  /** How one task went on one node in one run of a graph. */
  taskHistory: {
    /** The graph's transaction. */
    transactionId: reference(),
    /** Id of the node as text; `master`, or `null` for the sync node. */
    node: key(),
    task: key(),
    /** Place in the plan; those not planned come after all others. */
    position: count(),
    /** The scheduler's words. */
    status: word<ShownTaskStatus>(),
    /** 0 before the first. */
    attempts: count(),
    /** Of the write that set the row last. */
    sequence: count(),
    timeStart: time().nullable(),
    timeEnd: time().nullable(),
    /** Of `dep_failed`: `task@node`, or `offline:<node>`. */
    rootCause: text().nullable(),
    message: text().nullable(),
    summary: anyJson(),
    custom: anyJson(),
  },
  plan: {
    hash: key(),
    reference: json<Json, unknown>(),
    explanation: bytes(),
    createdAt: time(),
    /** When it was put last. */
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
  },
  /** Texts that many rows share: snapshots and states. */
  content: {
    /** SHA-256 of the text. */
    hash: text(),
    bytes: bytes(),
  },
};
