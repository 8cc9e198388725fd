import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { didYouMean } from '../../core/text/did-you-mean.ts';
import type { CliCommand } from '../shell/command.ts';
import { type OutputFlags, printList } from '../shell/output.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

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
      const { agentExecutions } = await import('./agent-executions.ts');
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

interface Asked {
  readonly site?: string;
  readonly node?: readonly string[];
  readonly cluster?: string;
}

/** The agents that `agent run` starts: by the names of their task queues, or those of a cluster's nodes. */
export async function agentsToRun(
  session: Pick<Session, 'call'>,
  { site, node = [], cluster }: Asked,
): Promise<readonly { readonly site: string; readonly node: string }[]> {
  const names = [...new Set(node)];
  if (cluster === undefined) {
    if (site === undefined) throw usageError('name a --site, or a --cluster');
    if (names.length === 0) throw usageError('name at least one --node');
    return names.map((one) => ({ site, node: one }));
  }
  if (site !== undefined) throw usageError('--site and --cluster exclude each other', 'Omit --site.');
  const agents = await session.call('GET /agents', { query: { cluster_id: cluster } });
  if (agents.length === 0)
    throw usageError(
      `cluster ${cluster} has no nodes`,
      `Add some: sitewright cluster add-nodes ${cluster} --node NODE --roles ROLE`,
    );
  const chosen = names.map((name) => {
    const found = agents.find((one) => one.name === name || String(one.id) === name || one.node === name);
    if (found !== undefined) return found;
    const known = agents.map((one) => one.name ?? String(one.id));
    throw usageError(
      `cluster ${cluster} has no node '${name}'`,
      didYouMean(name, known) ?? `Its nodes: sitewright cluster show ${cluster}`,
    );
  });
  return (names.length === 0 ? agents : chosen).map((one) => ({ site: one.site, node: one.node }));
}
