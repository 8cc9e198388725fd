import { agentOptionsOf, policyRefusal, usablePolicy } from '../src/agent/onboarding/node-policy.ts';
import type { Terminal } from '../src/cli/shell/terminal.ts';
import { given } from '../src/core/data/given.ts';
import { GatewayClient } from '../src/gateway/gateway-client.ts';
import { programVersion } from '../src/platform/installation.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import type { Logger } from '../src/platform/telemetry/log.ts';
import { type RunningAgents, type StartAgentsOptions, startAgents } from './parts/agent.ts';
import { holdNodeFolders } from './parts/node-folders.ts';
import { nodeFiles, ownCredentials } from './parts/own-credentials.ts';
import { installRuntime } from './parts/runtime.ts';
import { serve } from './parts/serve.ts';
import { openStateFolder } from './parts/state-folder.ts';
import { tracesOf } from './parts/traces.ts';

/** What a machine says itself. */
interface OwnOfMachine {
  /** Its policy, if not in the agent's folder. */
  readonly policyFile?: string;
  /** Its way to Temporal, if not that of its enrolment. */
  readonly temporalAddress?: string;
}

const CERTIFICATE_CHECK_MS = 3_600_000;

/**
 * Runs the agent of this machine's own node: enrols with the ticket the first time, then carries out orders that the
 * gateway signed for it, if the node's own policy allows them.
 *
 * @throws SetupError without a ticket, with an invalid token, or if the policy cannot be read
 * @throws CliError while another process is the agent of the node on this state folder
 */
export async function startEnrolledAgent(
  folder: string,
  settings: Settings,
  log: Logger,
  version: string,
  stop: AbortSignal,
  agent: StartAgentsOptions['agent'] = {},
  { policyFile = nodeFiles(folder).policy, temporalAddress }: OwnOfMachine = {},
): Promise<RunningAgents & { readonly site: string; readonly node: string }> {
  const policy = usablePolicy(policyFile, 'the policy of this node');
  openStateFolder(settings.agent.state_dir);
  const credentials = await ownCredentials(folder, log, stop);
  const { site, node, temporal } = credentials;
  const release = await holdNodeFolders(settings.agent.state_dir, [{ site, node }]);
  const client = new GatewayClient(folder, credentials);
  const traces = tracesOf(settings, 'sitewright-agent', log);
  const agents = await startAgents(
    { ...settings, temporal: { ...settings.temporal, ...temporal, ...given({ address: temporalAddress }) } },
    [{ site, node }],
    log,
    {
      version,
      ...given({ traces }),
      agent: { ...agentOptionsOf(policy), ...agent },
      ordersOf: () => ({
        orders: client,
        control: client,
        alarm: client.alarm,
        verify: async (order, key) => (await client.verify(order, key)) ?? policyRefusal(policy, order.execution, true),
      }),
    },
    stop,
  ).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const renewal = setInterval(() => {
    client
      .renewWhenDue()
      .catch((error: unknown) => log.warn({ err: error }, 'the certificate could not be renewed; will retry'));
  }, CERTIFICATE_CHECK_MS);
  renewal.unref();
  const done = agents.done.finally(async () => {
    clearInterval(renewal);
    await Promise.all([client.close(), traces?.stop(), release()]);
  });
  done.catch(() => undefined);
  return { ...agents, done, stop: () => agents.stop().finally(() => done), site, node };
}

/** Runs the agent of this machine's node until Ctrl-C, SIGTERM or it is drained. */
export function serveEnrolledAgent(
  terminal: Terminal,
  settings: Settings,
  folder: string,
  own: OwnOfMachine,
): Promise<void> {
  return serve(terminal, settings, 'agent', async (log) => {
    installRuntime(log);
    const agent = await startEnrolledAgent(folder, settings, log, programVersion(), terminal.interrupted(), {}, own);
    return { done: agent.done, stop: () => agent.stop(), said: `agent ready for ${agent.site}/${agent.node}` };
  });
}
