/**
 * Temporal without a server: the rules of executions, workflow tasks, activities, timers and children, in virtual time and from one
 * seed. It runs the real workflow code in the SDK's own sandbox.
 */
export type { Execution } from './execution.ts';
export { type Faults, NotFound, UpdateFailed } from './executions.ts';
export { Random } from './random.ts';
export { type Failure, ForeignPayload, loadWorkflows, type Payload, toPayload, type WorkflowCode } from './sdk.ts';
export { AlreadyStarted, SimulatedTemporal, type StartRequest } from './server.ts';
export { deferred, type Host, settled, takeOverGlobals, VirtualTime } from './virtual-time.ts';
export { type AnyActivity, Worker } from './worker.ts';
export { QueryFailed } from './workflow-task.ts';
