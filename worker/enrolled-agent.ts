import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { OrderRefused } from '../src/agent/index.ts';
import type { EnrolmentTicket } from '../src/agent/onboarding/enrolment-ticket.ts';
import { agentOptionsOf, policyRefusal, usablePolicy } from '../src/agent/onboarding/node-policy.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { given } from '../src/core/data/given.ts';
import { createTicket } from '../src/core/next-steps.ts';
import { SetupError } from '../src/core/problems/refusal.ts';
import { GatewayClient } from '../src/gateway/gateway-client.ts';
import { enrolNode, type NodeCredentials, readCredentials } from '../src/gateway/node-credentials.ts';
import { readPrivate } from '../src/platform/files/private-file.ts';
import { programVersion } from '../src/platform/installation.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import type { Logger } from '../src/platform/telemetry/log.ts';
import { type RunningAgents, type StartAgentsOptions, startAgents } from './parts/agent.ts';
import { holdNodeFolders } from './parts/node-folders.ts';
import { installRuntime } from './parts/runtime.ts';
import { serve } from './parts/serve.ts';
import { openStateFolder } from './parts/state-folder.ts';
import { tracesOf } from './parts/traces.ts';

/** Files of a node's folder, `/etc/sitewright`. */
export const nodeFiles = (folder: string) => ({
  /** The enrolment ticket; deleted once the node is enrolled. */
  ticket: join(folder, 'ticket.json'),
  policy: join(folder, 'policy.yaml'),
});

const ticketSchema = z.strictObject({ gateway: z.url(), authority: z.string().min(1), token: z.string().min(1) });

const LONGEST_PAUSE_MS = 30_000;
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
): Promise<RunningAgents & { readonly site: string; readonly node: string }> {
  const policy = usablePolicy(nodeFiles(folder).policy, 'the policy of this node');
  openStateFolder(settings.agent.state_dir);
  const credentials = await ownCredentials(folder, log, stop);
  const { site, node, temporal } = credentials;
  const release = await holdNodeFolders(settings.agent.state_dir, [{ site, node }]);
  const client = new GatewayClient(folder, credentials);
  const traces = tracesOf(settings, 'sitewright-agent', log);
  const agents = await startAgents(
    { ...settings, temporal: { ...settings.temporal, ...temporal } },
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

async function ownCredentials(folder: string, log: Logger, stop: AbortSignal): Promise<NodeCredentials> {
  const { ticket: file } = nodeFiles(folder);
  const ticket = readTicket(file);
  if (ticket === undefined) {
    const present = readCredentials(folder);
    if (present !== undefined) return present;
    throw new SetupError('enrolment', `this node has neither credentials nor ${file}`, {
      hint: `Create a ticket with '${createTicket('SITE', 'NODE')}' on the orchestrator, and copy it there.`,
    });
  }
  for (let pauseMs = 1_000; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    try {
      const credentials = await enrolNode(folder, ticket);
      rmSync(file, { force: true });
      log.info({ site: credentials.site, node: credentials.node }, 'enrolled');
      return credentials;
    } catch (error) {
      if (error instanceof OrderRefused)
        throw new SetupError('enrolment', `the gateway does not enrol this node: ${error.message}`, { cause: error });
      log.warn({ err: error, gateway: ticket.gateway }, 'the gateway is unavailable; retrying');
    }
    await delay(pauseMs, undefined, { signal: stop });
  }
}

function readTicket(file: string): EnrolmentTicket | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return ticketSchema.parse(JSON.parse(readPrivate(file) ?? ''));
  } catch (error) {
    throw new SetupError(
      'enrolment',
      `${file} is not a valid ticket: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** Runs the agent of this machine's node until Ctrl-C, SIGTERM or it is drained. */
export function serveEnrolledAgent(terminal: Terminal, settings: Settings, folder: string): Promise<void> {
  return serve(terminal, settings, 'agent', async (log) => {
    installRuntime(log);
    const agent = await startEnrolledAgent(folder, settings, log, programVersion(), terminal.interrupted());
    return { done: agent.done, stop: () => agent.stop(), said: `agent ready for ${agent.site}/${agent.node}` };
  });
}
