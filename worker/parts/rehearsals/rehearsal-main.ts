import type { RehearsalOrder } from '../../../src/ops/rehearsals/order.ts';
import { serveThread } from '../../../src/platform/threads/serve-thread.ts';
import type { Store } from '../../../src/store/index.ts';
import type { RehearsalThreadData } from './rehearser.ts';
import { withoutThreads } from './seams.ts';

// The program of a thread that rehearses. What it loads keeps the functions that it finds: nothing before the seams.
serveThread(
  async ({ settings, pace, helpers, tagExtensions }: RehearsalThreadData) => {
    withoutThreads();
    const [
      { workflowCode },
      { loadWorkflows },
      { ACTIVITY_NAMES },
      { rehearse },
      { loadTaskEngine, plannerHere },
      { tagsByExtensions },
    ] = await Promise.all([
      import('../workflow-bundle.ts'),
      import('@sitewright/temporal-simulator'),
      import('./installation.ts'),
      import('./rehearse.ts'),
      import('../../../src/clusters/planning/index.ts'),
      import('../services.ts'),
    ]);
    const { codePath } = await workflowCode();
    const code = await loadWorkflows(codePath, ACTIVITY_NAMES);
    const rules = {
      settings,
      pace,
      planner: plannerHere(await loadTaskEngine(helpers)),
      allocateTags: (store: Store) => tagsByExtensions(tagExtensions, store),
    };
    return (order: RehearsalOrder) => rehearse(order, code, rules);
  },
  { givesWay: true },
);
