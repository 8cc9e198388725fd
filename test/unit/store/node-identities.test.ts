import { expect, it } from 'vitest';
import { describeStore } from './backends.ts';
import { failureOf } from './failures.ts';

describeStore('NodeIdentityStore', (backend) => {
  const at = '2026-01-01T00:00:00.000Z';
  const later = '2026-01-01T01:00:00.000Z';
  const token = { hash: 'h1', site: 'dc1', node: 'n1', expiresAt: '2026-01-01T00:30:00.000Z' };
  const certificate = (fingerprint: string, node = 'n1', site = 'dc1') => ({
    site,
    node,
    fingerprint,
    issuedAt: at,
    expiresAt: '2026-01-01T02:00:00.000Z',
  });
  const enrolment = (keyHash: string, fingerprint: string, when = at, hash = 'h1', node = 'n1') => ({
    hash,
    keyHash,
    at: when,
    certificate: certificate(fingerprint, node),
    reason: 'again',
  });

  it('accepts one key for a token, however many concurrent requests there are', async () => {
    const { nodeIdentities } = await backend.fresh();
    await nodeIdentities.addToken(token);
    const keys = Array.from({ length: 12 }, (_, n) => `key${n}`);
    const answers = await Promise.all(keys.map((key) => nodeIdentities.enrol(enrolment(key, `of ${key}`))));
    expect(answers.filter((why) => why === undefined)).toHaveLength(1);
    expect(answers.filter((why) => why === 'used')).toHaveLength(11);
    const winner = keys[answers.indexOf(undefined)]!;
    expect(await nodeIdentities.findToken('h1')).toMatchObject({ usedByKey: winner, certificate: `of ${winner}` });
    // The first answer may have been lost; its certificate ends with the second.
    expect(await nodeIdentities.enrol(enrolment(winner, 'second'))).toBeUndefined();
    expect(await nodeIdentities.findCertificate(`of ${winner}`)).toMatchObject({ revokedAt: at, reason: 'again' });
    expect(await nodeIdentities.findCertificate('second')).toMatchObject({ revokedAt: null });
    // A late copy of the token with the node's own key is late all the same.
    expect(await nodeIdentities.enrol(enrolment(winner, 'late', later))).toBe('expired');
    expect(await nodeIdentities.enrol(enrolment('thief', 'theirs', later))).toBe('used');
    expect(await nodeIdentities.findCertificate('theirs')).toBeNull();
  });

  it('finds tokens by their hash, until they expire', async () => {
    const { nodeIdentities } = await backend.fresh();
    expect(await nodeIdentities.enrol(enrolment('k', 'a'))).toBe('unknown');
    expect(await nodeIdentities.findToken('h1')).toBeNull();
    await nodeIdentities.addToken(token);
    expect(await nodeIdentities.enrol(enrolment('k', 'a', token.expiresAt))).toBe('expired');
    // Requested again by a repeated deploy: the first one stays.
    await nodeIdentities.addToken({ ...token, node: 'n2', expiresAt: '2027-01-01T00:00:00Z' });
    expect(await nodeIdentities.enrol(enrolment('k', 'a', at, 'h1', 'n2'))).toBe('unknown');
    expect(await nodeIdentities.enrol(enrolment('k', 'a'))).toBeUndefined();
    expect(await failureOf(nodeIdentities.addToken({ ...token, hash: '', expiresAt: 'soon' }))).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'hash' }, { path: 'expiresAt' }],
    });
  });

  it('ends certificates and tokens of one node, used or not', async () => {
    const { nodeIdentities } = await backend.fresh();
    for (const [hash, node] of [
      ['h1', 'n1'],
      ['h2', 'n2'],
    ] as const)
      await nodeIdentities.addToken({ ...token, hash, node });
    expect(await nodeIdentities.enrol(enrolment('k', 'a'))).toBeUndefined();
    expect(await nodeIdentities.renew('a', certificate('b'))).toBe(true);
    // The renewal shows that the first answer has arrived.
    expect(await nodeIdentities.enrol(enrolment('k', 'c'))).toBe('used');
    expect(await nodeIdentities.enrol(enrolment('k', 'd', at, 'h2', 'n2'))).toBeUndefined();
    await nodeIdentities.addToken({ ...token, hash: 'h3' });
    const request = { site: 'dc1', node: 'n1', at, reason: 'stolen' };
    expect(await nodeIdentities.revoke({ ...request, keepUnused: true })).toBe(2);
    expect(await nodeIdentities.revoke({ ...request, reason: 'later', keepUnused: true })).toBe(0);
    expect(await nodeIdentities.findCertificate('a')).toEqual({ ...certificate('a'), revokedAt: at, reason: 'stolen' });
    expect(await nodeIdentities.findCertificate('d')).toMatchObject({ revokedAt: null });
    expect(await nodeIdentities.findCertificate('x')).toBeNull();
    expect(await nodeIdentities.renew('b', certificate('e'))).toBe(false);
    expect(await nodeIdentities.enrol(enrolment('k', 'f'))).toBe('revoked');
    // The new installation has an unused token, and ends the identity it replaces.
    await nodeIdentities.addToken({ ...token, hash: 'h4' });
    expect(await nodeIdentities.enrol(enrolment('l', 'g', at, 'h3'))).toBeUndefined();
    expect(await nodeIdentities.enrol(enrolment('m', 'h', at, 'h4'))).toBe('revoked');
    expect(await nodeIdentities.revoke(request)).toBe(1);
    expect(await nodeIdentities.enrol(enrolment('l', 'i', at, 'h3'))).toBe('revoked');
    const names = async (site: string, node?: string) =>
      (await nodeIdentities.listCertificates(site, node)).map(({ fingerprint }) => fingerprint);
    expect(await names('dc1', 'n1')).toEqual(['a', 'b', 'g']);
    expect(await names('dc1')).toEqual(['a', 'b', 'd', 'g']);
  });

  it('renews nothing of an identity that is revoked at the same time', async () => {
    const { nodeIdentities } = await backend.fresh();
    for (let round = 0; round < 10; round++) {
      const node = `n${round}`;
      await nodeIdentities.addToken({ ...token, hash: `t${round}`, node });
      await nodeIdentities.enrol(enrolment('k', `${node} first`, at, `t${round}`, node));
      const renewals = Array.from({ length: 4 }, (_, n) =>
        nodeIdentities.renew(`${node} first`, certificate(`${node} renewed ${n}`, node)),
      );
      await Promise.all([
        ...renewals.slice(0, round % 4),
        nodeIdentities.revoke({ site: 'dc1', node, at, reason: 'stolen' }),
        ...renewals,
      ]);
      const left = (await nodeIdentities.listCertificates('dc1', node)).filter(({ revokedAt }) => revokedAt === null);
      expect(left).toEqual([]);
    }
  });

  it('renews with a valid certificate of the same node only', async () => {
    const { nodeIdentities } = await backend.fresh();
    await nodeIdentities.addToken(token);
    await nodeIdentities.enrol(enrolment('k', 'a'));
    expect(await nodeIdentities.renew('a', certificate('b', 'n2'))).toBe(false);
    expect(await nodeIdentities.renew('a', { ...certificate('b'), issuedAt: '2026-01-01T02:00:00.000Z' })).toBe(false);
    expect(await nodeIdentities.renew('unknown', certificate('b'))).toBe(false);
  });

  it('keeps the first signature', async () => {
    const { nodeIdentities } = await backend.fresh();
    const key = { run: '1', node: 'n', task: 't', generation: 1 };
    expect(await nodeIdentities.recordOrder(key, 'x', at)).toBe('x');
    expect(await nodeIdentities.recordOrder(key, 'y', later)).toBe('x');
    expect(await nodeIdentities.recordOrder({ ...key, generation: 2 }, 'y', later)).toBe('y');
  });
});
