import { TaskLogs } from '../src/agent/logs/index.js';
import type { Settings } from '../src/platform/settings/index.js';

/** The configured store of task output. */
export const taskLogs = ({ task_logs }: Pick<Settings, 'task_logs'>): TaskLogs =>
  new TaskLogs({ folder: task_logs.folder, bytesPerStream: Math.round(task_logs.megabytes * 1024 * 1024) });
