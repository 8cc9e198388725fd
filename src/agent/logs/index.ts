export { type LogPart, type ReadOptions, TaskLogs, type TaskLogsOptions } from './task-logs.js';
