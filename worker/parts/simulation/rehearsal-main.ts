import type { RehearsalOrder } from '../../../src/ops/rehearsals/order.ts';
import { serveThread } from '../../../src/platform/threads/serve-thread.ts';
import type { RehearsalThreadData } from '../rehearsals.ts';
import { withoutThreads } from './seams.ts';

// The program of a thread that rehearses. What it loads keeps the functions that it finds: nothing before the seams.
serveThread(
  async ({ settings }: RehearsalThreadData) => {
    withoutThreads();
    const [{ workflowCode }, { loadWorkflows }, { ACTIVITY_NAMES }, { rehearse }] = await Promise.all([
      import('../workflow-bundle.ts'),
      import('../../../src/simulation/temporal/index.ts'),
      import('./installation.ts'),
      import('./rehearse.ts'),
    ]);
    const { codePath } = await workflowCode();
    const code = await loadWorkflows(codePath, ACTIVITY_NAMES);
    return (order: RehearsalOrder) => rehearse(order, code, settings);
  },
  { givesWay: true },
);
