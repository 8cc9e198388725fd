import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { addEncryptionKey, readEncryptionKeys } from '../../../src/platform/codec/encryption-keys.ts';
import { isPrivate } from '../../../src/platform/secrets/is-private.ts';

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
  ])('for user %i, of user %i with mode %o: private is %s', (us, uid, mode, expected) => {
    as(us);
    expect(isPrivate({ uid, mode: 0o100000 | mode })).toBe(expected);
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
