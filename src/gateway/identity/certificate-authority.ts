import { createHash, createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import { readOrMakePrivate } from '../../platform/files/private-file.ts';
import { type CertificateUse, type Issuer, issueCertificate } from './certificate.ts';
import { fingerprintOf, newKeyPair, privateKeyPem, publicKeyInfo } from './key-pair.ts';

const DAY = 86_400_000;
/** Clocks of newly installed nodes can be minutes off. */
const CLOCK_TOLERANCE = 10 * 60_000;
const AUTHORITY_LIFE = 3650 * DAY;
const SERVER_LIFE = 90 * DAY;
/** The agent renews it after a third of this time; a node that was off for longer must enrol again. */
const NODE_LIFE = 30 * DAY;

export interface IssuedCertificate {
  readonly pem: string;
  /** The key for look-ups: `fingerprintOf`. */
  readonly fingerprint: string;
  readonly validFrom: Date;
  readonly validTo: Date;
}

/**
 * Our certificate authority, the only one that nodes and gateway trust. Key and certificate are in one private file,
 * created at first use. Anyone with that file can impersonate any node.
 */
export class CertificateAuthority {
  /** PEM; nodes verify the gateway's certificate with it. */
  readonly certificate: string;
  readonly #issuer: Issuer;
  readonly #validTo: Date;

  /** @throws PrivateFileError */
  constructor(folder: string, now: Date = new Date()) {
    const path = join(folder, 'authority.pem');
    const text = readOrMakePrivate(path, () => makeAuthority(now));
    const certificate = new X509Certificate(text);
    this.certificate = certificate.toString();
    this.#validTo = new Date(certificate.validTo);
    this.#issuer = {
      name: certificate.subject.replace(/^CN=/, ''),
      publicKey: certificate.publicKey,
      privateKey: createPrivateKey(text),
    };
  }

  /** Issues a certificate that identifies a node's agent. */
  issueNode(site: string, node: string, publicKey: KeyObject, now: Date = new Date()): IssuedCertificate {
    return this.#issue({ kind: 'node', site, node }, publicKey, `${site}/${node}`, NODE_LIFE, now);
  }

  /** Issues a key and certificate for a service of ours with these names. */
  issueServer(names: readonly string[], now: Date = new Date()): IssuedCertificate & { readonly key: string } {
    const keys = newKeyPair();
    const issued = this.#issue({ kind: 'server', names }, keys.publicKey, names[0] ?? 'gateway', SERVER_LIFE, now);
    return { ...issued, key: privateKeyPem(keys.privateKey) };
  }

  #issue(use: CertificateUse, publicKey: KeyObject, name: string, life: number, now: Date): IssuedCertificate {
    const validFrom = wholeSecond(now.getTime() - CLOCK_TOLERANCE);
    const validTo = wholeSecond(Math.min(now.getTime() + life, this.#validTo.getTime()));
    const certificate = issueCertificate({ use, publicKey, name, validFrom, validTo }, this.#issuer);
    return { pem: pemOf(certificate), fingerprint: fingerprintOf(certificate), validFrom, validTo };
  }
}

const pemOf = (certificate: Buffer): string => new X509Certificate(certificate).toString();

const wholeSecond = (ms: number): Date => new Date(Math.floor(ms / 1000) * 1000);

function makeAuthority(now: Date): string {
  const keys = newKeyPair();
  const name = `Sitewright ${createHash('sha256').update(publicKeyInfo(keys.publicKey)).digest('hex').slice(0, 8)}`;
  const content = {
    use: { kind: 'authority' } as const,
    publicKey: keys.publicKey,
    name,
    validFrom: wholeSecond(now.getTime() - CLOCK_TOLERANCE),
    validTo: wholeSecond(now.getTime() + AUTHORITY_LIFE),
  };
  return `${privateKeyPem(keys.privateKey)}${pemOf(issueCertificate(content, { name, ...keys }))}`;
}
