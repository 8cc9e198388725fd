import { createHash, type KeyObject, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import * as x509 from '@peculiar/asn1-x509';
import { commonName, ECDSA_SHA256, signatureOf, subjectKey } from './certificate-request.ts';
import type { KeyPair } from './key-pair.ts';

/** Purpose of a certificate. */
export type CertificateUse =
  | { readonly kind: 'authority' }
  /** `names`: host names and addresses of the service. */
  | { readonly kind: 'server'; readonly names: readonly string[] }
  | { readonly kind: 'node'; readonly site: string; readonly node: string };

interface CertificateContent {
  readonly use: CertificateUse;
  readonly publicKey: KeyObject;
  /** For people; the alternative name has the identity. Only the first 64 characters are used. */
  readonly name: string;
  readonly validFrom: Date;
  readonly validTo: Date;
}

export interface Issuer extends KeyPair {
  readonly name: string;
}

/** Signs an X.509 certificate, version 3 (RFC 5280), with ECDSA and SHA-256. Returns DER. */
export function issueCertificate(content: CertificateContent, issuer: Issuer): Buffer {
  const tbsCertificate = new x509.TBSCertificate({
    version: x509.Version.v3,
    serialNumber: randomSerial(),
    signature: ECDSA_SHA256,
    issuer: commonName(issuer.name.slice(0, 64)),
    validity: new x509.Validity({ notBefore: content.validFrom, notAfter: content.validTo }),
    subject: commonName(content.name.slice(0, 64)),
    subjectPublicKeyInfo: subjectKey(content.publicKey),
    extensions: new x509.Extensions(extensionsOf(content, issuer)),
  });
  const certificate = new x509.Certificate({
    tbsCertificate,
    signatureAlgorithm: ECDSA_SHA256,
    signatureValue: signatureOf(tbsCertificate, issuer.privateKey),
  });
  return Buffer.from(AsnConvert.serialize(certificate));
}

/** 126 random bits, positive and never zero. */
function randomSerial(): ArrayBuffer {
  const bytes = new Uint8Array(randomBytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.buffer;
}

function extensionsOf({ use, publicKey }: CertificateContent, issuer: Issuer): x509.Extension[] {
  const isAuthority = use.kind === 'authority';
  const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
  const keyIdentifier = new x509.KeyIdentifier(keyId(issuer.publicKey));
  const extensions = [
    extension(
      x509.id_ce_basicConstraints,
      new x509.BasicConstraints(isAuthority ? { cA: true, pathLenConstraint: 0 } : {}),
      true,
    ),
    extension(x509.id_ce_keyUsage, new x509.KeyUsage(isAuthority ? keyCertSign | cRLSign : digitalSignature), true),
  ];
  if (use.kind !== 'authority') {
    const purpose = use.kind === 'server' ? x509.id_kp_serverAuth : x509.id_kp_clientAuth;
    const names = use.kind === 'server' ? use.names.map(serverName) : [nodeName(use.site, use.node)];
    extensions.push(extension(x509.id_ce_extKeyUsage, new x509.ExtendedKeyUsage([purpose])));
    extensions.push(extension(x509.id_ce_subjectAltName, new x509.SubjectAlternativeName(names)));
  }
  extensions.push(extension(x509.id_ce_subjectKeyIdentifier, new x509.SubjectKeyIdentifier(keyId(publicKey))));
  extensions.push(extension(x509.id_ce_authorityKeyIdentifier, new x509.AuthorityKeyIdentifier({ keyIdentifier })));
  return extensions;
}

const extension = (extnID: string, value: unknown, critical = false): x509.Extension =>
  new x509.Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });

/** The name in a node's certificate. */
const nodeName = (site: string, node: string): x509.GeneralName =>
  new x509.GeneralName({
    uniformResourceIdentifier: `urn:sitewright:node:${encodeURIComponent(site)}:${encodeURIComponent(node)}`,
  });

function serverName(name: string): x509.GeneralName {
  const bare = name.replace(/^\[|\]$/g, '');
  if (isIP(bare) === 0) return new x509.GeneralName({ dNSName: name });
  // The URL parser converts an IPv6 address to its shortest form, without dots.
  const iPAddress = isIP(bare) === 4 ? bare : new URL(`http://[${bare}]`).hostname.slice(1, -1);
  return new x509.GeneralName({ iPAddress });
}

/** SHA-1 over the key's bits: an identifier, not a protection (RFC 5280, 4.2.1.2). */
const keyId = (key: KeyObject): Buffer =>
  createHash('sha1')
    .update(Buffer.from(subjectKey(key).subjectPublicKey))
    .digest();
