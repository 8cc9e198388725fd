import { createHash, type KeyObject } from 'node:crypto';
import { createTicket } from '../core/next-steps.ts';
import type { NodeIdentityStore, TokenRefusal } from '../store/index.ts';
import type { Alarms } from './alarms.ts';
import type { CertificateAuthority } from './identity/certificate-authority.ts';
import { hashOfToken, type SigningKeys } from './identity/signing-keys.ts';
import { Refusal } from './refusal.ts';
import type { EnrolmentAnswer } from './wire.ts';

export interface EnrolmentParts {
  readonly authority: CertificateAuthority;
  readonly orderKeys: SigningKeys;
  readonly identities: NodeIdentityStore;
  readonly alarms: Alarms;
  /** Address for nodes. */
  readonly temporal: EnrolmentAnswer['temporal'];
  /** Names of a node's task queues. */
  readonly queues: (site: string, node: string) => { readonly tasks: string; readonly control: string };
  readonly now: () => Date;
}

const WORDS: Readonly<Record<TokenRefusal, string>> = {
  unknown: 'is not known',
  used: 'was used before',
  expired: 'has expired',
  revoked: 'was revoked',
};

/**
 * Issues a certificate for a node's token, once. The same token with the same key gets another answer, because the first
 * may have been lost, but only while that answer's certificate is valid. With another key, or after the node was revoked
 * or replaced, it raises an alarm: someone has kept the token. Revokes former certificates of the node, which was
 * reinstalled.
 *
 * The token comes first: what is sent with one that is unknown or over is not read.
 */
export async function enrol(parts: EnrolmentParts, token: string, request: string): Promise<EnrolmentAnswer> {
  const { identities, now } = parts;
  const hash = hashOfToken(token);
  const found = await identities.findToken(hash);
  if (found === null) throw refusedToken('unknown');
  if (found.revokedAt !== null) return refuseToken(parts, found, 'revoked');
  const at = now().toISOString();
  if (found.usedAt === null && found.expiresAt <= at) throw refusedToken('expired');
  const publicKey = await keyOf(request);
  const { certificate, answer } = certified(parts, found.site, found.node, publicKey);
  const reason = 'the node was enrolled again';
  const refused = await identities.enrol({ hash, keyHash: keyHash(publicKey), at, certificate, reason });
  if (refused !== undefined) return refuseToken(parts, found, refused);
  return answer;
}

async function refuseToken(
  { alarms }: EnrolmentParts,
  { site, node }: { readonly site: string; readonly node: string },
  why: TokenRefusal,
): Promise<never> {
  if (why === 'used') {
    const message = 'the token of this node was used again';
    await alarms({ site, node, kind: 'token-used-twice', message });
  } else if (why === 'revoked') {
    const message = 'the token of an identity that was revoked or replaced was used';
    await alarms({ site, node, kind: 'revoked-token', message });
  }
  throw refusedToken(why);
}

const refusedToken = (why: TokenRefusal): Refusal =>
  new Refusal(403, `token-${why}`, `the token ${WORDS[why]}; create a new one with '${createTicket('SITE', 'NODE')}'`);

/** Issues a new certificate for a node with a valid one, which expires in its own time. */
export async function renew(
  parts: EnrolmentParts,
  { site, node, fingerprint }: { readonly site: string; readonly node: string; readonly fingerprint: string },
  request: string,
): Promise<EnrolmentAnswer> {
  const { certificate, answer } = certified(parts, site, node, await keyOf(request));
  if (await parts.identities.renew(fingerprint, certificate)) return answer;
  throw new Refusal(401, 'revoked', 'the certificate was revoked while it was renewed');
}

async function keyOf(request: string): Promise<KeyObject> {
  const { readCertificateRequest } = await import('./identity/certificate-request.ts');
  const read = readCertificateRequest(request);
  if (!read.ok) throw new Refusal(400, 'bad-request', read.message);
  return read.publicKey;
}

const keyHash = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');

function certified(
  { authority, now, orderKeys, queues, temporal }: EnrolmentParts,
  site: string,
  node: string,
  publicKey: KeyObject,
) {
  const issued = authority.issueNode(site, node, publicKey, now());
  const answer: EnrolmentAnswer = {
    certificate: issued.pem,
    authority: authority.certificate,
    order_keys: [...orderKeys.publicKeys()],
    site,
    node,
    queues: queues(site, node),
    temporal,
  };
  const certificate = {
    fingerprint: issued.fingerprint,
    site,
    node,
    issuedAt: now().toISOString(),
    expiresAt: issued.validTo.toISOString(),
  };
  return { certificate, answer };
}
