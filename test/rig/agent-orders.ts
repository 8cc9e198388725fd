import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlJudge, Execution, OrderSource } from '../../src/agent/index.ts';
import { TaskLogs } from '../../src/agent/output/task-logs.ts';

/** First the count, then the test's script for the task. */
const script = (folder: string, task: string, node: string): string => {
  const count = `echo ${task} >> ${join(folder, 'counts', node)}`;
  if (task === 'short-limit') return `${count}\nsleep 60`;
  const own = join(folder, 'scripts', `${task}.sh`);
  return existsSync(own) ? `${count}\n${readFileSync(own, 'utf8')}` : `${count}\necho did ${task}`;
};

/**
 * Orders for tests: every task is a shell script that first adds its name to its node's count file, then runs
 * `scripts/<task>.sh` of the folder, if it exists. `short-limit` overruns its limit of a second. Logs go to `logs` of the folder.
 */
export function countedOrders(folder: string, more: Partial<OrderSource> = {}): OrderSource {
  mkdirSync(join(folder, 'counts'), { recursive: true });
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  const logs = new TaskLogs({ folder: join(folder, 'logs') });
  return {
    fetch: async ({ run, task, node, generation, type, mode }) => {
      const parameters =
        type === 'shell'
          ? { cmd: script(folder, task, node), retries: 0, timeout: task === 'short-limit' ? 1 : 120 }
          : {};
      const execution: Execution = { run, task, node, generation, type, mode, parameters, killGraceSec: 1 };
      return { execution };
    },
    secret: async (ref) => `value of ${ref}`,
    source: async (path) => readFileSync(path),
    ship: async (key, chunk) => logs.append(key, chunk),
    ...more,
  };
}

/** For tests in which anyone with access to Temporal may give orders. */
export const obeysTemporal: ControlJudge = {
  cancelled: async () => ({ reason: 'the run requested it' }),
  drained: async () => ({ reason: 'an upgrade' }),
};

/** The tasks that really ran on a node, in order. */
export function counted(folder: string, node: string): string[] {
  const file = join(folder, 'counts', node);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean) : [];
}
