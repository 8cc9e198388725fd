export { type LogPart, TaskLogs } from './task-logs.js';
