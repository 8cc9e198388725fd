import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { CertificationRequest, CertificationRequestInfo } from '@peculiar/asn1-csr';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
} from '@peculiar/asn1-x509';
import { type KeyPair, publicKeyInfo } from './key-pair.ts';

const LABEL = 'CERTIFICATE REQUEST';

/** ecdsa-with-SHA256 (RFC 5758). */
export const ECDSA_SHA256 = new AlgorithmIdentifier({ algorithm: '1.2.840.10045.4.3.2' });

export function commonName(name: string): Name {
  const value = new AttributeValue({ utf8String: name });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: '2.5.4.3', value })])]);
}

export const subjectKey = (key: KeyObject): SubjectPublicKeyInfo =>
  AsnConvert.parse(publicKeyInfo(key), SubjectPublicKeyInfo);

export const signatureOf = (signed: unknown, key: KeyObject): ArrayBuffer =>
  new Uint8Array(sign('sha256', Buffer.from(AsnConvert.serialize(signed)), key)).buffer;

/**
 * Creates a certificate request (PKCS #10, RFC 2986). It proves that the sender has the private key, without revealing
 * it.
 *
 * @param name for people who read the request; the authority decides what the certificate contains
 */
export function createCertificateRequest({ publicKey, privateKey }: KeyPair, name: string): string {
  const certificationRequestInfo = new CertificationRequestInfo({
    subject: commonName(name),
    subjectPKInfo: subjectKey(publicKey),
  });
  const request = new CertificationRequest({
    certificationRequestInfo,
    signatureAlgorithm: ECDSA_SHA256,
    signature: signatureOf(certificationRequestInfo, privateKey),
  });
  const lines = Buffer.from(AsnConvert.serialize(request))
    .toString('base64')
    .match(/.{1,64}/g)!;
  return `-----BEGIN ${LABEL}-----\n${lines.join('\n')}\n-----END ${LABEL}-----\n`;
}

type CertificateRequest =
  | { readonly ok: true; readonly publicKey: KeyObject }
  | { readonly ok: false; readonly message: string };

/** Reads a request and checks that it was signed with its key. Ignores everything else in it. */
export function readCertificateRequest(pem: string): CertificateRequest {
  const refused = (why: string) => ({ ok: false, message: `the certificate request is not usable: ${why}` }) as const;
  const base64 = between(pem, `-----BEGIN ${LABEL}-----`, `-----END ${LABEL}-----`);
  if (base64 === undefined || !/^[A-Za-z0-9+/=\s]*$/.test(base64)) return refused(`there is no ${LABEL}`);
  const request = parsed(Buffer.from(base64, 'base64'));
  if (request === undefined) return refused('it is not a PKCS #10 request in DER');
  const { info, signatureAlgorithm, signature, publicKey } = request;
  if (!signatureAlgorithm.isEqual(ECDSA_SHA256)) return refused('it is not signed by ECDSA with SHA-256');
  if (publicKey.asymmetricKeyType !== 'ec' || publicKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    return refused('the key is not on the curve P-256');
  if (!verify('sha256', info, publicKey, signature)) return refused('it was not signed with its own key');
  return { ok: true, publicKey };
}

/** The text between the first of each mark: two searches, whatever the text is. */
function between(text: string, begin: string, end: string): string | undefined {
  const start = text.indexOf(begin);
  const stop = start < 0 ? -1 : text.indexOf(end, start + begin.length);
  return stop < 0 ? undefined : text.slice(start + begin.length, stop);
}

/** Undefined for anything but a request in DER, the shortest encoding. */
function parsed(der: Buffer) {
  try {
    const request = AsnConvert.parse(der, CertificationRequest);
    const { certificationRequestInfo, signatureAlgorithm } = request;
    if (!der.equals(Buffer.from(AsnConvert.serialize(request)))) return undefined;
    return {
      info: Buffer.from(AsnConvert.serialize(certificationRequestInfo)),
      signatureAlgorithm,
      signature: Buffer.from(request.signature),
      publicKey: createPublicKey({
        key: Buffer.from(AsnConvert.serialize(certificationRequestInfo.subjectPKInfo)),
        format: 'der',
        type: 'spki',
      }),
    };
  } catch {
    return undefined;
  }
}
