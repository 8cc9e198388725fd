import { expect, it } from 'vitest';
import { describeStore } from './backends.ts';
import { failureOf } from './failures.ts';

describeStore('ApiTokenStore', (backend) => {
  const token = { id: 't1', name: 'ci', role: 'operator', hash: 'h1', createdBy: 'root' };
  const at = '2026-01-01T00:00:00.000Z';

  it('keeps tokens, and shows the hash only for comparison', async () => {
    const { apiTokens } = await backend.fresh();
    const added = await apiTokens.add({ ...token, expiresAt: '2027-01-01T01:00:00+01:00' });
    expect(added).toEqual({
      id: 't1',
      kind: 'token',
      name: 'ci',
      role: 'operator',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      createdBy: 'root',
      expiresAt: '2027-01-01T00:00:00.000Z',
      revokedAt: null,
      revokedBy: null,
      lastUsedAt: null,
    });
    expect(await apiTokens.list()).toEqual([added]);
    expect(await apiTokens.findById('t1')).toEqual({ ...added, hash: 'h1' });
    expect(await apiTokens.findById('nosuch')).toBeUndefined();
    await apiTokens.recordUse('t1', at);
    expect(await apiTokens.list()).toEqual([{ ...added, lastUsedAt: at }]);
  });

  it('gives a name to one token at a time, also for concurrent requests', async () => {
    const { apiTokens } = await backend.fresh();
    const asked = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => apiTokens.add({ ...token, id: `t${n}`, hash: `h${n}` })),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await failureOf(apiTokens.add({ ...token, id: 'x' }))).toMatchObject({ kind: 'conflict' });
    const [first] = await apiTokens.list();
    expect(await apiTokens.revoke(first!.id, 'nina', at)).toMatchObject({ revokedAt: at, revokedBy: 'nina' });
    await apiTokens.add({ ...token, id: 'next' });
    expect((await apiTokens.list()).map(({ name }) => name)).toEqual(['ci', 'ci']);
    // Not twice, and none that never existed.
    expect(await failureOf(apiTokens.revoke(first!.id, 'nina', at))).toMatchObject({ kind: 'not-found' });
    expect(await failureOf(apiTokens.revoke('nosuch', 'nina', at))).toMatchObject({ kind: 'not-found' });
    // An id is never given twice, whatever the name.
    expect(await failureOf(apiTokens.add({ ...token, id: 'next', name: 'other' }))).toMatchObject({ kind: 'conflict' });
  });

  it('refuses an invalid token, with all its problems', async () => {
    const { apiTokens } = await backend.fresh();
    expect(await failureOf(apiTokens.add({ ...token, name: '', hash: '', expiresAt: 'soon' }))).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'name' }, { path: 'hash' }, { path: 'expiresAt' }],
    });
  });
});
