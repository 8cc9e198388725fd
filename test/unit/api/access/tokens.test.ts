import { describe, expect, it } from 'vitest';
import { tokenFromHeaders } from '../../../../src/api/access/guard.ts';
import { covers, ROLES } from '../../../../src/core/access.ts';
import { ProblemError } from '../../../../src/ops/index.ts';
import { TokenOperations } from '../../../../src/ops/tokens.ts';
import { hashOf, idOfToken, matches, mintToken } from '../../../../src/platform/secrets/access-token.ts';
import { describeStore } from '../../store/backends.ts';
import { failureOf } from '../../store/failures.ts';

describe('roles', () => {
  it('each include the rights of lower roles, and no more', () => {
    expect(ROLES.map((role) => ROLES.map((need) => covers(role, need)))).toEqual([
      [true, false, false],
      [true, true, false],
      [true, true, true],
    ]);
    expect(ROLES.every((role) => covers(role, 'anyone'))).toBe(true);
  });
});

describe('a token', () => {
  const id = '01J00000000000000000000000';

  it('is unique, and stored only as a hash', () => {
    const [one, two] = [mintToken(id), mintToken(id)];
    expect(one.token).not.toBe(two.token);
    expect(one.token).toMatch(/^swt_01J00000000000000000000000_[\w-]{43}$/);
    expect(one.hash).not.toContain(one.token.slice(-43));
    expect(idOfToken(one.token)).toBe(id);
    expect(matches(one.token, one.hash)).toBe(true);
    expect(matches(two.token, one.hash)).toBe(false);
    expect(matches(`${one.token}x`, one.hash)).toBe(false);
    expect(matches(one.token, null)).toBe(false);
    // Values that a comparison with nothing could be mistaken for.
    expect(matches(one.token, '')).toBe(false);
    expect(matches(one.token, '0'.repeat(64))).toBe(false);
    expect(hashOf(one.token)).toBe(one.hash);
  });

  it.each(['', 'swt_', 'swt_x_y', `swt_${id}_short`, `swt_${id.toLowerCase()}_${'a'.repeat(43)}`, 'Bearer x', 'x\0y'])(
    'cannot be %j',
    (text) => expect(idOfToken(text)).toBeUndefined(),
  );

  it.each([
    [{}, { kind: 'none' }],
    [{ authorization: '' }, { kind: 'none' }],
    [{ authorization: 'Bearer abc' }, { kind: 'token', token: 'abc' }],
    [{ authorization: 'bearer   abc ' }, { kind: 'token', token: 'abc' }],
    [{ 'x-auth-token': 'abc' }, { kind: 'token', token: 'abc' }],
    [
      { authorization: 'Bearer abc', 'x-auth-token': 'def' },
      { kind: 'token', token: 'abc' },
    ],
    [{ authorization: 'Basic abc' }, { kind: 'malformed', why: expect.any(String) }],
    [{ authorization: 'Bearer' }, { kind: 'malformed', why: expect.any(String) }],
    [{ authorization: 'Bearer a b' }, { kind: 'malformed', why: expect.any(String) }],
    // A header that is wrong is not made right by another one.
    [
      { authorization: 'Basic abc', 'x-auth-token': 'def' },
      { kind: 'malformed', why: expect.any(String) },
    ],
  ])('is read from %j', (headers, wanted) => expect(tokenFromHeaders(headers)).toEqual(wanted));
});

describeStore('The use cases of tokens', (backend) => {
  const start = Date.parse('2026-01-01T00:00:00.000Z');
  const refusal = async (work: Promise<unknown>) => {
    const error = await work.catch((thrown: unknown) => thrown);
    if (!(error instanceof ProblemError)) throw error;
    return error.problem;
  };

  it('a token gives access until it expires or is revoked', async () => {
    const store = await backend.fresh();
    let now = start;
    const tokens = new TokenOperations(store, () => now);
    const made = await tokens.create({ name: 'ci', role: 'operator', expires: '2h' }, 'nina');
    expect(made).toMatchObject({ state: 'valid', created_by: 'nina', expires_at: '2026-01-01T02:00:00.000Z' });
    expect(await tokens.authenticate(made.token)).toEqual({
      ok: true,
      principal: { id: made.id, kind: 'token', name: 'ci', role: 'operator' },
    });
    const last = made.token.at(-1) === 'A' ? 'B' : 'A';
    for (const wrong of ['', made.id, made.token.slice(0, -1), `${made.token.slice(0, -1)}${last}`, `${made.token} `])
      expect(await tokens.authenticate(wrong)).toEqual({ ok: false, why: 'unknown' });
    now += 2 * 3_600_000 - 1;
    expect(await tokens.authenticate(made.token)).toMatchObject({ ok: true });
    now += 1;
    expect(await tokens.authenticate(made.token)).toEqual({ ok: false, why: 'expired' });

    const other = await tokens.create({ name: 'nina', role: 'admin' }, 'root');
    expect(await tokens.revoke('nina', 'root')).toMatchObject({ state: 'revoked', revoked_by: 'root' });
    expect(await tokens.authenticate(other.token)).toEqual({ ok: false, why: 'revoked' });
    expect(await refusal(tokens.revoke('nina', 'root'))).toMatchObject({ code: 'not-found' });
    // An expired one can be ended too, and its name is free again.
    await tokens.revoke(made.id, 'root');
    await tokens.create({ name: 'ci', role: 'viewer' }, 'root');
    expect((await tokens.list()).map(({ name, state }) => `${name} ${state}`)).toContain('ci valid');

    const { items } = await store.audit.list();
    expect(items.map(({ actor, action, target }) => `${actor} ${action} ${target}`).sort()).toEqual(
      [
        'nina token.create token/ci',
        'root token.create token/nina',
        'root token.revoke token/nina',
        'root token.revoke token/ci',
        'root token.create token/ci',
      ].sort(),
    );
    const kept = JSON.stringify([items, await tokens.list(), await store.apiTokens.findById(made.id)]);
    for (const { token } of [made, other]) expect(kept).not.toContain(token.slice(-43));
  });

  it('sessions of a user are listed with tokens, revoked together, and deleted in the end', async () => {
    const store = await backend.fresh();
    let now = start;
    const tokens = new TokenOperations(store, () => now);
    const nina = { name: 'nina', role: 'viewer', issuer: 'https://login.example', subject: '1' } as const;
    const token = await tokens.create({ name: 'nina', role: 'admin' }, 'root');
    const [one, two] = [await tokens.startSession(nina, 1), await tokens.startSession(nina, 2)];
    expect(await tokens.authenticate(one.token)).toMatchObject({
      ok: true,
      principal: { kind: 'session', name: 'nina' },
    });
    expect((await tokens.list()).map(({ kind }) => kind).sort()).toEqual(['session', 'session', 'token']);
    await tokens.revoke(one.id, 'root');
    expect(await tokens.authenticate(two.token)).toMatchObject({ ok: true });
    now += 3_600_000;
    expect(await tokens.authenticate(two.token)).toMatchObject({ ok: true });
    expect(await tokens.revoke('nina', 'root')).toMatchObject({ name: 'nina', state: 'revoked' });
    for (const { token: secret } of [one, two, token])
      expect(await tokens.authenticate(secret)).toEqual({ ok: false, why: 'revoked' });
    expect((await store.audit.list()).items.map(({ actor, action, target }) => `${actor} ${action} ${target}`)).toEqual(
      expect.arrayContaining([
        `nina session.start session/${one.id}`,
        `root session.revoke session/${one.id}`,
        `root session.revoke session/${two.id}`,
        'root token.revoke token/nina',
      ]),
    );
    now += 8 * 86_400_000;
    await tokens.startSession(nina, 1);
    expect((await tokens.list()).map(({ kind }) => kind).sort()).toEqual(['session', 'token']);
  });

  it('the use of a token is recorded once a minute, and never for a wrong one', async () => {
    const store = await backend.fresh();
    let now = start;
    const tokens = new TokenOperations(store, () => now);
    const { token, id } = await tokens.create({ name: 'ci', role: 'viewer' }, 'x');
    const lastUse = async () => (await store.apiTokens.findById(id))?.lastUsedAt;
    await tokens.authenticate(`${token.slice(0, -2)}..`);
    expect(await lastUse()).toBeNull();
    await tokens.authenticate(token);
    now += 59_999;
    await tokens.authenticate(token);
    expect(await lastUse()).toBe('2026-01-01T00:00:00.000Z');
    now += 1;
    await tokens.authenticate(token);
    expect(await lastUse()).toBe('2026-01-01T00:01:00.000Z');
  });

  it('all problems of a request are reported together, and nothing is stored', async () => {
    const store = await backend.fresh();
    const tokens = new TokenOperations(store, () => start);
    const wrong = await refusal(tokens.create({ name: 'Große Namen', role: 'root', expires: 'soon' }, 'x'));
    expect(wrong).toMatchObject({ code: 'invalid', errors: [{ path: 'name' }, { path: 'role' }, { path: 'expires' }] });
    for (const expires of ['0d', '-1d', '2025-12-31', '4000d', '1y', '2026-13-01T00:00:00Z', '2026-01-01T00:00:00Z'])
      expect(await refusal(tokens.create({ name: 'a', role: 'viewer', expires }, 'x'))).toMatchObject({
        errors: [{ path: 'expires' }],
      });
    expect(await tokens.list()).toEqual([]);
    expect((await store.audit.list()).items).toEqual([]);
    await tokens.create({ name: 'a', role: 'viewer' }, 'x');
    expect(await failureOf(tokens.create({ name: 'a', role: 'admin' }, 'x'))).toMatchObject({ kind: 'conflict' });
    // Tokens that were not created are not in the audit trail either.
    expect((await store.audit.list()).items).toHaveLength(1);
  });
});
