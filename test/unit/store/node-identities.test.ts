import { expect, it } from 'vitest';
import { describeStore } from './backends.js';
import { failureOf } from './failures.js';

describeStore('NodeIdentityStore', (backend) => {
  const at = '2026-01-01T00:00:00.000Z';
  const later = '2026-01-01T01:00:00.000Z';
  const token = { hash: 'h1', site: 'dc1', node: 'n1', expiresAt: '2026-01-01T00:30:00.000Z' };
  const certificate = { site: 'dc1', node: 'n1', issuedAt: at, expiresAt: later };

  it('lets one key in with a token, however many come at once', async () => {
    const { nodeIdentities } = await backend.fresh();
    await nodeIdentities.addToken(token);
    const keys = Array.from({ length: 12 }, (_, n) => `key${n}`);
    const answers = await Promise.all(keys.map((key) => nodeIdentities.redeemToken('h1', key, at)));
    expect(answers.filter(({ ok }) => ok)).toEqual([{ ok: true, site: 'dc1', node: 'n1', again: false }]);
    expect(answers.filter(({ ok }) => !ok)).toEqual(
      Array(11).fill({ ok: false, why: 'used', site: 'dc1', node: 'n1' }),
    );
    const winner = keys[answers.findIndex(({ ok }) => ok)]!;
    expect(await nodeIdentities.redeemToken('h1', winner, at)).toMatchObject({ ok: true, again: true });
    // A late copy of the token that comes with the node's own key is late all the same.
    expect(await nodeIdentities.redeemToken('h1', winner, later)).toMatchObject({ ok: false, why: 'expired' });
    expect(await nodeIdentities.redeemToken('h1', 'thief', later)).toMatchObject({ ok: false, why: 'used' });
  });

  it('knows tokens by their hash, until they expire', async () => {
    const { nodeIdentities } = await backend.fresh();
    expect(await nodeIdentities.redeemToken('h1', 'k', at)).toEqual({ ok: false, why: 'unknown' });
    await nodeIdentities.addToken(token);
    expect(await nodeIdentities.redeemToken('h1', 'k', token.expiresAt)).toMatchObject({ ok: false, why: 'expired' });
    // Asked for again by a deploy that is repeated: the first one stays.
    await nodeIdentities.addToken({ ...token, node: 'n2', expiresAt: '2027-01-01T00:00:00Z' });
    expect(await nodeIdentities.redeemToken('h1', 'k', at)).toMatchObject({ ok: true, node: 'n1' });
    expect(await failureOf(nodeIdentities.addToken({ ...token, hash: '', expiresAt: 'soon' }))).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'hash' }, { path: 'expiresAt' }],
    });
  });

  it('ends the certificates and unused tokens of one node', async () => {
    const { nodeIdentities } = await backend.fresh();
    for (const fingerprint of ['a', 'b', 'c']) await nodeIdentities.addCertificate({ ...certificate, fingerprint });
    await nodeIdentities.addCertificate({ ...certificate, fingerprint: 'd', node: 'n2' });
    await nodeIdentities.addCertificate({ ...certificate, fingerprint: 'e', site: 'dc2' });
    await nodeIdentities.addToken(token);
    const request = { site: 'dc1', node: 'n1', at: later, reason: 'stolen', except: 'b' };
    expect(await nodeIdentities.revoke({ ...request, node: 'n2', keepTokens: true })).toBe(1);
    expect(await nodeIdentities.revoke({ ...request, keepTokens: true })).toBe(2);
    expect(await nodeIdentities.redeemToken('h1', 'k', at)).toMatchObject({ ok: true });
    await nodeIdentities.addToken({ ...token, hash: 'h2' });
    expect(await nodeIdentities.revoke({ ...request, reason: 'again' })).toBe(0);
    expect(await nodeIdentities.findCertificate('a')).toEqual({
      ...certificate,
      fingerprint: 'a',
      revokedAt: later,
      reason: 'stolen',
    });
    expect(await nodeIdentities.findCertificate('b')).toMatchObject({ revokedAt: null });
    expect(await nodeIdentities.findCertificate('d')).toMatchObject({ revokedAt: later });
    expect(await nodeIdentities.findCertificate('e')).toMatchObject({ revokedAt: null });
    expect(await nodeIdentities.findCertificate('x')).toBeNull();
    expect(await nodeIdentities.redeemToken('h2', 'k', at)).toMatchObject({ why: 'unknown' });
    const names = async (site: string, node?: string) =>
      (await nodeIdentities.listCertificates(site, node)).map(({ fingerprint }) => fingerprint);
    expect(await names('dc1', 'n1')).toEqual(['a', 'b', 'c']);
    expect(await names('dc1')).toEqual(['a', 'b', 'c', 'd']);
  });

  it('keeps what was signed first', async () => {
    const { nodeIdentities } = await backend.fresh();
    const key = { run: '1', node: 'n', task: 't', generation: 1 };
    expect(await nodeIdentities.recordOrder(key, 'x', at)).toBe('x');
    expect(await nodeIdentities.recordOrder(key, 'y', later)).toBe('x');
    expect(await nodeIdentities.recordOrder({ ...key, generation: 2 }, 'y', later)).toBe('y');
  });
});
