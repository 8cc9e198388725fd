import type { Generated, Selectable } from 'kysely';

/** Graphs, what is run of them, and what came of it. */
export interface GraphTables {
  graph: GraphTable;
  graphTask: GraphTaskRow;
  graphSequence: GraphSequenceTable;
  deploymentTransaction: DeploymentTransactionTable;
  transactionReport: { transactionId: number; report: Uint8Array };
  transactionSnapshot: { transactionId: number; kind: string; content: string };
  taskHistory: TaskHistoryTableRow;
  plan: PlanRow;
  planChunk: { plan: string; part: number; chunk: number; text: Uint8Array };
  planOrderBlock: { plan: string; node: string; firstTask: string; orders: Uint8Array };
  taskState: TaskStateRow;
  content: ContentRow;
}

/** None of the three owners, and no type, or one of them with a type. */
export interface GraphTable {
  id: Generated<number>;
  releaseId: number | null;
  pluginId: number | null;
  clusterId: number | null;
  type: string | null;
  name: string | null;
  nodeFilter: string | null;
  onSuccess: string | null;
  onError: string | null;
  onStop: string | null;
  createdAt: string;
  updatedAt: string;
}
export type GraphRow = Selectable<GraphTable>;

/** All but the first three are JSON; an absent field is null. */
export interface GraphTaskRow {
  graphId: number;
  /** Upload order. */
  position: number;
  taskName: string;
  version: string | null;
  type: string | null;
  condition: string | null;
  groups: string | null;
  tasks: string | null;
  roles: string | null;
  reexecuteOn: string | null;
  refreshOn: string | null;
  requiredFor: string | null;
  requires: string | null;
  crossDependedBy: string | null;
  crossDepends: string | null;
  parameters: string | null;
  /** The object of all other fields. */
  custom: string | null;
}

export interface GraphSequenceTable {
  id: Generated<number>;
  name: string;
  releaseId: number;
  graphs: string;
}
export type GraphSequenceRow = Selectable<GraphSequenceTable>;

export interface DeploymentTransactionTable {
  id: Generated<number>;
  uuid: string;
  clusterId: number | null;
  parentId: number | null;
  name: string;
  status: string;
  progress: number;
  message: string | null;
  result: string | null;
  graphType: string | null;
  mode: string;
  force: number;
  debug: number;
  input: string | null;
  workflowId: string | null;
  temporalRunId: string | null;
  startedBy: string | null;
  timeStart: string | null;
  timeEnd: string | null;
  deletedAt: string | null;
  planHash: string | null;
}
export type DeploymentTransactionRow = Selectable<DeploymentTransactionTable>;

export interface TaskHistoryTableRow {
  transactionId: number;
  node: string;
  task: string;
  /** Place in the plan; those not planned come after all others. */
  position: number;
  status: string;
  attempts: number;
  /** Of the write that set the row last. */
  sequence: number;
  timeStart: string | null;
  timeEnd: string | null;
  rootCause: string | null;
  message: string | null;
  summary: string | null;
  custom: string | null;
}

export interface PlanRow {
  hash: string;
  reference: string;
  /** gzip of the text, as all bytes here. */
  explanation: Uint8Array;
  createdAt: string;
  /** When it was put last. */
  usedAt: string;
}

export interface TaskStateRow {
  clusterId: number;
  node: string;
  task: string;
  content: string;
  at: string;
}

/** Texts that many rows share: snapshots and states. */
export interface ContentRow {
  /** SHA-256 of the text. */
  hash: string;
  bytes: Uint8Array;
}
