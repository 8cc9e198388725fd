import { startEnrolledAgent } from '../../../worker/enrolled-agent.ts';
import { installRuntime } from '../../../worker/runtime.ts';
import { programVersion } from '../../platform/installation.ts';
import type { Settings } from '../../platform/settings/settings.ts';
import type { Terminal } from '../terminal.ts';
import { serve } from './serve.ts';

/** Runs the agent of this machine's node until Ctrl-C, SIGTERM or it is drained. */
export function serveEnrolledAgent(terminal: Terminal, settings: Settings, folder: string): Promise<void> {
  return serve(terminal, settings, 'agent', async (log) => {
    installRuntime(log);
    const agent = await startEnrolledAgent(folder, settings, log, programVersion(), terminal.interrupted());
    return { done: agent.done, stop: () => agent.stop(), said: `agent ready for ${agent.site}/${agent.node}` };
  });
}
