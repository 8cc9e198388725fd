import { createHash, type KeyObject } from 'node:crypto';
import type { NodeIdentityStore } from '../store/index.js';
import type { Alarms } from './alarms.js';
import type { CertificateAuthority } from './identity/certificate-authority.js';
import { hashOfToken, type OrderKeys } from './identity/index.js';
import { Refusal } from './refusal.js';
import type { EnrolmentAnswer } from './wire.js';

export interface EnrolmentParts {
  readonly authority: CertificateAuthority;
  readonly orderKeys: OrderKeys;
  readonly identities: NodeIdentityStore;
  readonly alarms: Alarms;
  /** Address for nodes. */
  readonly temporal: EnrolmentAnswer['temporal'];
  /** Names of a node's task queues. */
  readonly queues: (site: string, node: string) => { readonly tasks: string; readonly control: string };
  readonly now: () => Date;
}

/**
 * Issues a certificate for a node's token, once. The same token with the same key gets another answer, because the
 * first may have been lost. With another key it raises an alarm, because the token has leaked. Revokes former
 * certificates of the node, which was reinstalled.
 */
export async function enrol(parts: EnrolmentParts, token: string, request: string): Promise<EnrolmentAnswer> {
  const { identities, alarms, now } = parts;
  const publicKey = await keyOf(request);
  const redeemed = await identities.redeemToken(hashOfToken(token), keyHash(publicKey), now().toISOString());
  if (!redeemed.ok) {
    if (redeemed.why === 'used') {
      const { site, node } = redeemed;
      await alarms({
        site,
        node,
        kind: 'token-used-twice',
        message: 'the token of this node was used again with another key',
      });
    }
    const why = { unknown: 'is not known', used: 'was used before', expired: 'has expired' }[redeemed.why];
    throw new Refusal(403, `token-${redeemed.why}`, `the token ${why}; create a new one with 'sitewright agent token'`);
  }
  const { site, node } = redeemed;
  const answer = await certified(parts, site, node, publicKey);
  await identities.revoke({
    site,
    node,
    at: now().toISOString(),
    reason: 'the node was enrolled again',
    except: answer.fingerprint,
  });
  return answer.content;
}

/** Issues a new certificate for a node with a valid one, which expires in its own time. */
export async function renew(
  parts: EnrolmentParts,
  { site, node }: { readonly site: string; readonly node: string },
  request: string,
): Promise<EnrolmentAnswer> {
  return (await certified(parts, site, node, await keyOf(request))).content;
}

async function keyOf(request: string): Promise<KeyObject> {
  const { readCertificateRequest } = await import('./identity/certificate-request.js');
  const read = readCertificateRequest(request);
  if (!read.ok) throw new Refusal(400, 'bad-request', read.message);
  return read.publicKey;
}

const keyHash = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');

async function certified(parts: EnrolmentParts, site: string, node: string, publicKey: KeyObject) {
  const { authority, identities, now, orderKeys } = parts;
  const issued = authority.issueNode(site, node, publicKey, now());
  await identities.addCertificate({
    fingerprint: issued.fingerprint,
    site,
    node,
    issuedAt: now().toISOString(),
    expiresAt: issued.validTo.toISOString(),
  });
  const content: EnrolmentAnswer = {
    certificate: issued.pem,
    authority: authority.certificate,
    order_keys: [...orderKeys.publicKeys()],
    site,
    node,
    queues: parts.queues(site, node),
    temporal: parts.temporal,
  };
  return { fingerprint: issued.fingerprint, content };
}
