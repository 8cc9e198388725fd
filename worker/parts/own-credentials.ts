import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { OrderRefused } from '../../src/agent/index.ts';
import type { EnrolmentTicket } from '../../src/agent/onboarding/enrolment-ticket.ts';
import { createTicket } from '../../src/core/next-steps.ts';
import { SetupError } from '../../src/core/problems/refusal.ts';
import { retryPauses } from '../../src/core/retry-pauses.ts';
import type { OpenTransport } from '../../src/gateway/gateway-connection.ts';
import {
  enrolNode,
  forgetEnrolment,
  type NodeCredentials,
  readCredentials,
} from '../../src/gateway/node-credentials.ts';
import { syncFolder } from '../../src/platform/files/durable-file.ts';
import { readPrivate } from '../../src/platform/files/private-file.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';

/** Files of a node's folder, `/etc/sitewright`. */
export const nodeFiles = (folder: string) => ({
  /** The enrolment ticket; deleted once the node is enrolled. */
  ticket: join(folder, 'ticket.json'),
  policy: join(folder, 'policy.yaml'),
});

const ticketSchema = z.strictObject({ gateway: z.url(), authority: z.string().min(1), token: z.string().min(1) });

const LONGEST_PAUSE_MS = 30_000;
/**
 * The credentials of this machine's own node: enrols with the ticket while there is one. Waits for the gateway.
 *
 * @throws SetupError without a ticket, or if the gateway refuses it
 */
export async function ownCredentials(
  folder: string,
  log: Pick<Logger, 'info' | 'warn'>,
  stop: AbortSignal,
  open?: OpenTransport,
): Promise<NodeCredentials> {
  const { ticket: file } = nodeFiles(folder);
  const ticket = readTicket(file);
  if (ticket === undefined) {
    forgetEnrolment(folder);
    const present = readCredentials(folder);
    if (present !== undefined) return present;
    throw new SetupError('enrolment', `this node has neither credentials nor ${file}`, {
      hint: `Create a ticket with '${createTicket('SITE', 'NODE')}' on the orchestrator, and copy it there.`,
    });
  }
  const nextPause = retryPauses(1_000, LONGEST_PAUSE_MS);
  for (;;) {
    try {
      const credentials = await enrolNode(folder, ticket, open);
      rmSync(file, { force: true });
      syncFolder(folder);
      forgetEnrolment(folder);
      log.info({ site: credentials.site, node: credentials.node }, 'enrolled');
      return credentials;
    } catch (error) {
      if (error instanceof OrderRefused)
        throw new SetupError('enrolment', `the gateway does not enrol this node: ${error.message}`, { cause: error });
      log.warn({ err: error, gateway: ticket.gateway }, 'the gateway is unavailable; retrying');
    }
    await delay(nextPause(), undefined, { signal: stop });
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
