import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from '../../../api/api-rig.ts';

const NEW_SITE = { name: 'dc1' };

describe('without tokens', () => {
  let rig: ApiRig;
  beforeAll(async () => {
    rig = await apiAlone();
  });
  afterAll(() => rig.close());

  const statusAs = async (headers: Record<string, string>): Promise<number> =>
    (await rig.ask('GET', '/api/v1/sites', undefined, headers)).status;

  it.each([
    'localhost',
    'localhost:8080',
    'LOCALHOST:1',
    'localhost.:8080',
    'sitewright.localhost',
    '127.0.0.1',
    '127.9.8.7:8080',
    '[::1]',
    '[::1]:8080',
  ])('the API answers as %s', async (host) => expect(await statusAs({ host })).toBe(200));

  it.each([
    'evil.example',
    'evil.example:8080',
    '10.0.0.1',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'notlocalhost',
    '[::2]',
    '[::1].evil.example',
    '127.0.0.1@evil.example',
  ])('the API does not answer as %j, a name that others may point at it', async (host) => {
    const { status, body } = await rig.ask('GET', '/api/v1/sites', undefined, { host });
    expect({ status, code: body.code }).toEqual({ status: 403, code: 'forbidden' });
    expect(body.hint).toContain('access.tokens');
    // Nor the files next to the API: the page could be read, and its address used.
    expect((await rig.ask('GET', '/', undefined, { host })).status).toBe(403);
  });

  it("another site's page changes nothing, whatever it sends", async () => {
    const theirs = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: 'https://localhost:80' },
      { origin: 'http://localhost:81' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://localhost:80' },
    ];
    for (const headers of theirs) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const)
        expect((await rig.ask(method, '/api/v1/sites', undefined, headers)).status).toBe(403);
      // Even where no body is needed, so that a browser would send it without a preflight request.
      expect((await rig.ask('POST', '/api/v1/runs/1/cancel', undefined, headers)).status).toBe(403);
    }
    expect((await rig.ask('GET', '/api/v1/sites')).body.items).toEqual([]);
    const preflight = await rig.ask('OPTIONS', '/api/v1/sites', undefined, { origin: 'http://evil.example' });
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  it('a foreign page gets no answer into a frame, a picture or a script', async () => {
    for (const path of ['/', '/docs/', '/openapi.json', '/api/v1/sites', '/api/v1/nowhere', '/metrics']) {
      const { headers } = await rig.ask('GET', path);
      expect(headers, path).toMatchObject({
        'x-frame-options': 'DENY',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
      });
    }
  });

  it('the own page and programs may make changes', async () => {
    const ours: Record<string, string>[] = [
      {},
      { origin: 'http://localhost:80', host: 'localhost:80' },
      { origin: 'http://localhost:80', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
    ];
    for (const [at, headers] of ours.entries())
      expect((await rig.ask('POST', '/api/v1/sites', { name: `dc${at}` }, headers)).status).toBe(201);
  });

  it('a foreign host name is refused on a real connection, too', async () => {
    await rig.api.listen({ host: '127.0.0.1', port: 0 });
    const { port } = rig.api.server.address() as AddressInfo;
    const ask = (host: string) =>
      new Promise<number | undefined>((answered, failed) =>
        request({ host: '127.0.0.1', port, path: '/api/v1/sites', headers: { host } }, (answer) => {
          answer.resume();
          answered(answer.statusCode);
        })
          .once('error', failed)
          .end(),
      );
    expect(await ask(`127.0.0.1:${port}`)).toBe(200);
    expect(await ask(`evil.example:${port}`)).toBe(403);
  });
});

it('with tokens, access depends on the token alone, which no foreign page has', async () => {
  const rig = await apiAlone({ tokens: true });
  const headers = { host: 'sitewright.example', origin: 'https://ops.example' };
  expect((await rig.ask('POST', '/api/v1/sites', NEW_SITE, headers)).status).toBe(401);
  expect((await rig.ask('GET', '/', undefined, headers)).status).toBe(200);
  await rig.close();
});
