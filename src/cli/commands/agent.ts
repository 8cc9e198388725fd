import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { agentsToRun } from '../agents-to-run.ts';
import type { CliCommand } from '../command.ts';
import { type OutputFlags, printList } from '../formats/output.ts';
import type { Session } from '../session.ts';

interface RunFlags {
  readonly site?: string;
  readonly node?: readonly string[];
  readonly cluster?: string;
  readonly stateDir?: string;
  readonly policy?: string;
}

const collect = (value: string, before: readonly string[] | undefined): readonly string[] => {
  if (value === '') throw new InvalidArgumentError('a name must not be empty');
  return [...(before ?? []), value];
};

/** `sitewright agent …`: the program on nodes. Returns the group, for further commands. */
export function registerAgent(program: CliCommand, session: Session): CliCommand {
  const { terminal } = session;
  const group = program.verb('agent', 'Node agents: run them, show their tasks');

  group
    .verb('run', 'Run the tasks of one or more nodes on this machine, in one process')
    .example('--site dc1 --node node-1')
    .example('--cluster lab', 'all its nodes, for a trial')
    .ofCluster('its nodes, all or those of --node: for a trial on one machine')
    .option('--site <site>', 'site, or cluster-<id>, as in the task queue node.<site>.<node>')
    .option('--node <node>', 'name of the node (with --cluster also its id); repeatable', collect)
    .option(
      '--state-dir <folder>',
      'journal and output of tasks (default: agent.state_dir; with --cluster, if that is not set, .sitewright/agents here)',
    )
    .option(
      '--policy <file>',
      'policy of the tasks (docs/explain/security.md; default: /etc/sitewright/policy.yaml if there is one)',
    )
    .action(async ({ site, node, cluster, stateDir, policy }: RunFlags) => {
      const nodes = await agentsToRun(session, {
        ...(site && { site }),
        ...(node && { node }),
        ...(cluster && { cluster }),
      });
      const { settings, origins } = await session.settings();
      const { serveAgents } = await import('../../../worker/agents.ts');
      // A trial needs no folder that only root may make.
      const isTrial = cluster !== undefined && origins.get('agent.state_dir')?.from === 'default';
      const folder = stateDir ?? (isTrial ? join(terminal.cwd, '.sitewright', 'agents') : settings.agent.state_dir);
      const agent = { ...settings.agent, state_dir: folder };
      await serveAgents(terminal, { ...settings, agent }, nodes, policy);
    });

  group
    .verb('status', 'Running tasks of the agents on this machine, from their journals; no agent needs to run')
    .example()
    .option('--state-dir <folder>', 'as for agent run (default: agent.state_dir)')
    .output()
    .action(async ({ stateDir, ...flags }: OutputFlags & { readonly stateDir?: string }) => {
      const { settings } = await session.settings();
      const { agentExecutions } = await import('../agent-executions.ts');
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
        'supervised',
      ]);
    });

  return group;
}
