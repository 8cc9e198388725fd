import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EnrolmentTicket } from '../agent/onboarding/enrolment-ticket.ts';
import { readOrMakePrivate } from '../platform/files/private-file.ts';
import type { NodeIdentityStore } from '../store/index.ts';
import { hashOfToken, newEnrolmentToken } from './identity/signing-keys.ts';

interface TicketParts {
  /** The gateway's folder, with authority and keys. */
  readonly dataDir: string;
  /** Address for nodes. */
  readonly gatewayUrl: string;
  readonly identities: NodeIdentityStore;
  readonly tokenHours: number;
}

/**
 * Creates a one-time ticket for a node's enrolment.
 *
 * @param request identifies the request (a run and its attempt). Equal requests get the same token, so that a deploy
 * repeated after a crash matches the machine's user data. Absent: a new token.
 */
export async function issueTicket(
  { dataDir, gatewayUrl, identities, tokenHours }: TicketParts,
  site: string,
  node: string,
  request?: string,
  now: Date = new Date(),
): Promise<EnrolmentTicket> {
  const { CertificateAuthority } = await import('./identity/certificate-authority.ts');
  const authority = new CertificateAuthority(dataDir);
  const token = request === undefined ? newEnrolmentToken().token : derivedToken(dataDir, [site, node, request]);
  const expiresAt = new Date(now.getTime() + tokenHours * 3_600_000).toISOString();
  await identities.addToken({ hash: hashOfToken(token), site, node, expiresAt });
  return { gateway: gatewayUrl, authority: authority.certificate, token };
}

/** Without our key, as hard to guess as a random token. */
function derivedToken(dataDir: string, parts: readonly string[]): string {
  const key = readOrMakePrivate(join(dataDir, 'token-key'), () => randomBytes(32).toString('base64'));
  return `swt_${createHmac('sha256', Buffer.from(key, 'base64')).update(JSON.stringify(parts)).digest('base64url')}`;
}
