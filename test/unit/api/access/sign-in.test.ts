import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SignInCodes } from '../../../../src/api/access/sign-in-codes.ts';
import { runCli } from '../../../../src/cli/shell/run-cli.ts';
import { type SignInError, signIn } from '../../../../src/ops/index.ts';
import { signedIn } from '../../../../src/ops/sign-in.ts';
import { TokenOperations } from '../../../../src/ops/tokens.ts';
import { freePort } from '../../../../src/platform/free-port.ts';
import { programCode } from '../../../../src/platform/secrets/program-code.ts';
import { loadSettings } from '../../../../src/platform/settings/load-settings.ts';
import { openIdOf } from '../../../../worker/api.ts';
import { type ApiRig, apiAlone } from '../../../api/api-rig.ts';
import { apiSignIn, type OpenIdProviderRig, openIdProviderRig, SmallBrowser } from '../../../rig/openid-provider.ts';
import { cli, recordingTerminal } from '../../cli/recording-terminal.ts';

const rules = {
  nameClaim: 'email',
  rolesClaim: 'groups',
  unstatedAddress: 'refuse' as const,
  values: { viewer: ['staff'], operator: ['ops'], admin: ['site-admins'] },
};
const claims = { iss: 'https://login.example', sub: '1', email: 'nina@sitewright.example', email_verified: true };

describe('claims', () => {
  it.each([
    [{ groups: ['staff'] }, 'viewer'],
    [{ groups: ['ops', 'staff', 'else'] }, 'operator'],
    [{ groups: ['staff', 'site-admins'] }, 'admin'],
    [{ groups: 'ops' }, 'operator'],
  ])('%j give the highest of their roles', (more, role) =>
    expect(signedIn({ ...claims, ...more }, rules)).toEqual({
      name: 'nina@sitewright.example',
      role,
      issuer: 'https://login.example',
      subject: '1',
    }),
  );

  it.each([
    [{}, 'no-role'],
    [{ groups: [] }, 'no-role'],
    [{ groups: ['STAFF', 'opsx', null, 7, ['ops']] }, 'no-role'],
    [{ groups: { ops: true } }, 'no-role'],
    [{ groups: ['ops'], email: undefined }, 'no-name'],
    [{ groups: ['ops'], email: 'a\nb' }, 'no-name'],
    [{ groups: ['ops'], email: '' }, 'no-name'],
    [{ groups: ['ops'], email: ['nina'] }, 'no-name'],
    [{ groups: ['ops'], email_verified: false }, 'no-name'],
    [{ groups: ['ops'], email_verified: undefined }, 'no-name'],
  ])('%j give no access', (more, failure) => {
    let error: unknown;
    try {
      signedIn({ ...claims, ...more }, rules);
    } catch (thrown) {
      error = thrown;
    }
    expect((error as SignInError).failure).toBe(failure);
  });

  it('of a provider that does not say whether addresses are verified give issuer and subject as the name, if at all', () => {
    const lenient = { ...rules, unstatedAddress: 'subject' as const };
    const unstated = { ...claims, email_verified: undefined, groups: ['ops'] };
    expect(signedIn(unstated, lenient)).toMatchObject({ name: 'https://login.example#1', role: 'operator' });
    expect(signedIn({ ...unstated, email_verified: true }, lenient).name).toBe('nina@sitewright.example');
    for (const denied of [false, 'false', null])
      expect(() => signedIn({ ...unstated, email_verified: denied }, lenient)).toThrow();
    // A name that is no address needs no such claim.
    expect(signedIn({ ...unstated, login: 'nina' }, { ...lenient, nameClaim: 'login' }).name).toBe('nina');
    for (const sub of ['a\nb', 'a'.repeat(200)]) expect(() => signedIn({ ...unstated, sub }, lenient)).toThrow();
  });

  it('may be nested, and a claim whose own name has dots comes first', () => {
    const nested = { ...rules, rolesClaim: 'realm_access.roles' };
    expect(signedIn({ ...claims, realm_access: { roles: ['ops'] } }, nested).role).toBe('operator');
    expect(
      signedIn({ ...claims, 'realm_access.roles': ['staff'], realm_access: { roles: ['ops'] } }, nested).role,
    ).toBe('viewer');
    expect(() => signedIn(claims, { ...rules, rolesClaim: '__proto__.constructor' })).toThrow();
  });
});

describe('the settings of a provider', () => {
  const settings = (env: NodeJS.ProcessEnv) => loadSettings({ env, cwd: tmpdir() });
  const whole = {
    SITEWRIGHT_ACCESS_OPENID_ISSUER: 'https://login.example',
    SITEWRIGHT_ACCESS_OPENID_CLIENT_ID: 'sitewright',
    SITEWRIGHT_ACCESS_OPENID_PAGE_URL: 'https://sitewright.example/',
    SITEWRIGHT_ACCESS_OPENID_ADMINS: ' a , b,',
  };

  it('are required together, need TLS except within a machine, and need tokens', () => {
    for (const name of Object.keys(whole).slice(0, 3))
      expect(settings({ ...whole, [name]: '' }).ok, `without ${name}`).toBe(false);
    for (const url of ['http://login.example', 'http://127.0.0.1.example', 'http://localhost.example', 'ftp://x'])
      expect(settings({ ...whole, SITEWRIGHT_ACCESS_OPENID_ISSUER: url }).ok, url).toBe(false);
    const loaded = settings(whole);
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    expect(() => openIdOf(loaded.settings)).toThrow('access.tokens is off');
    const on = settings({ ...whole, SITEWRIGHT_ACCESS_TOKENS: 'on' });
    expect(on.ok && openIdOf(on.settings)).toMatchObject({ pageUrl: 'https://sitewright.example', sessionHours: 10 });
    const none = settings({});
    expect(none.ok && openIdOf(none.settings)).toBeUndefined();
  });
});

describe('a code for a program', () => {
  const user = { name: 'nina', role: 'viewer', issuer: 'i', subject: 's' } as const;
  const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

  it('is valid once, within a minute, with the secret of its challenge', () => {
    let now = 0;
    const codes = new SignInCodes(() => now);
    const code = codes.add(user, challengeOf('v'));
    expect(codes.take(code, 'v')).toEqual(user);
    expect(codes.take(code, 'v')).toBeUndefined();
    // A wrong secret uses it up.
    const second = codes.add(user, challengeOf('v'));
    expect(codes.take(second, 'w')).toBeUndefined();
    expect(codes.take(second, 'v')).toBeUndefined();
    const third = codes.add(user, challengeOf('v'));
    now += 60_000;
    expect(codes.take(third, 'v')).toBeUndefined();
  });
});

describe('an API with a provider', () => {
  let rig: ApiRig;
  let provider: OpenIdProviderRig;
  let pageUrl: string;
  let browser: SmallBrowser;

  beforeAll(async () => {
    const port = await freePort();
    pageUrl = `http://127.0.0.1:${port}`;
    provider = await openIdProviderRig(`${pageUrl}/auth/callback`);
    provider.users.set('nina', { groups: ['ops'] });
    provider.users.set('eva', { groups: ['nothing'] });
    rig = await apiAlone({ tokens: true, openId: apiSignIn(provider.issuer, pageUrl) });
    await rig.api.listen({ port, host: '127.0.0.1' });
    expect((rig.api.server.address() as AddressInfo).port).toBe(port);
  });
  beforeEach(() => {
    browser = new SmallBrowser();
  });
  afterAll(async () => {
    await rig?.close();
    await provider?.close();
  });

  const inTo = (path: string, user = 'nina') =>
    browser.signIn(`${pageUrl}/auth/login?return_to=${encodeURIComponent(path)}`, user, [
      `${pageUrl}/runs`,
      `${pageUrl}/?`,
    ]);
  const own = { 'sec-fetch-site': 'same-origin' };
  const me = () => browser.ask(`${pageUrl}/api/v1/me`);

  it('signs a user in through its pages, and keeps the session where no script can read it', async () => {
    expect((await rig.ask('GET', '/api/v1/session')).body).toEqual({ tokens: true, openid: `${pageUrl}/auth/login` });
    expect((await me()).status).toBe(401);
    expect((await inTo('/runs?site=dc1')).href).toBe(`${pageUrl}/runs?site=dc1`);
    const kept = browser.received.filter((line) => line.startsWith('sitewright='));
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatch(/^sitewright=swt_[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=3600$/);
    // Nothing of the sign-in itself stays.
    expect(browser.cookie('sitewright-sign-in')).toBeUndefined();
    expect(await (await me()).json()).toEqual({ name: 'nina@sitewright.example', role: 'operator', tokens: true });
    const { items } = await rig.store.audit.list();
    expect(items[0]).toMatchObject({
      actor: 'nina@sitewright.example',
      action: 'session.start',
      details: { issuer: provider.issuer, subject: 'nina', role: 'operator' },
    });
    const seen = JSON.stringify([rig.log, items]);
    expect(seen).not.toContain(browser.cookie('sitewright')!.slice(-20));
    expect(seen).not.toMatch(/code=/);
  });

  it('accepts changes by cookie from its own page only', async () => {
    await inTo('/runs');
    const create = (headers: Record<string, string>, name: string) =>
      browser.ask(`${pageUrl}/api/v1/sites`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ name }),
      });
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `${pageUrl}0` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: pageUrl },
      { 'sec-fetch-site': 'none' },
    ])
      expect((await create(headers, 'dc1')).status, JSON.stringify(headers)).toBe(403);
    expect((await create(own, 'dc1')).status).toBe(201);
    expect((await create({ origin: pageUrl }, 'dc2')).status).toBe(201);
    // Signing in with a token, and out, belongs to the page as well.
    const token = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"token":"x"}' };
    expect((await browser.ask(`${pageUrl}/api/v1/session`, token)).status).toBe(403);
    expect((await browser.ask(`${pageUrl}/api/v1/session`, { method: 'DELETE' })).status).toBe(403);
  });

  it('ends a session on signing out, expiry and revocation, streams included', async () => {
    await inTo('/runs');
    const session = browser.cookie('sitewright')!;
    expect((await browser.ask(`${pageUrl}/api/v1/session`, { method: 'DELETE', headers: own })).status).toBe(204);
    expect(browser.cookie('sitewright')).toBeUndefined();
    const bearer = { authorization: `Bearer ${session}` };
    expect((await rig.ask('GET', '/api/v1/me', undefined, bearer)).status).toBe(401);

    await inTo('/runs');
    const stream = await browser.ask(`${pageUrl}/api/v1/events`, { headers: { accept: 'text/event-stream' } });
    expect(stream.status).toBe(200);
    const ended = (async () => {
      for await (const _ of stream.body!);
    })().catch(() => undefined);
    // By the user's name: all of their sessions.
    await new TokenOperations(rig.store).revoke('nina@sitewright.example', 'test');
    await ended;
    expect((await me()).status).toBe(401);

    await inTo('/runs');
    const later = Date.now() + 3_600_001;
    expect(await new TokenOperations(rig.store, () => later).authenticate(browser.cookie('sitewright')!)).toEqual({
      ok: false,
      why: 'expired',
    });
  });

  it('refuses users without a role, and answers that are not for this browser', async () => {
    expect((await inTo('/runs', 'eva')).href).toBe(`${pageUrl}/?sign_in=no-role`);
    expect(browser.cookie('sitewright')).toBeUndefined();
    const at = async (url: string) => (await browser.ask(url)).headers.get('location');
    // Without the cookie of the sign-in, with someone else's code or state, or refused by the provider.
    expect(await at(`${pageUrl}/auth/callback?code=x&state=y`)).toBe('/?sign_in=expired');
    const begin = async () => {
      browser.forget();
      return new URL((await at(`${pageUrl}/auth/login`))!).searchParams.get('state')!;
    };
    const state = await begin();
    expect(await at(`${pageUrl}/auth/callback?code=x&state=${state}&iss=${provider.issuer}`)).toBe('/?sign_in=refused');
    await begin();
    expect(await at(`${pageUrl}/auth/callback?code=x&state=${state}&iss=${provider.issuer}`)).toBe('/?sign_in=refused');
    const own = await begin();
    expect(await at(`${pageUrl}/auth/callback?error=access_denied&state=${own}&iss=${provider.issuer}`)).toBe(
      '/?sign_in=refused',
    );
  });

  it('redirects nobody to another site', async () => {
    for (const to of ['https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/a b', ''])
      expect((await rig.ask('GET', `/auth/login?return_to=${encodeURIComponent(to)}`)).status, to).toBe(400);
    for (const query of ['port=80', 'port=8080', `port=8080&challenge=${'a'.repeat(43)}&state=a%20b`, 'port=x'])
      expect((await rig.ask('GET', `/auth/login?${query}`)).status, query).toBe(400);
  });

  it('sends nothing to a program before its user has compared the code on a page of ours, and said yes there', async () => {
    // An admin with a session at the provider follows a link of someone who listens on their machine.
    provider.users.set('admin', { groups: ['site-admins'] });
    await inTo('/runs', 'admin');
    const challenge = createHash('sha256').update('of the attacker').digest('base64url');
    const program = 'http://127.0.0.1:40998/';
    const link = `${pageUrl}/auth/login?port=40998&challenge=${challenge}&state=x`;
    const page = `${pageUrl}/auth/program`;
    expect((await browser.signIn(link, 'admin', [program, page])).href).toBe(page);
    const asked = await browser.ask(page);
    expect(asked.headers.get('x-frame-options')).toBe('DENY');
    expect(asked.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const text = await asked.text();
    expect(text).toContain(programCode(challenge));
    expect(text).toContain('admin@sitewright.example');
    const answer = (headers: Record<string, string>) => browser.ask(page, { method: 'POST', headers });
    for (const foreign of [
      {},
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: pageUrl },
    ])
      expect((await answer(foreign)).status, JSON.stringify(foreign)).toBe(403);
    // Who does not answer gives nothing away, and who answers does so once, in the browser that was asked.
    expect((await new SmallBrowser().ask(page, { method: 'POST', headers: own })).headers.get('location')).toBe(
      '/?sign_in=expired',
    );
    const form = { ...own, 'content-type': 'application/x-www-form-urlencoded' };
    expect((await answer(form)).headers.get('location')).toMatch(
      /^http:\/\/127\.0\.0\.1:40998\/\?code=[\w-]+&state=x$/,
    );
    expect((await answer(form)).headers.get('location')).toBe('/?sign_in=expired');
  });

  it('gives a program on the machine of the user a session of its own', async () => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const returned = await browser.signIn(`${pageUrl}/auth/login?port=40999&challenge=${challenge}&state=abc`, 'nina', [
      'http://127.0.0.1:40999/',
    ]);
    expect(returned.searchParams.get('state')).toBe('abc');
    const code = returned.searchParams.get('code')!;
    const exchange = (body: object) => rig.ask('POST', '/api/v1/session/exchange', body);
    expect((await exchange({ code: 'other', verifier })).status).toBe(401);
    const { status, body } = await exchange({ code, verifier });
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'session', name: 'nina@sitewright.example', role: 'operator', state: 'valid' });
    expect((await exchange({ code, verifier })).status).toBe(401);
    const mine = { authorization: `Bearer ${body.token}` };
    expect((await rig.ask('GET', '/api/v1/me', undefined, mine)).body.role).toBe('operator');
    expect((await rig.ask('DELETE', '/api/v1/session', undefined, mine)).status).toBe(204);
    expect((await rig.ask('GET', '/api/v1/me', undefined, mine)).status).toBe(401);
  });

  it('lets the command line sign in by a browser, keep its session private, and sign out', async () => {
    const home = await mkdtemp(join(tmpdir(), 'sitewright-login-'));
    const env = { HOME: home, SITEWRIGHT_API: pageUrl };
    const start = () => {
      const terminal = recordingTerminal({ env });
      let ended: Promise<number> | undefined;
      let said = '';
      const address = new Promise<string>((resolve, reject) => {
        const err = (text: string) => {
          const [found] = /http:\/\/\S+/.exec(text) ?? [];
          said = text;
          if (found === undefined) reject(new Error(text));
          else resolve(found);
        };
        ended = runCli(['login'], { ...terminal, err });
      });
      return { terminal, address, ended: ended!, said: () => said };
    };
    const login = start();
    const address = await login.address;
    const { searchParams } = new URL(address);
    // What the page of the API shows as well.
    expect(login.said()).toContain(programCode(searchParams.get('challenge') ?? ''));
    const port = `http://127.0.0.1:${searchParams.get('port')}/`;
    // Others on the machine do not know the state.
    expect((await fetch(`${port}?code=theirs&state=guess`)).status).toBe(404);
    const returned = await browser.signIn(address, 'nina', [port]);
    expect(await (await fetch(returned)).text()).toContain('You are signed in');
    expect(await login.ended).toBe(0);
    expect(login.terminal.said.out).toMatch(/^signed in as nina@sitewright.example \(operator\) until /);
    const file = join(home, '.config/sitewright/contexts.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await cli(['site', 'list'], { env })).code).toBe(0);
    // The session is that of a context, one of the user's own too.
    const listed = async () => JSON.parse((await cli(['context', 'list', '-f', 'json'], { env })).out);
    expect(await listed()).toMatchObject([{ url: pageUrl, token: 'login', in_use: false }]);
    await cli(['context', 'add', 'ours', pageUrl], { env });
    await cli(['context', 'remove', (await listed())[0].name], { env });
    expect((await cli(['site', 'list'], { env })).code).toBe(6);
    const again = start();
    await fetch(
      await browser.signIn(await again.address, 'nina', [
        `http://127.0.0.1:${new URL(await again.address).searchParams.get('port')}/`,
      ]),
    );
    expect(await again.ended).toBe(0);
    expect(await listed()).toMatchObject([{ name: 'ours', url: pageUrl, token: 'login' }]);
    await cli(['context', 'add', 'ours', pageUrl, '--use'], { env });
    expect((await cli(['--context', 'ours', 'site', 'list'], { env })).code).toBe(0);
    // The token goes to the address that issued it, and to no other.
    const received: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      received.push(request.headers.authorization);
      response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await cli(['--api', otherUrl, 'site', 'list'], { env });
    other.close();
    expect(received).toEqual([undefined]);
    // A file that others may read is not used.
    await chmod(file, 0o644);
    expect((await cli(['site', 'list'], { env })).err).toContain('chmod 600');
    await chmod(file, 0o600);
    expect(await cli(['logout'], { env })).toMatchObject({ code: 0, out: 'signed out\n' });
    expect((await cli(['site', 'list'], { env })).code).toBe(6);
    expect((await cli(['logout'], { env })).out).toContain('not signed in at');
    expect(await listed()).toMatchObject([{ name: 'ours', url: pageUrl, token: null }]);

    const second = start();
    const asked = new URL(await second.address).searchParams;
    await fetch(`http://127.0.0.1:${asked.get('port')}/?error=no-role&state=${asked.get('state')}`);
    expect(await second.ended).toBe(6);
    await rm(home, { recursive: true });
  });

  it('stores a token in the cookie, and clears it without revoking it', async () => {
    const { token } = await new TokenOperations(rig.store).create({ name: 'ci', role: 'viewer' }, 'test');
    const signInWith = (given: string, headers: Record<string, string> = own) =>
      browser.ask(`${pageUrl}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ token: given }),
      });
    expect((await signInWith(`${token}x`)).status).toBe(401);
    expect((await signInWith(token)).status).toBe(200);
    expect(browser.received.at(-1)).toBe(`sitewright=${token}; Path=/; HttpOnly; SameSite=Strict`);
    expect((await me()).status).toBe(200);
    // A header is what its sender means.
    expect((await browser.ask(`${pageUrl}/api/v1/me`, { headers: { authorization: 'Bearer x' } })).status).toBe(401);
    await browser.ask(`${pageUrl}/api/v1/session`, { method: 'DELETE', headers: own });
    expect((await me()).status).toBe(401);
    expect((await rig.ask('GET', '/api/v1/me', undefined, { authorization: `Bearer ${token}` })).status).toBe(200);
    // Behind TLS, only over TLS, and for this host alone.
    const url = 'https://sitewright.example';
    const answer = await rig.ask('POST', '/api/v1/session', { token }, { ...own, origin: url });
    expect(String(answer.headers['set-cookie'])).toMatch(/^__Host-sitewright=.*; Secure$/);
  });

  it('reports an unreachable provider, and retries the next time', async () => {
    const gone = signIn(
      { begin: apiSignIn('http://127.0.0.1:1', pageUrl).signIn.begin, finish: () => Promise.reject(new Error()) },
      rules,
    );
    await expect(gone.begin()).rejects.toMatchObject({ failure: 'provider-away' });
    const alone = await apiAlone({ tokens: true, openId: apiSignIn('http://127.0.0.1:1', pageUrl) });
    const { status, headers } = await alone.ask('GET', '/auth/login');
    expect([status, headers.location]).toEqual([303, '/?sign_in=provider-away']);
    await alone.close();
  });
});
