import { join } from 'node:path';
import type { AgentNode } from '../../../worker/agent.ts';
import { runAgents } from '../../../worker/run-agents.ts';
import { installRuntime } from '../../../worker/runtime.ts';
import type { Settings } from '../../platform/settings/settings.ts';
import { createLogger } from '../../platform/telemetry/log.ts';
import type { Terminal } from '../terminal.ts';
import { explainStart } from './serve.ts';

/** Does something while this process is the agent of a node. Its journal stays below the working folder. */
export async function withLocalAgent<Result>(
  terminal: Terminal,
  settings: Settings,
  node: AgentNode,
  work: () => Promise<Result>,
): Promise<Result> {
  const log = createLogger({ ...settings.log, level: 'warn' }, 'agent');
  installRuntime(log, false);
  const agent = { ...settings.agent, state_dir: join(terminal.cwd, '.sitewright', 'local-agent') };
  const agents = await runAgents({ ...settings, agent }, [node], log, {}, terminal.interrupted()).catch(
    (error: unknown) => {
      throw explainStart(error, settings, 'agent');
    },
  );
  try {
    return await work();
  } finally {
    await agents.stop();
  }
}
