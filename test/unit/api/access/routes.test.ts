import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codecAuthorization, guardRoutes } from '../../../../src/api/access/guard.ts';
import { answerProblem } from '../../../../src/api/problems/answer-problem.ts';
import { covers, type Need, ROLES, type Role } from '../../../../src/core/access.ts';
import { API } from '../../../../src/core/contracts/api.ts';
import type { RouteMap } from '../../../../src/core/contracts/route.ts';
import { TokenOperations } from '../../../../src/ops/tokens.ts';
import { type ApiRig, apiAlone, type Method } from '../../../api/api-rig.ts';

let rig: ApiRig;
let secrets: Record<Role, string>;
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

beforeAll(async () => {
  rig = await apiAlone({ tokens: true });
  const tokens = new TokenOperations(rig.store);
  const made = await Promise.all(ROLES.map((role) => tokens.create({ name: `a-${role}`, role }, 'test')));
  secrets = Object.fromEntries(made.map(({ role, token }) => [role, token])) as Record<Role, string>;
});
afterAll(() => rig.close());

let listening: Promise<string> | undefined;
const listen = (): Promise<string> => (listening ??= rig.api.listen({ port: 0, host: '127.0.0.1' }));

/** More than the buffers of a connection hold. */
const ARCHIVE_BYTES = 48 * 1024 * 1024;

interface Route {
  readonly method: Method;
  /** As in the description. */
  readonly path: string;
  readonly need: Need | undefined;
}

async function allRoutes(): Promise<Route[]> {
  const { body } = await rig.ask('GET', '/openapi.json', undefined, bearer(secrets.viewer));
  return Object.entries<Record<string, unknown>>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((name) => {
      const method = name.toUpperCase() as Method;
      const at = `${method} ${path.replace('/api/v1', '').replace(/\{(\w+)\}/g, ':$1')}`;
      return { method, path, need: (API as RouteMap)[at]?.access };
    }),
  );
}

/** An event stream would continue: the test checks its refusal, not its answer. */
const goesOn = (path: string): boolean => path.endsWith('/events');

describe('every route', () => {
  it('is in the map of routes, and every route of the map is registered', async () => {
    const routes = await allRoutes();
    expect(routes.length).toBe(Object.keys(API).length);
    expect(routes.filter(({ need }) => need === undefined)).toEqual([]);
  });

  it('has the role of its kind: viewers read, operators run, admins change shared and irreversible things', async () => {
    for (const { method, path, need } of await allRoutes()) {
      const name = `${method} ${path}`;
      const below = path.replace('/api/v1', '');
      const asks = /\/documents\/check$|\/select$|\/graphs\/check\/?$|\/attributes\/plan$|\/rehearsals$/.test(path);
      const shared = /^\/(releases|plugins|packages|workers)/.test(below);
      const lost = method === 'DELETE' && /^\/(sites|clusters|releases)\/[^/]+$/.test(below);
      const isOfSession = below.startsWith('/session');
      // A webhook has no token: its signature is checked.
      const wanted = /^\/(health|health\/live|version)$|\/webhook$/.test(below)
        ? 'anyone'
        : isOfSession
          ? method === 'DELETE'
            ? 'viewer'
            : 'anyone'
          : below.startsWith('/tokens') || (method !== 'GET' && (shared || lost || below === '/notices/receivers'))
            ? 'admin'
            : method === 'GET' || asks
              ? 'viewer'
              : 'operator';
      expect(`${name} ${need}`).toBe(`${name} ${wanted}`);
    }
  });

  it('goes beyond the limits of a site for an admin alone', async () => {
    const beyond = { kind: 'deploy_site', override_limits: 'the uplink is back' };
    const start = (secret: string) => rig.ask('POST', '/api/v1/sites/nowhere/runs', beyond, bearer(secret));
    expect(await start(secrets.operator)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await start(secrets.admin)).status).not.toBe(403);
    const graphs = { cluster: 9_999, graphs: [{ type: 'default' }], override_limits: 'the uplink is back' };
    const execute = (secret: string) => rig.ask('POST', '/api/v1/graphs/execute/', graphs, bearer(secret));
    expect(await execute(secrets.operator)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect((await execute(secrets.admin)).status).not.toBe(403);
  });

  it('changes nothing of a package for an operator, whichever way names it', async () => {
    const { releases, plugins, graphs } = rig.store;
    const release = (await releases.create({ name: 'of a package', version: '1', operatingSystem: 'x' })).id;
    const plugin = (await plugins.create({ name: 'p', title: 'p', version: '1.0.0', packageVersion: '5.0.0' })).id;
    const tasks = [{ id: 'theirs', type: 'stage' }];
    for (const owner of [
      { kind: 'release', id: release },
      { kind: 'plugin', id: plugin },
    ] as const) {
      const { id } = (await graphs.put(owner, 'default', { tasks: [] })).graph;
      const of = `/api/v1/${owner.kind}s/${owner.id}`;
      const ways = [
        ['PUT', `/api/v1/graphs/${id}`],
        ['PATCH', `/api/v1/graphs/${id}`],
        ['POST', `${of}/deployment_graphs/evil`],
        ['PUT', `${of}/deployment_graphs/default`],
        ['PATCH', `${of}/deployment_graphs/default`],
        ['DELETE', `${of}/deployment_graphs/default`],
        ['DELETE', `/api/v1/graphs/${id}`],
      ] as const;
      for (const [method, at] of ways) {
        const body = method === 'DELETE' ? undefined : { tasks };
        const { status, body: answer } = await rig.ask(method, at, body, bearer(secrets.operator));
        expect([method, at, status, answer.code]).toEqual([method, at, 403, 'forbidden']);
      }
      const tag = new URLSearchParams({
        [`${owner.kind}_id`]: String(owner.id),
        tag_name: 'm',
        meta: '{"has_primary":true}',
      });
      for (const method of ['POST', 'PUT', 'DELETE'] as const)
        expect((await rig.ask(method, `/api/v1/tags?${tag}`, undefined, bearer(secrets.operator))).status).toBe(403);
      const changed = await rig.ask('PUT', `/api/v1/graphs/${id}`, { tasks }, bearer(secrets.admin));
      expect(changed).toMatchObject({ status: 200, body: { tasks: [{ id: 'theirs' }] } });
    }
    const listed = { url: `/api/v1/releases/${release}/deployment_tasks/`, tasks: [{ id: 'x', type: 'stage' }] };
    expect((await rig.ask('PUT', listed.url, listed.tasks, bearer(secrets.operator))).status).toBe(403);
    const cluster = (await rig.store.clusters.create({ name: 'c', releaseId: release })).id;
    const own = await rig.ask(
      'POST',
      `/api/v1/clusters/${cluster}/deployment_graphs/own`,
      { tasks },
      bearer(secrets.operator),
    );
    expect(own.status).toBe(201);
    const { id } = own.body;
    expect((await rig.ask('PUT', `/api/v1/graphs/${id}`, { tasks: [] }, bearer(secrets.operator))).status).toBe(200);
    expect((await rig.ask('DELETE', `/api/v1/graphs/${id}`, undefined, bearer(secrets.operator))).status).toBe(204);
  });

  it('admits authorized callers and nobody else', async () => {
    const callers: readonly [Role | undefined, Record<string, string>][] = [
      [undefined, {}],
      [undefined, bearer('nonsense')],
      ...ROLES.map((role) => [role, bearer(secrets[role])] as [Role, Record<string, string>]),
    ];
    for (const { method, path, need } of await allRoutes()) {
      const url = path.replace(/\{\w+\}/g, '999');
      for (const [role, headers] of callers) {
        const may = role === undefined ? need === 'anyone' : covers(role, need!);
        if (may && (goesOn(path) || path.endsWith('/webhook'))) continue;
        const { status, body, headers: answered } = await rig.ask(method, url, undefined, headers);
        const name = `${method} ${path} as ${role ?? 'no role'}: ${status}`;
        if (may) expect([401, 403], name).not.toContain(status);
        else {
          expect(status, name).toBe(role === undefined ? 401 : 403);
          expect(body, name).toMatchObject({
            code: role === undefined ? 'unauthenticated' : 'forbidden',
            hint: expect.stringMatching(/token/),
          });
          if (role === undefined) expect(answered['www-authenticate'], name).toMatch(/^Bearer realm=/);
        }
      }
    }
  });

  it('needs a token, except health and the files of the page, also outside the API', async () => {
    for (const path of [
      '/openapi.json',
      '/docs/api',
      '/docs/api/',
      '/docs/api/json',
      '/docs/api/static/index.css',
      '/nothing',
      '/api/v1/nothing',
      '/api/v1',
      '/metrics',
    ]) {
      expect([path, (await rig.ask('GET', path)).status]).toEqual([path, 401]);
      expect((await rig.ask('GET', path, undefined, bearer(secrets.viewer))).status).not.toBe(401);
    }
    for (const path of ['/health', '/health/live', '/api/v1/version', '/api/v1/health/live'])
      expect((await rig.ask('GET', path)).status, path).not.toBe(401);
    expect((await rig.ask('GET', '/api/v1/version')).body).toMatchObject({ auth_required: true });
    // Addresses, files and users are for those with a token.
    for (const path of ['/health', '/api/v1/health']) {
      const anonymous = JSON.stringify((await rig.ask('GET', path)).body);
      const known = JSON.stringify((await rig.ask('GET', path, undefined, bearer(secrets.viewer))).body);
      expect([anonymous.includes('127.0.0.1'), known.includes('127.0.0.1')]).toEqual([false, true]);
    }
    // As its GET.
    expect((await rig.ask('HEAD', '/api/v1/sites')).status).toBe(401);
    expect((await rig.ask('HEAD', '/api/v1/sites', undefined, bearer(secrets.viewer))).status).toBe(200);
    expect((await rig.ask('OPTIONS', '/api/v1/sites')).status).toBe(401);
  });

  it('is for admins by default', async () => {
    const app = Fastify();
    app.setErrorHandler(answerProblem);
    guardRoutes(app, new TokenOperations(rig.store), async () => undefined, false);
    app.get('/brand-new', () => 'here');
    const status = async (role: Role) =>
      (await app.inject({ method: 'GET', url: '/brand-new', headers: bearer(secrets[role]) })).statusCode;
    expect([await status('viewer'), await status('operator'), await status('admin')]).toEqual([403, 403, 200]);
    await app.close();
  });
});

describe('a caller', () => {
  it('is refused before any of the body is read', async () => {
    const { status } = await rig.ask('POST', '/api/v1/sites', '{ this is not JSON', {
      'content-type': 'application/json',
    });
    expect(status).toBe(401);
  });

  it('can send the token as clients of Fuel do', async () => {
    const fuel = { 'x-auth-token': secrets.viewer };
    expect((await rig.ask('GET', '/api/v1/clusters', undefined, fuel)).status).toBe(200);
    expect((await rig.ask('POST', '/api/v1/sites', { name: 'x' }, fuel)).body).toMatchObject({
      code: 'forbidden',
      detail: "this requires the role operator; the token 'a-viewer' has the role viewer",
    });
  });

  it('gets its own identity', async () => {
    for (const role of ROLES)
      expect((await rig.ask('GET', '/api/v1/me', undefined, bearer(secrets[role]))).body).toEqual({
        name: `a-${role}`,
        role,
        tokens: true,
      });
  });

  it('acts under the name of its token, whatever name it sends', async () => {
    const headers = { ...bearer(secrets.operator), 'x-sitewright-user': 'somebody-else' };
    expect((await rig.ask('POST', '/api/v1/releases', {}, headers)).status).toBe(403);
    await rig.ask('POST', '/api/v1/sites', { name: 'dc1' }, headers);
    const file = 'schema: drydock/BaremetalNode/v1\nmetadata: { schema: metadata/Document/v1, name: n1 }\ndata: {}\n';
    const revision = { files: [{ name: 'n.yaml', text: file }], force: true, author: 'somebody-else' };
    const { body } = await rig.ask('POST', '/api/v1/sites/dc1/revisions', revision, headers);
    expect(body).toMatchObject({ revision: { author: 'a-operator' } });
    const { body: audit } = await rig.ask('GET', '/api/v1/audit', undefined, bearer(secrets.viewer));
    const actors: string[] = audit.items.map(({ actor }: { actor: string }) => actor);
    expect(actors).toContain('a-operator');
    expect(actors).not.toContain('somebody-else');
  });

  it.each(['is revoked', 'expires'])(
    'loses its event stream, and running uploads and downloads, within seconds when its token %s',
    async (way) => {
      const url = await listen();
      const pack = { name: 'large', version: '1', packageVersion: '5.0.0', kind: 'release', metadata: {} };
      const { package: large } = await rig.store.packages.put({ ...pack, archive: Buffer.alloc(ARCHIVE_BYTES) });
      const tokens = new TokenOperations(rig.store);
      const user = { name: `watcher-${way}`, role: 'operator', issuer: 'i', subject: 's' } as const;
      // Long enough to be used by then, on a loaded machine, too.
      const seconds = way === 'expires' ? 15 : 3_600;
      const { token, expires_at: expires } = await tokens.startSession(user, seconds / 3_600);
      const headers = bearer(token);
      const stream = await fetch(`${url}/api/v1/events`, { headers });
      const reader = stream.body!.getReader();
      const first = new TextDecoder().decode((await reader.read()).value);
      expect(first).toMatch(/^event: all\ndata: \{/);
      const upload = httpRequest(`${url}/api/v1/sites`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'content-length': '1000', expect: '100-continue' },
      });
      const cut = once(upload, 'error');
      upload.flushHeaders();
      await once(upload, 'continue');
      upload.write('{');
      // Unread data fills the buffers of both sides, and the rest waits.
      const download = connect(Number(new URL(url).port), '127.0.0.1');
      download.write(
        `GET /api/v1/packages/${large.id}/archive HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`,
      );
      await once(download, 'readable');

      if (way === 'is revoked') await tokens.revoke(user.name, 'test');
      const ended = way === 'is revoked' ? Date.now() : Date.parse(expires!);
      const streamEnd = (async () => {
        while (!(await reader.read()).done);
      })().catch(() => undefined);
      await Promise.all([streamEnd, cut]);
      expect(Date.now() - ended).toBeLessThan(20_000);
      let received = 0;
      download.on('data', (chunk) => (received += chunk.length)).on('error', () => undefined);
      await once(download, 'close');
      expect(received).toBeGreaterThan(0);
      expect(received).toBeLessThan(ARCHIVE_BYTES);
      await rig.store.packages.delete(large.id);
    },
    45_000,
  );

  it('loses access immediately when its token is revoked', async () => {
    const admin = bearer(secrets.admin);
    const made = await rig.ask('POST', '/api/v1/tokens', { name: 'short', role: 'viewer', expires: '1d' }, admin);
    expect(made).toMatchObject({
      status: 201,
      headers: { 'cache-control': 'no-store' },
      body: { name: 'short', role: 'viewer', state: 'valid', created_by: 'a-admin' },
    });
    const own = bearer(made.body.token);
    expect((await rig.ask('GET', '/api/v1/sites', undefined, own)).status).toBe(200);
    expect((await rig.ask('DELETE', '/api/v1/tokens/short', undefined, admin)).body).toMatchObject({
      state: 'revoked',
      revoked_by: 'a-admin',
    });
    const after = await rig.ask('GET', '/api/v1/sites', undefined, own);
    expect(after).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated', detail: 'the token is revoked' },
      headers: { 'www-authenticate': 'Bearer realm="sitewright", error="invalid_token"' },
    });
    expect((await rig.ask('DELETE', '/api/v1/tokens/short', undefined, admin)).status).toBe(404);
    expect(
      (await rig.ask('POST', '/api/v1/tokens', { name: 'NO', role: 'viewer', expires: 'never' }, admin)).body,
    ).toMatchObject({
      code: 'invalid',
      errors: [{ path: 'name' }, { path: 'expires' }],
    });
    expect((await rig.ask('POST', '/api/v1/tokens', { name: 'a-admin', role: 'viewer' }, admin)).body).toMatchObject({
      code: 'conflict',
    });
  });

  it('leaves no token in any line of the log, nor in any answer but the first', async () => {
    const admin = bearer(secrets.admin);
    const made = await rig.ask('POST', '/api/v1/tokens', { name: 'canary', role: 'operator' }, admin);
    const canary = made.body.token as string;
    const before = rig.log.length;
    const own = { ...bearer(canary), 'x-request-id': 'canary' };
    const answers = [
      await rig.ask('POST', '/api/v1/sites', { name: 'canary' }, own),
      await rig.ask('POST', '/api/v1/sites', { name: 'Not A Name' }, own),
      await rig.ask('POST', '/api/v1/sites/canary/runs', { kind: 'deploy_site' }, own),
      await rig.ask('GET', `/api/v1/sites?token=${canary}`, undefined, own),
      await rig.ask('GET', `/api/v1/runs/${canary}`, undefined, { 'x-auth-token': canary }),
      await rig.ask('GET', '/api/v1/tokens', undefined, admin),
      await rig.ask('GET', '/api/v1/audit', undefined, admin),
      await rig.ask('GET', '/api/v1/sites', undefined, bearer(`${canary}x`)),
    ];
    expect(rig.log.length).toBeGreaterThan(before + 5);
    expect(JSON.stringify(rig.log)).not.toContain(canary.slice(-43));
    const shown = answers.filter((answer) => JSON.stringify(answer.body).includes(canary.slice(-43)));
    // Text that a caller writes into a path is shown to that caller alone.
    expect(shown.map(({ body }) => body.instance ?? body)).toEqual([`/api/v1/runs/${canary}`]);
  });
});

describe('the codec endpoint', () => {
  it('accepts the same tokens: viewers decode, operators also encode', async () => {
    const authorize = codecAuthorization(new TokenOperations(rig.store));
    const statuses = async (headers: Record<string, string>) => [
      (await authorize(headers, 'decode'))?.status,
      (await authorize(headers, 'encode'))?.status,
    ];
    expect(await statuses({})).toEqual([401, 401]);
    expect(await statuses(bearer('swt_unknown'))).toEqual([401, 401]);
    expect(await statuses(bearer(secrets.viewer))).toEqual([undefined, 403]);
    expect(await statuses(bearer(secrets.operator))).toEqual([undefined, undefined]);
  });
});

describe('limits of rates', () => {
  it('apply to each token and each address separately, and return when to retry', async () => {
    const limited = await apiAlone({ tokens: true, ratePerMinute: 3 });
    const tokens = new TokenOperations(limited.store);
    const one = bearer((await tokens.create({ name: 'one', role: 'viewer' }, 'x')).token);
    const two = bearer((await tokens.create({ name: 'two', role: 'viewer' }, 'x')).token);
    const get = (headers: Record<string, string>, path = '/api/v1/sites') =>
      limited.ask('GET', path, undefined, headers);
    for (let n = 0; n < 3; n++) expect((await get(one)).status).toBe(200);
    const refused = await get(one);
    expect(refused).toMatchObject({ status: 429, body: { code: 'too-many-requests', hint: expect.any(String) } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
    expect((await get(two)).status).toBe(200);
    // Wrong tokens are counted by their address: guessing is slow.
    for (let n = 0; n < 3; n++) expect((await get(bearer(`guess${n}`))).status).toBe(401);
    expect((await get(bearer('guess'))).status).toBe(429);
    // A liveness probe is never refused.
    for (let n = 0; n < 5; n++) expect((await get({}, '/health/live')).status).toBe(200);
    await limited.close();
  });

  it('are off at 0, and count addresses where there are no tokens', async () => {
    const [open, limited] = await Promise.all([apiAlone(), apiAlone({ ratePerMinute: 2 })]);
    for (let n = 0; n < 20; n++) expect((await open.ask('GET', '/api/v1/version')).status).toBe(200);
    const statuses = [];
    for (let n = 0; n < 3; n++) statuses.push((await limited.ask('GET', '/api/v1/nowhere')).status);
    expect(statuses).toEqual([404, 404, 429]);
    expect((await open.ask('GET', '/api/v1/me', undefined, { 'x-sitewright-user': 'nina' })).body).toEqual({
      name: 'nina',
      role: 'admin',
      tokens: false,
    });
    expect((await open.ask('GET', '/api/v1/version')).body).toMatchObject({ auth_required: false });
    await Promise.all([open.close(), limited.close()]);
  });
});
