export { type CarriedOut, carryOutOrder, type ExecutionHost, type ExecutionProgress } from './carry-out-order.ts';
export type { ControlJudge, ControlOrder } from './control-judge.ts';
export {
  type Execution,
  executionMark,
  folderName,
  isSameOrder,
  nodeFolder,
  type SecretUse,
  stableJson,
} from './execution.ts';
export type { FollowEvent, OutputOffsets } from './follow.ts';
export { type EnsureAnswer, NodeAgent, type NodeAgentOptions, type NodeFacts } from './node-agent.ts';
export { openExecutions } from './open-executions.ts';
export type { LogChunk, Order, OrderSource, RaiseAlarm, Verifier } from './order-source.ts';
export { OrderRefused, OrderWithdrawn, RunHeld } from './order-source.ts';
export type { OutputStream } from './output-segments.ts';
export { readableTail, readableText } from './output-text.ts';
export { DEFAULT_PATH_ROOTS } from './path-rules.ts';
export { prepareTask } from './prepare-task.ts';
export type { OutputRecord, TaskFailure, TaskResult, TryRecord } from './result.ts';
export { describeFailure, failureKindOf, outcomeOf } from './result.ts';
export { isTrySeparator } from './try-separator.ts';
