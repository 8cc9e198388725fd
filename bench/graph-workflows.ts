/** Workflows of bench/graph.ts: the project's own, and a minimal set as the baseline. */
import { executeChild, scheduleActivity, workflowInfo } from '@temporalio/workflow';

export * from '../workflows/index.ts';

type Chain = { readonly queue: string; readonly tasks: number };

/** `chains`: each node's activities one after another. `at_once`: all scheduled together. */
type Shape = 'chains' | 'at_once';

export async function bare_set({ parts, shape }: { parts: readonly (readonly Chain[])[]; shape: Shape }) {
  const { workflowId } = workflowInfo();
  await Promise.all(
    parts.map((chains, at) => executeChild('bare_part', { workflowId: `${workflowId}/${at}`, args: [chains, shape] })),
  );
}

export async function bare_part(chains: readonly Chain[], shape: Shape): Promise<void> {
  await Promise.all(
    chains.map(async ({ queue, tasks }) => {
      // One that the server loses is tried again while the bench runs.
      const one = () => scheduleActivity('empty', [], { taskQueue: queue, startToCloseTimeout: '1 minute' });
      if (shape === 'at_once') await Promise.all(Array.from({ length: tasks }, one));
      else for (let task = 0; task < tasks; task++) await one();
    }),
  );
}
