import { startEnrolledAgent } from '../../../worker/enrolled-agent.js';
import { programVersion } from '../../../worker/program-version.js';
import { installRuntime } from '../../../worker/runtime.js';
import type { Settings } from '../../platform/settings/index.js';
import type { Terminal } from '../terminal.js';
import { serve } from './serve.js';

/** Runs the agent of this machine's node until Ctrl-C, SIGTERM or it is drained. */
export function serveEnrolledAgent(terminal: Terminal, settings: Settings, folder: string): Promise<void> {
  return serve(terminal, settings, 'agent', async (log) => {
    installRuntime(log);
    const agent = await startEnrolledAgent(folder, settings, log, programVersion(), terminal.interrupted());
    return { done: agent.done, stop: () => agent.stop(), said: `agent ready for ${agent.site}/${agent.node}` };
  });
}
