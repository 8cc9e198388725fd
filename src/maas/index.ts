export { type AbortRequest, abortMachine, decideAbort } from './abort-machine.js';
export { MaasConfigurationError } from './api-key.js';
export { maasApiRoot } from './base-url.js';
export { checkMaas, type MaasCheck, type MaasFinding } from './check-maas.js';
export { MaasClient, type MaasUser, type MaasVersion } from './client.js';
export { type Clock, systemClock } from './clock.js';
export type { AttemptRecord, MaasConnectionConfig } from './connection.js';
export { type DeployRequest, decideDeploy, deployMachine } from './deploy-machine.js';
export type {
  BootResource,
  EventLevel,
  EventQuery,
  MaasEvent,
  ResultType,
  ScriptResult,
} from './diagnostic-calls.js';
export { missingSeries } from './distro-series.js';
export { ensureMachine } from './ensure-machine.js';
export { describeFailure, isMaasFailure, MaasError, type MaasFailure, retryAfterSeconds } from './failure.js';
export { HostnameLookup } from './hostname-lookup.js';
export type { Interface, InterfaceLink, WantedLink } from './interface-calls.js';
export type { Pool, Tag, TagChange, Zone } from './inventory-calls.js';
export { type Machine, type MachineSummary, summariseMachine } from './machine.js';
export type {
  AllocateOptions,
  CommissionOptions,
  DeployOptions,
  EraseOptions,
  MachineFilter,
  NewMachine,
  ReleaseOptions,
} from './machine-calls.js';
export { type ConditionResult, ensureBroken, ensureFixed, ensureLocked } from './machine-condition.js';
export { type Claim, type Hold, holdOf, type Marker, markerAnnotations, markerOf } from './machine-hold.js';
export type {
  FailedScript,
  MachineAction,
  MachineFailure,
  MachineOutcome,
  MachineWarning,
} from './machine-outcome.js';
export { MachineWatcher, type WatcherOptions, type WatchOptions, type WatchOutcome } from './machine-watcher.js';
export {
  type MachineContext,
  noProgress,
  type OperationOptions,
  type Patience,
  type Progress,
  type Step,
} from './operation.js';
export { decidePrepare, type PrepareClaim, type PrepareRequest, prepareMachine } from './prepare-machine.js';
export { decideRelease, type ReleaseRequest, releaseMachine } from './release-machine.js';
export { hiddenFrom, type Resolution, type ResolveRequest, resolveMachine } from './resolve-machine.js';
export {
  inProgressStatuses,
  isMachineStatus,
  MachineStatus,
  machineStatusFilters,
  machineStatusName,
  machineStatusNames,
} from './status.js';
export { type HttpAnswer, type HttpRequest, type Transport, TransportError, undiciTransport } from './transport.js';
