import { InvalidArgumentError } from 'commander';
import type { CliCommand } from '../command.js';
import { type OutputFlags, printList } from '../formats/output.js';
import { usageError } from '../problem.js';
import type { Session } from '../session.js';

interface RunFlags {
  readonly site: string;
  readonly node: readonly string[];
  readonly stateDir?: string;
  readonly ssh?: string;
  readonly port?: string;
  readonly identityFile?: string;
  readonly knownHosts?: string;
  readonly policy?: string;
}

const collect = (value: string, before: readonly string[] | undefined): readonly string[] => {
  if (value === '') throw new InvalidArgumentError('a name must not be empty');
  return [...(before ?? []), value];
};

/** `sitewright agent …`: the program on nodes. Returns the group, for further commands. */
export function registerAgent(program: CliCommand, session: Session): CliCommand {
  const { terminal } = session;
  const group = program.verb('agent', 'Node agents: run them, see what they run');

  group
    .verb('run', "Run tasks of nodes on this machine: one node's, or many nodes' in one process")
    .requiredOption('--site <site>', 'site, or cluster-<id>, as in the task queue node.<site>.<node>')
    .option('--node <node>', 'name of the node; repeatable', collect)
    .option('--state-dir <folder>', 'journal and output of tasks (default: agent.state_dir)')
    .option(
      '--policy <file>',
      'apply this policy to the tasks (docs/security.md); over ssh the node’s own policy takes precedence',
    )
    .option('--ssh <[user@]host>', 'run the tasks over ssh on this machine, which needs no agent')
    .ssh()
    .action(async ({ site, node, stateDir, ...transport }: RunFlags) => {
      if (node === undefined || node.length === 0) throw usageError('name at least one --node');
      if (transport.ssh !== undefined && node.length > 1) throw usageError('over ssh, name exactly one --node');
      const { settings } = await session.settings();
      const { serveAgents } = await import('../processes/serve-agents.js');
      const agent = { ...settings.agent, ...(stateDir === undefined ? {} : { state_dir: stateDir }) };
      const nodes = [...new Set(node)].map((one) => ({ site, node: one }));
      await serveAgents(terminal, { ...settings, agent }, nodes, transport);
    });

  group
    .verb('status', 'Running tasks of the agents on this machine, from their journals; no agent needs to run')
    .option('--state-dir <folder>', 'as of agent run (default: agent.state_dir)')
    .output()
    .action(async ({ stateDir, ...flags }: OutputFlags & { readonly stateDir?: string }) => {
      const { settings } = await session.settings();
      const { agentExecutions } = await import('../processes/agent-executions.js');
      const items = agentExecutions(stateDir ?? settings.agent.state_dir);
      await printList(terminal, flags, items, [
        'site',
        'node',
        'run',
        'task',
        'generation',
        'type',
        'phase',
        'since',
        'alive',
      ]);
    });

  return group;
}
