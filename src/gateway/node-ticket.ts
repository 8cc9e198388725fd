import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { EnrolmentTicket } from '../agent/onboarding/enrolment-ticket.js';
import { readOrMakePrivate } from '../platform/files/private-file.js';
import type { NodeIdentityStore } from '../store/index.js';
import { hashOfToken, newEnrolmentToken } from './identity/index.js';

export interface TicketOffice {
  /** Folder of the gateway: authority and keys. */
  readonly dataDir: string;
  /** As nodes reach it. */
  readonly gatewayUrl: string;
  readonly identities: NodeIdentityStore;
  readonly tokenHours: number;
}

/**
 * Makes what a node needs to enrol, once.
 *
 * @param wish names why (a run and its try): the same wish gets the same token, so that a deploy that is repeated
 *   after a crash hands out the one that is in the machine's user data already. Absent: a new token.
 */
export async function issueTicket(
  { dataDir, gatewayUrl, identities, tokenHours }: TicketOffice,
  site: string,
  node: string,
  wish?: string,
  now: Date = new Date(),
): Promise<EnrolmentTicket> {
  const { CertificateAuthority } = await import('./identity/certificate-authority.js');
  const authority = new CertificateAuthority(dataDir);
  const token = wish === undefined ? newEnrolmentToken().token : derivedToken(dataDir, [site, node, wish]);
  const expiresAt = new Date(now.getTime() + tokenHours * 3_600_000).toISOString();
  await identities.addToken({ hash: hashOfToken(token), site, node, expiresAt });
  return { gateway: gatewayUrl, authority: authority.certificate, token };
}

/** As hard to guess as a random one for whoever does not have our key. */
function derivedToken(dataDir: string, parts: readonly string[]): string {
  const key = readOrMakePrivate(join(dataDir, 'token-key'), () => randomBytes(32).toString('base64'));
  return `swt_${createHmac('sha256', Buffer.from(key, 'base64')).update(JSON.stringify(parts)).digest('base64url')}`;
}
