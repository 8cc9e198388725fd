export type { LogArrival, PlacedArrival } from './run-log-index.js';
export { type LogPart, TaskLogs } from './task-logs.js';
