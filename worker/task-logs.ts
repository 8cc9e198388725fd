import { TaskLogs } from '../src/agent/logs/task-logs.ts';
import type { Settings } from '../src/platform/settings/settings.ts';

/** The configured store of task output. */
export const taskLogs = ({ task_logs }: Pick<Settings, 'task_logs'>): TaskLogs =>
  new TaskLogs({ folder: task_logs.folder, bytesPerStream: Math.round(task_logs.megabytes * 1024 * 1024) });
