export type { LogArrival, PlacedArrival } from './run-log-index.ts';
export { type LogPart, TaskLogs } from './task-logs.ts';
