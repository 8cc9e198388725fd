import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CertificateAuthority } from '../../../../src/gateway/identity/certificate-authority.ts';
import {
  createCertificateRequest,
  readCertificateRequest,
} from '../../../../src/gateway/identity/certificate-request.ts';
import { newKeyPair, privateKeyPem, renewalTime } from '../../../../src/gateway/identity/key-pair.ts';
import { hashOfToken, newEnrolmentToken } from '../../../../src/gateway/identity/signing-keys.ts';
import { PrivateFileError, readPrivate } from '../../../../src/platform/files/private-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'sitewright-identity-'));
afterAll(() => rmSync(folder, { recursive: true }));
const now = new Date('2026-03-01T00:00:00Z');
const authority = new CertificateAuthority(join(folder, 'ca'), now);

describe('the authority', () => {
  it('is created once and readable by its owner only', () => {
    expect(new CertificateAuthority(join(folder, 'ca')).certificate).toBe(authority.certificate);
    expect(statSync(join(folder, 'ca/authority.pem')).mode & 0o777).toBe(0o600);
    const certificate = new X509Certificate(authority.certificate);
    expect(certificate.ca).toBe(true);
    expect(certificate.checkIssued(certificate)).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(Date.parse(certificate.validTo) - now.getTime()).toBe(3650 * 86_400_000);
  });

  it('refuses a key that others may read, or that is a link', () => {
    const open = join(folder, 'open');
    new CertificateAuthority(open);
    chmodSync(join(open, 'authority.pem'), 0o640);
    expect(() => new CertificateAuthority(open)).toThrow(/may be read by others \(mode 640\): chmod 600/);
    symlinkSync(join(open, 'authority.pem'), join(folder, 'link'));
    expect(() => readPrivate(join(folder, 'link'))).toThrow(PrivateFileError);
    expect(readPrivate(join(folder, 'nothing'))).toBeUndefined();
  });

  it('names a node in its certificate, with an expiry', () => {
    const { publicKey } = newKeyPair();
    const issued = authority.issueNode('dc1', 'rack 1/node:ü', publicKey, now);
    const certificate = new X509Certificate(issued.pem);
    expect(certificate.subject).toBe('CN=dc1/rack 1/node:ü');
    expect(certificate.subjectAltName).toBe('URI:urn:sitewright:node:dc1:rack%201%2Fnode%3A%C3%BC');
    expect(certificate.ca).toBe(false);
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(certificate.checkIssued(new X509Certificate(authority.certificate))).toBe(true);
    expect(certificate.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true);
    expect(certificate.publicKey.equals(publicKey)).toBe(true);
    expect(certificate.fingerprint256.replaceAll(':', '').toLowerCase()).toBe(issued.fingerprint);
    expect(issued.validTo.toISOString()).toBe('2026-03-31T00:00:00.000Z');
    expect(new Date(certificate.validTo)).toEqual(issued.validTo);
    // Installed clocks are behind.
    expect(issued.validFrom.toISOString()).toBe('2026-02-28T23:50:00.000Z');
    const renewal = renewalTime(issued.pem);
    expect(renewal > new Date('2026-03-10T23:00:00Z') && renewal < new Date('2026-03-11T01:00:00Z')).toBe(true);
  });

  it('never gives the same serial number twice, and none outlives it', () => {
    const { publicKey } = newKeyPair();
    const serials = Array.from(
      { length: 50 },
      () => new X509Certificate(authority.issueNode('a', 'b', publicKey).pem).serialNumber,
    );
    expect(new Set(serials).size).toBe(50);
    const late = new Date('2036-02-20T00:00:00Z');
    expect(authority.issueNode('a', 'b', publicKey, late).validTo.toISOString()).toBe('2036-02-27T00:00:00.000Z');
  });

  it('writes names and addresses of a server', () => {
    const issued = authority.issueServer(['gateway.example', '10.0.0.1', '::1', '[2001:db8::ff:7]', '::ffff:1.2.3.4']);
    expect(new X509Certificate(issued.pem).subjectAltName).toBe(
      'DNS:gateway.example, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:0:FF:7, IP Address:0:0:0:0:0:FFFF:102:304',
    );
    expect(new X509Certificate(issued.pem).checkIP('10.0.0.1')).toBe('10.0.0.1');
  });

  it.skipIf(spawnSync('openssl', ['version']).status !== 0)('is accepted by openssl', () => {
    const { publicKey } = newKeyPair();
    const [ca, node, server] = ['ca.pem', 'node.pem', 'server.pem'].map((name) => join(folder, name));
    writeFileSync(ca!, authority.certificate);
    writeFileSync(node!, authority.issueNode('dc1', '1', publicKey).pem);
    writeFileSync(server!, authority.issueServer(['a.example']).pem);
    const verify = (purpose: string, path: string) =>
      execFileSync('openssl', ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', ca!, path], {
        encoding: 'utf8',
      });
    expect(verify('sslclient', node!)).toContain('OK');
    expect(verify('sslserver', server!)).toContain('OK');
    expect(
      spawnSync('openssl', ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca!, node!]).status,
    ).not.toBe(0);
  });
});

describe('an authority from an earlier build', () => {
  const stored = (name: string) => new URL(`../../../data/gateway/${name}`, import.meta.url);
  const old = join(folder, 'old');
  mkdirSync(old);
  writeFileSync(join(old, 'authority.pem'), readFileSync(stored('authority.pem')), { mode: 0o600 });

  /** The content of a certificate, without the fields that differ from one to the next. */
  const said = (pem: string) =>
    execFileSync('openssl', ['x509', '-noout', '-text', '-certopt', 'no_serial,no_pubkey,no_sigdump'], {
      input: pem,
      encoding: 'utf8',
    }).replace(/(Subject Key Identifier: *\n *)\S+/, '$1…');

  it.skipIf(spawnSync('openssl', ['version']).status !== 0)('issues the same certificates', () => {
    const authority = new CertificateAuthority(old);
    const then = new Date('2026-11-22T00:00:00Z');
    const node = authority.issueNode('dc1', '1', newKeyPair().publicKey, then).pem;
    expect(said(node)).toBe(said(readFileSync(stored('node.pem'), 'utf8')));
    const server = authority.issueServer(['gateway.example', '10.0.0.1', '2001:db8::ff:7'], then).pem;
    expect(said(server)).toBe(said(readFileSync(stored('server.pem'), 'utf8')));
    writeFileSync(join(old, 'node.pem'), node);
    const path = ['-attime', `${then.getTime() / 1000}`, '-CAfile', join(old, 'authority.pem'), join(old, 'node.pem')];
    expect(execFileSync('openssl', ['verify', '-x509_strict', ...path], { encoding: 'utf8' })).toContain('OK');
  });

  it('is like a new one', () => {
    const made = new Date('2026-11-22T00:00:00Z');
    const [today, then] = [new CertificateAuthority(join(folder, 'today'), made), new CertificateAuthority(old)].map(
      ({ certificate }) =>
        said(certificate)
          .replaceAll(/CN ?= ?Sitewright \w{8}/g, 'CN')
          .replace(/(Authority Key Identifier: *\n *)\S+/, '$1…'),
    );
    expect(today).toBe(then);
  });
});

describe('a certificate request', () => {
  const keys = newKeyPair();
  const request = createCertificateRequest(keys, 'dc1/12');

  it('proves possession of the key', () => {
    const read = readCertificateRequest(request);
    expect(read.ok && read.publicKey.equals(keys.publicKey)).toBe(true);
    const other = newKeyPair();
    const stolen = createCertificateRequest({ publicKey: keys.publicKey, privateKey: other.privateKey }, 'dc1/12');
    expect(readCertificateRequest(stolen)).toMatchObject({ ok: false });
  });

  it.skipIf(spawnSync('openssl', ['version']).status !== 0)('is compatible with openssl', () => {
    expect(spawnSync('openssl', ['req', '-verify', '-noout'], { input: request }).status).toBe(0);
    const path = join(folder, 'key.pem');
    writeFileSync(path, privateKeyPem(keys.privateKey));
    const theirs = execFileSync('openssl', ['req', '-new', '-key', path, '-subj', '/CN=x/O=y', '-sha256'], {
      encoding: 'utf8',
    });
    expect(readCertificateRequest(theirs)).toMatchObject({ ok: true });
    const rsa = execFileSync(
      'openssl',
      ['req', '-new', '-newkey', 'rsa:2048', '-nodes', '-keyout', join(folder, 'rsa'), '-subj', '/CN=x'],
      { encoding: 'utf8', stdio: 'pipe' },
    );
    expect(readCertificateRequest(rsa)).toMatchObject({ ok: false });
  });

  it('is refused with a message, never with a crash, if it is invalid', () => {
    const der = Buffer.from(request.replaceAll(/-----.+-----/g, ''), 'base64');
    const toPem = (bytes: Buffer) =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(readCertificateRequest(toPem(der)).ok).toBe(true);
    for (let at = 0; at < der.length; at++) {
      const changed = Buffer.from(der);
      changed[at] = (changed[at] ?? 0) ^ 0x55;
      expect(readCertificateRequest(toPem(changed)).ok, `byte ${at}`).toBe(false);
      expect(readCertificateRequest(toPem(der.subarray(0, at))).ok).toBe(false);
    }
    for (const text of [
      '',
      'x',
      authority.certificate,
      '-----BEGIN CERTIFICATE REQUEST-----\n!!\n-----END CERTIFICATE REQUEST-----',
    ])
      expect(readCertificateRequest(text)).toMatchObject({ ok: false, message: expect.stringContaining('not usable') });
  });
});

it('a token has 256 bits and only its hash is kept', () => {
  const { token, hash } = newEnrolmentToken();
  expect(Buffer.from(token.slice(4), 'base64url')).toHaveLength(32);
  expect(hashOfToken(token)).toBe(hash);
  expect(hash).not.toContain(token);
  expect(newEnrolmentToken().token).not.toBe(token);
});
