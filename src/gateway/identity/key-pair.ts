import { createHash, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';

/** A key pair on the curve P-256, like all our certificates. */
export interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

export const newKeyPair = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });

export const privateKeyPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;

export const publicKeyInfo = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** SHA-256 over the certificate, lower-case hexadecimal: the key for look-ups. */
export const fingerprintOf = (certificate: Uint8Array): string =>
  createHash('sha256').update(certificate).digest('hex');

/** When a certificate should be replaced: after a third of its lifetime. */
export function renewalTime(certificate: string): Date {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return new Date(from + (to - from) / 3);
}
