import { chownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { addEncryptionKey, readEncryptionKeys } from '../../../src/platform/codec/encryption-keys.ts';
import { directorySecrets } from '../../../src/platform/secrets/directory-secrets.ts';
import { whyNotPrivate } from '../../../src/platform/secrets/why-not-private.ts';

describe('a file of secrets', () => {
  afterEach(() => void vi.restoreAllMocks());
  const as = (uid: number) => vi.spyOn(process, 'getuid').mockReturnValue(uid);

  it.each([
    // [our user, owner, mode, is it private]
    [1000, 1000, 0o600, true],
    [1000, 1000, 0o400, true],
    [1000, 1000, 0o640, false],
    // A mounted Secret of Kubernetes with `fsGroup`, a credential of systemd.
    [1000, 0, 0o440, true],
    [1000, 0, 0o640, true],
    [1000, 0, 0o660, false],
    [1000, 0, 0o444, false],
    [1000, 0, 0o604, false],
    [1000, 2000, 0o440, false],
    // Root reads everything: the group of its file is others.
    [0, 0, 0o440, false],
    [0, 0, 0o600, true],
    // Another user can read and change it.
    [0, 1000, 0o600, false],
    [1000, 2000, 0o600, false],
    [1000, 2000, 0o400, false],
  ])('for user %i, of user %i with mode %o: private is %s', (us, uid, mode, expected) => {
    as(us);
    // Its folder is root's.
    expect(whyNotPrivate('/secret', { uid, mode: 0o100000 | mode }) === undefined).toBe(expected);
  });

  it('is read by root if it belongs to the user whose folder it is in, and not if it belongs to a third', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sitewright-secrets-'));
    try {
      writeFileSync(join(folder, 'ours'), 'x', { mode: 0o600 });
      const real = process.getuid!();
      const service = real === 0 ? 1234 : real;
      if (real === 0) for (const path of [folder, join(folder, 'ours')]) chownSync(path, service, service);
      expect(whyNotPrivate(join(folder, 'ours'), { uid: service + 1, mode: 0o100600 })).toBeDefined();
      as(0);
      expect(await directorySecrets(folder).read('ours')).toEqual({ kind: 'found', value: 'x' });
      expect(whyNotPrivate(join(folder, 'ours'), { uid: service + 1, mode: 0o100600 })).toBeDefined();
      as(service + 1);
      expect(await directorySecrets(folder).read('ours')).toMatchObject({ kind: 'unusable' });
    } finally {
      vi.restoreAllMocks();
      rmSync(folder, { recursive: true });
    }
  });

  it('of encryption keys may be a link, as in a mounted Secret of Kubernetes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'sitewright-keys-'));
    try {
      const id = addEncryptionKey(join(folder, 'keys'));
      symlinkSync(join(folder, 'keys'), join(folder, 'link'));
      expect(readEncryptionKeys(join(folder, 'link')).current).toBe(id);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
