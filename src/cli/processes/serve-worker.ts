import { startOrchestrator } from '../../../worker/orchestrator.js';
import type { Settings } from '../../platform/settings/index.js';
import { ownQueue } from '../../platform/temporal/own-queue.js';
import type { Terminal } from '../terminal.js';
import { serve } from './serve.js';

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
