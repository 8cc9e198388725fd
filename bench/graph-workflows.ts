/** Workflows of bench/graph.ts: the project's, and a bare set to measure them against. */
import { executeChild, scheduleActivity, workflowInfo } from '@temporalio/workflow';

export * from '../workflows/index.js';

type Chain = { readonly queue: string; readonly tasks: number };

export async function bare_set({ parts }: { parts: readonly (readonly Chain[])[] }): Promise<void> {
  const { workflowId } = workflowInfo();
  await Promise.all(
    parts.map((chains, at) => executeChild('bare_part', { workflowId: `${workflowId}/${at}`, args: [chains] })),
  );
}

export async function bare_part(chains: readonly Chain[]): Promise<void> {
  await Promise.all(
    chains.map(async ({ queue, tasks }) => {
      for (let task = 0; task < tasks; task++) {
        await scheduleActivity('empty', [], { taskQueue: queue, startToCloseTimeout: '1 minute' });
      }
    }),
  );
}
