import { createHash, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';
import { commonName, ECDSA_SHA256, publicKeyInfo } from './certificate-request.js';
import {
  bits,
  decode,
  encode,
  implicit,
  integer,
  octets,
  oid,
  partsOf,
  sequence,
  tagged,
  time,
  toPem,
  yes,
} from './der.js';

/** What a certificate is for. */
export type CertificateUse =
  | { readonly kind: 'authority' }
  /** `names`: host names and addresses under which the service is reached. */
  | { readonly kind: 'server'; readonly names: readonly string[] }
  | { readonly kind: 'node'; readonly site: string; readonly node: string };

export interface CertificateContent {
  readonly use: CertificateUse;
  readonly publicKey: KeyObject;
  /** For people; identities are in the alternative name. At most 64 characters are taken. */
  readonly name: string;
  readonly validFrom: Date;
  readonly validTo: Date;
}

export interface Issuer {
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** Signs an X.509 certificate of version 3 (RFC 5280) with ECDSA and SHA-256; answers PEM. */
export function issueCertificate(content: CertificateContent, issuer: Issuer): string {
  const certified = sequence(
    tagged(0, integer(Buffer.from([2]))),
    randomSerial(),
    ECDSA_SHA256,
    commonName(issuer.name.slice(0, 64)),
    sequence(time(content.validFrom), time(content.validTo)),
    commonName(content.name.slice(0, 64)),
    publicKeyInfo(content.publicKey),
    tagged(3, sequence(...extensionsOf(content, issuer))),
  );
  return toPem('CERTIFICATE', sequence(certified, ECDSA_SHA256, bits(sign('sha256', certified, issuer.privateKey))));
}

/** 127 random bits, positive and never nought. */
function randomSerial(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return integer(bytes);
}

const extension = (id: string, critical: boolean, value: Uint8Array): Buffer =>
  sequence(oid(id), ...(critical ? [yes] : []), octets(value));

function extensionsOf({ use, publicKey }: CertificateContent, issuer: Issuer): Buffer[] {
  const isAuthority = use.kind === 'authority';
  const names = alternativeNames(use);
  return [
    extension('2.5.29.19', true, isAuthority ? sequence(yes, integer(Buffer.from([0]))) : sequence()),
    // keyCertSign and cRLSign, or digitalSignature: bits from the left.
    extension('2.5.29.15', true, isAuthority ? bits(Buffer.from([0x06]), 1) : bits(Buffer.from([0x80]), 7)),
    ...(isAuthority
      ? []
      : [extension('2.5.29.37', false, sequence(oid(`1.3.6.1.5.5.7.3.${use.kind === 'server' ? 1 : 2}`)))]),
    ...(names.length === 0 ? [] : [extension('2.5.29.17', false, sequence(...names))]),
    extension('2.5.29.14', false, octets(keyId(publicKey))),
    extension('2.5.29.35', false, sequence(implicit(0, keyId(issuer.publicKey)))),
  ];
}

function alternativeNames(use: CertificateUse): Buffer[] {
  switch (use.kind) {
    case 'authority':
      return [];
    case 'node':
      return [implicit(6, Buffer.from(nodeUri(use.site, use.node), 'ascii'))];
    case 'server':
      return use.names.map((name) => {
        const bare = name.replace(/^\[|\]$/g, '');
        return isIP(bare) === 0 ? implicit(2, Buffer.from(name, 'ascii')) : implicit(7, addressBytes(bare));
      });
  }
}

/** The name a node's certificate carries. */
export const nodeUri = (site: string, node: string): string =>
  `urn:sitewright:node:${encodeURIComponent(site)}:${encodeURIComponent(node)}`;

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  // The URL parser writes an IPv6 address in its shortest form, without dots.
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = shortest.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [left, right] = [groups(head), groups(tail ?? '')];
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

/** SHA-1 over the bits of the key: a name, not a protection (RFC 5280, 4.2.1.2). */
function keyId(key: KeyObject): Buffer {
  const [, point] = partsOf(decode(publicKeyInfo(key)));
  return createHash('sha1')
    .update((point?.content ?? encode(0x05)).subarray(1))
    .digest();
}
