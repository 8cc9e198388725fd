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
} from './journal/execution.ts';
export type { FollowEvent, OutputOffsets } from './journal/follow.ts';
export { openExecutions } from './journal/open-executions.ts';
export type { OutputRecord, TaskFailure, TaskResult, TryRecord } from './journal/result.ts';
export { describeFailure, failureKindOf, outcomeOf } from './journal/result.ts';
export { type EnsureAnswer, NodeAgent, type NodeAgentOptions, type NodeFacts } from './node-agent.ts';
export type { LogChunk, Order, OrderSource, RaiseAlarm, Verifier } from './order-source.ts';
export { OrderRefused, OrderWithdrawn, RunHeld } from './order-source.ts';
export type { OutputStream } from './output/output-segments.ts';
export { readableTail, readableText } from './output/output-text.ts';
export { isTrySeparator } from './output/try-separator.ts';
export { DEFAULT_PATH_ROOTS } from './task-types/path-rules.ts';
export { prepareTask } from './task-types/prepare-task.ts';
