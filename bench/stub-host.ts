import { TASK_TYPE_NAMES } from '../src/core/task-types/index.ts';
import type { NodeHost } from '../worker/parts/agent.ts';

/** A machine in name only, which accepts every task: a thousand processes would measure the machine. @param follow its answer about a task */
export const stubHost = (node: string, follow: NodeHost['follow']): NodeHost => ({
  execution: () => undefined,
  hasStarted: () => false,
  generations: () => [],
  ensure: async () => ({ kind: 'accepted', result: undefined }),
  cancel: () => undefined,
  follow,
  facts: () => ({ node, bootId: 'bench', taskTypes: TASK_TYPE_NAMES, containment: 'process-walk', unfinished: [] }),
  recover: async () => [],
  forgetBefore: () => undefined,
});
