export { type CarriedOut, carryOutOrder, type ExecutionHost, type ExecutionProgress } from './carry-out-order.js';
export type { ControlJudge, ControlOrder } from './control-judge.js';
export {
  type Execution,
  type ExecutionKey,
  executionMark,
  folderName,
  isSameOrder,
  nodeFolder,
  type SecretUse,
  stableJson,
} from './execution.js';
export type { FollowEvent, OutputOffsets } from './follow.js';
export { type EnsureAnswer, NodeAgent, type NodeAgentOptions, type NodeFacts } from './node-agent.js';
export { openExecutions } from './open-executions.js';
export type { LogChunk, Order, OrderKey, OrderSource, OrderVerifier, RaiseAlarm } from './order-source.js';
export { OrderRefused, OrderWithdrawn, RunHeld } from './order-source.js';
export type { OutputStream } from './output-segments.js';
export { readableTail, readableText } from './output-text.js';
export { DEFAULT_PATH_ROOTS } from './path-rules.js';
export { prepareTask } from './prepare-task.js';
export type { OutputRecord, TaskFailure, TaskResult, TryRecord } from './result.js';
export { describeFailure, outcomeOf } from './result.js';
