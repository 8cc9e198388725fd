import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { join } from 'node:path';
import { readOrMakePrivate } from '../../platform/files/private-file.js';
import { type Issuer, issueCertificate } from './certificate.js';
import { toPem } from './der.js';

const DAY = 86_400_000;
/** Clocks of nodes that were just installed are behind or ahead by minutes. */
const CLOCK_TOLERANCE = 10 * 60_000;
const AUTHORITY_LIFE = 3650 * DAY;
const SERVER_LIFE = 90 * DAY;
/** The agent renews it after a third of that; a node that was off for longer is enrolled anew. */
const NODE_LIFE = 30 * DAY;

export interface IssuedCertificate {
  readonly pem: string;
  /** SHA-256 over the certificate, lower-case hexadecimal: what it is looked up by. */
  readonly fingerprint: string;
  readonly validFrom: Date;
  readonly validTo: Date;
}

export const fingerprintOf = (certificate: Uint8Array): string =>
  createHash('sha256').update(certificate).digest('hex');

export const newKeyPair = (): { publicKey: KeyObject; privateKey: KeyObject } =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' });

export const privateKeyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

/**
 * Our own certificate authority: the one thing nodes and gateway trust. Key and certificate are one private file, made
 * at first use. Whoever has that file can be any node.
 */
export class CertificateAuthority {
  /** PEM: what nodes check the gateway's certificate against. */
  readonly certificate: string;
  readonly #issuer: Issuer;
  readonly #validTo: Date;

  /** @throws PrivateFileError */
  constructor(folder: string, now: Date = new Date()) {
    const path = join(folder, 'authority.pem');
    const text = readOrMakePrivate(path, () => makeAuthority(now));
    const certificate = new X509Certificate(text);
    this.certificate = toPem('CERTIFICATE', certificate.raw);
    this.#validTo = new Date(certificate.validTo);
    this.#issuer = {
      name: certificate.subject.replace(/^CN=/, ''),
      publicKey: createPublicKey(certificate.publicKey.export({ type: 'spki', format: 'pem' })),
      privateKey: createPrivateKey(text),
    };
  }

  /** A certificate by which a node's agent is known. */
  issueNode(site: string, node: string, publicKey: KeyObject, now: Date = new Date()): IssuedCertificate {
    return this.#issue({ kind: 'node', site, node }, publicKey, `${site}/${node}`, NODE_LIFE, now);
  }

  /** Key and certificate of a service of ours that nodes reach under the names. */
  issueServer(names: readonly string[], now: Date = new Date()): IssuedCertificate & { readonly key: string } {
    const keys = newKeyPair();
    const issued = this.#issue({ kind: 'server', names }, keys.publicKey, names[0] ?? 'gateway', SERVER_LIFE, now);
    return { ...issued, key: privateKeyPem(keys.privateKey) };
  }

  #issue(
    use: Parameters<typeof issueCertificate>[0]['use'],
    publicKey: KeyObject,
    name: string,
    life: number,
    now: Date,
  ): IssuedCertificate {
    const validFrom = wholeSecond(now.getTime() - CLOCK_TOLERANCE);
    const validTo = wholeSecond(Math.min(now.getTime() + life, this.#validTo.getTime()));
    const pem = issueCertificate({ use, publicKey, name, validFrom, validTo }, this.#issuer);
    return { pem, fingerprint: fingerprintOf(new X509Certificate(pem).raw), validFrom, validTo };
  }
}

const wholeSecond = (ms: number): Date => new Date(Math.floor(ms / 1000) * 1000);

function makeAuthority(now: Date): string {
  const keys = newKeyPair();
  const name = `Sitewright ${createHash('sha256')
    .update(keys.publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 8)}`;
  const content = {
    use: { kind: 'authority' } as const,
    publicKey: keys.publicKey,
    name,
    validFrom: wholeSecond(now.getTime() - CLOCK_TOLERANCE),
    validTo: wholeSecond(now.getTime() + AUTHORITY_LIFE),
  };
  return `${privateKeyPem(keys.privateKey)}${issueCertificate(content, { name, ...keys })}`;
}

/** When a certificate should be replaced: a third of its life is over. */
export function renewalTime(certificate: string): Date {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return new Date(from + (to - from) / 3);
}
