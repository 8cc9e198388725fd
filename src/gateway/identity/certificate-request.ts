import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import {
  bits,
  DerError,
  decode,
  fromPem,
  integer,
  oid,
  partsOf,
  sequence,
  set,
  TAG,
  tagged,
  toPem,
  utf8,
} from './der.js';

/** ecdsa-with-SHA256 (RFC 5758). */
export const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));

export const commonName = (name: string): Buffer => sequence(set(sequence(oid('2.5.4.3'), utf8(name))));

export const publicKeyInfo = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/**
 * Asks for a certificate (PKCS #10, RFC 2986): proof that whoever asks has the private key, which stays where it is.
 *
 * @param keys of the curve P-256
 * @param name for people who look at the request; what the certificate says is the authority's to decide
 */
export function createCertificateRequest(keys: { publicKey: KeyObject; privateKey: KeyObject }, name: string): string {
  const info = sequence(integer(Buffer.from([0])), commonName(name), publicKeyInfo(keys.publicKey), tagged(0));
  return toPem('CERTIFICATE REQUEST', sequence(info, ECDSA_SHA256, bits(sign('sha256', info, keys.privateKey))));
}

export type CertificateRequest =
  | { readonly ok: true; readonly publicKey: KeyObject }
  | { readonly ok: false; readonly message: string };

/** Reads a request and checks that it was signed with the key it is for. Everything else in it is ignored. */
export function readCertificateRequest(pem: string): CertificateRequest {
  try {
    const [info, algorithm, signature] = partsOf(decode(fromPem('CERTIFICATE REQUEST', pem)));
    const [, , key] = partsOf(info);
    if (info === undefined || key?.tag !== TAG.sequence) throw new DerError('the public key is missing');
    if (signature?.tag !== TAG.bitString || signature.content[0] !== 0) throw new DerError('the signature is missing');
    if (algorithm === undefined || !algorithm.whole.equals(ECDSA_SHA256))
      throw new DerError('it is not signed by ECDSA with SHA-256');
    const publicKey = createPublicKey({ key: key.whole, format: 'der', type: 'spki' });
    if (publicKey.asymmetricKeyType !== 'ec' || publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      throw new DerError('the key is not of the curve P-256');
    if (!verify('sha256', info.whole, publicKey, signature.content.subarray(1)))
      throw new DerError('it was not signed with the key it is for');
    return { ok: true, publicKey };
  } catch (error) {
    const why = error instanceof DerError ? error.message : 'its public key cannot be read';
    return { ok: false, message: `the certificate request is not usable: ${why}` };
  }
}
