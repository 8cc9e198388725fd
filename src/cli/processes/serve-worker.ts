import { startOrchestrator } from '../../../worker/orchestrator.ts';
import type { Settings } from '../../platform/settings/settings.ts';
import { ownQueue } from '../../platform/temporal/own-queue.ts';
import type { Terminal } from '../terminal.ts';
import { serve } from './serve.ts';

/** Runs the orchestrator worker in this process until Ctrl-C or SIGTERM. Prints a line once it polls. */
export function serveWorker(terminal: Terminal, settings: Settings): Promise<void> {
  return serve(terminal, settings, 'worker', async (log) => {
    const worker = await startOrchestrator(settings, log, { stop: terminal.interrupted() });
    return {
      done: worker.done,
      stop: () => worker.stop(),
      said: `worker ready on task queue ${ownQueue(settings.temporal)}`,
    };
  });
}
