import type { NodeToInstall } from '../../../worker/node-identities.ts';
import { given } from '../../core/data/given.ts';
import type { CliCommand } from '../shell/command.ts';
import { EXIT } from '../shell/exit-codes.ts';
import { type OutputFlags, printOne } from '../shell/output.ts';
import { CliError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

interface NodeFlags extends OutputFlags {
  readonly site: string;
  readonly node: string;
}

const HINTS = {
  silent: 'Check that it runs: systemctl status sitewright-agent on the node.',
  refused: 'An enrolled agent gets the order from the gateway, which must use the same store as this command.',
  'no-worker': 'Start one: sitewright worker.',
} as const;

/** `sitewright agent serve, install, token, drain, policy`: enrolling and draining nodes, and their policies. */
export function registerAgentOnboarding(group: CliCommand, session: Session): void {
  registerEnrolment(group, session);
  registerDrain(group, session);
  registerPolicy(group, session);
}

/** How a machine becomes a node with an agent. */
function registerEnrolment(group: CliCommand, session: Session): void {
  const { terminal } = session;
  group
    .verb('serve', "Run the agent of this machine's own node: enrol with its ticket, then take signed orders")
    .example('--folder /var/lib/sitewright-agent')
    .option('--folder <folder>', 'ticket, credentials and policy of the node', '/etc/sitewright')
    .option('--policy <file>', 'policy of the node (default: policy.yaml of the folder)')
    .action(async ({ folder, policy }: { readonly folder: string; readonly policy?: string }) => {
      const { settings, origins } = await session.settings();
      const { address } = settings.temporal;
      const isOwn = origins.get('temporal.address')?.from !== 'default';
      const { serveEnrolledAgent } = await import('../../../worker/enrolled-agent.ts');
      const own = given({ policyFile: policy, temporalAddress: isOwn ? address : undefined });
      await serveEnrolledAgent(terminal, settings, folder, own);
    });

  group
    .verb('token', 'Create the one-time ticket with which a node enrols; run it on the gateway’s machine')
    .example('--site dc1 --node node-1')
    .nodeOfSite()
    .output()
    .action(async ({ site, node, ...flags }: NodeFlags) => {
      const { settings } = await session.settings();
      const { makeTicket } = await import('../../../worker/node-identities.ts');
      const ticket = await makeTicket(settings, site, node);
      await printOne(terminal, flags, ticket, `${JSON.stringify(ticket, null, 2)}\n`);
      terminal.err(`put it into /etc/sitewright/ticket.json (mode 600) on ${node}; it can be used once\n`);
    });

  group
    .verb('install', 'Make a machine that Sitewright did not deploy a node; safe to repeat')
    .example('--ssh root@10.0.0.7 --site dc1 --node node-1')
    .requiredOption('--ssh <[user@]host>', 'the machine; its host key must be known')
    .nodeOfSite()
    .option('--port <port>', 'port of its sshd')
    .option('--identity-file <file>', 'private key (default: chosen by ssh)')
    .option('--known-hosts <file>', 'known host keys (default: those of ssh)')
    .option('--program <path>', 'the sitewright command on the machine', '/opt/sitewright/bin/sitewright')
    .option('--again', 'enrol an enrolled machine again')
    .output()
    .action(async (flags: OutputFlags & NodeToInstall) => {
      const { settings } = await session.settings();
      const { installNode } = await import('../../../worker/node-identities.ts');
      const end = await installNode(settings, flags);
      if (!end.ok)
        throw new CliError({ code: 'not-installed', message: end.message, hint: end.hint }, EXIT.unreachable);
      const lines = end.steps.map(({ what, changed }) => `${changed ? 'changed  ' : 'unchanged'}  ${what}\n`);
      await printOne(terminal, flags, { site: flags.site, node: flags.node, steps: end.steps }, lines.join(''));
    });
}

function registerDrain(group: CliCommand, session: Session): void {
  group
    .verb(
      'drain',
      'Stop the agent of a node: it accepts no new tasks and ends; running tasks continue for the next agent',
    )
    .example('--site dc1 --node node-1 --reason "repair"')
    .nodeOfSite()
    .reason('kept in the audit trail')
    .output()
    .action(async ({ site, node, reason, ...flags }: NodeFlags & { readonly reason?: string }) => {
      const { settings } = await session.settings();
      const [{ drainAgent }, { actor }] = await Promise.all([
        import('../../../worker/drain-agent.ts'),
        import('../../../worker/node-identities.ts'),
      ]);
      const request = { site, node, by: actor(), ...given({ reason }) };
      const end = await drainAgent(settings, request);
      if (!end.ok)
        throw new CliError({ code: 'not-drained', message: end.message, hint: HINTS[end.why] }, EXIT.unreachable);
      const { unfinished } = end;
      const going = unfinished.length === 0 ? '' : `; still running: ${unfinished.join(', ')}`;
      await printOne(session.terminal, flags, { site, node, unfinished }, `the agent of ${node} is drained${going}\n`);
    });
}

function registerPolicy(group: CliCommand, { terminal }: Session): void {
  const policy = group.verb('policy', 'Node policies: what a node allows');
  policy
    .command('check')
    .argument('<file>', 'policy, YAML or JSON')
    .description('Check a policy file and show its rules; exit code 2 if it is not valid')
    .example('policy.yaml')
    .output()
    .action(async (file: string, flags: OutputFlags) => {
      const [{ agentOptionsOf, loadPolicy }, { existsSync }] = await Promise.all([
        import('../../agent/onboarding/node-policy.ts'),
        import('node:fs'),
      ]);
      if (!existsSync(file))
        throw new CliError(
          { code: 'no-file', message: `${file} does not exist`, hint: 'Correct the name.' },
          EXIT.notFound,
        );
      const read = loadPolicy(file);
      if (!read.ok) {
        const lines = read.problems.map(
          ({ line, column, message, hint }) =>
            `${file}:${line ?? 1}:${column ?? 1}: ${message}${hint === undefined ? '' : `. ${hint}`}`,
        );
        terminal.err(`${lines.join('\n')}\n`);
        process.exitCode = EXIT.invalid;
        return;
      }
      const { allowedTypes, pathRoots } = agentOptionsOf(read.policy);
      const lines = [
        `types: ${allowedTypes?.join(', ') ?? 'all'}`,
        `scripts: ${read.policy.shell}`,
        `files below: ${pathRoots?.join(', ') ?? "the agent's usual folders"}`,
        `longest task: ${read.policy.max_timeout === undefined ? 'no limit' : `${read.policy.max_timeout} s`}`,
      ];
      await printOne(terminal, flags, read.policy, `${lines.join('\n')}\n`);
    });
}
