import type { AgentNode } from '../../../worker/agent.ts';
import { runAgents } from '../../../worker/run-agents.ts';
import { installRuntime } from '../../../worker/runtime.ts';
import { parseSshTarget, type SshTarget, sshTargetProblem } from '../../agent/onboarding/ssh-command.ts';
import type { Settings } from '../../platform/settings/settings.ts';
import { usageError } from '../problem.ts';
import type { Terminal } from '../terminal.ts';
import { serve } from './serve.ts';

interface AgentTransport {
  /** `[USER@]HOST` of a machine without an agent. */
  readonly ssh?: string;
  readonly port?: string;
  readonly identityFile?: string;
  readonly knownHosts?: string;
  readonly policy?: string;
}

/** Runs node agents in this process until Ctrl-C, SIGTERM or all are drained. */
export function serveAgents(
  terminal: Terminal,
  settings: Settings,
  nodes: readonly AgentNode[],
  transport: AgentTransport = {},
): Promise<void> {
  const ssh = targetOf(transport);
  return serve(terminal, settings, 'agent', async (log) => {
    installRuntime(log, false);
    const options = {
      ...(ssh === undefined ? {} : { ssh }),
      ...(transport.policy === undefined ? {} : { policyFile: transport.policy }),
    };
    const agents = await runAgents(settings, nodes, log, options, terminal.interrupted());
    const names = nodes.map(({ site, node }) => `${site}/${node}`);
    const way = ssh === undefined ? '' : ` over ssh to ${ssh.host}`;
    return {
      done: agents.done,
      stop: () => agents.stop(),
      said: `agent ready for ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}${way}`,
    };
  });
}

function targetOf({ ssh, port, identityFile, knownHosts }: AgentTransport): SshTarget | undefined {
  if (ssh === undefined) return undefined;
  const target: SshTarget = {
    ...parseSshTarget(ssh),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(identityFile === undefined ? {} : { identityFile }),
    ...(knownHosts === undefined ? {} : { knownHostsFile: knownHosts }),
  };
  const problem = sshTargetProblem(target);
  if (problem !== undefined) throw usageError(`${problem}; write it as [USER@]HOST`);
  return target;
}
