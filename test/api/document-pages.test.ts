import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from './api-rig.ts';

/* The documents, which the API serves as they are built. */
let rig: ApiRig;
beforeAll(async () => {
  rig = await apiAlone({ tokens: true });
});
afterAll(() => rig.close());

describe('/docs', () => {
  it('is a page for everyone, under the policy of the web page', async () => {
    expect(await rig.ask('GET', '/docs')).toMatchObject({ status: 308, headers: { location: '/docs/' } });
    const policy = (await rig.ask('GET', '/')).headers['content-security-policy'];
    expect(policy).toContain("script-src 'self'");
    for (const path of ['/docs/', '/docs/index.html', '/docs/reference/cli.html', '/docs/reference/cli'])
      expect(await rig.ask('GET', path), path).toMatchObject({
        status: 200,
        headers: {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': policy,
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
        },
      });
  });

  it('brings its search, script, style and pictures along, which a browser keeps', async () => {
    const types = {
      'search.json': 'application/json',
      'site.js': 'text/javascript; charset=utf-8',
      'style.css': 'text/css; charset=utf-8',
      'images/page-home.png': 'image/png',
    };
    for (const [file, type] of Object.entries(types)) {
      const answer = await rig.ask('GET', `/docs/${file}`);
      expect(answer, file).toMatchObject({ status: 200, headers: { 'content-type': type } });
      const again = await rig.ask('GET', `/docs/${file}`, undefined, { 'if-none-match': answer.headers.etag! });
      expect(again.status).toBe(304);
    }
  });

  it.each([
    '/docs/nothing',
    '/docs/../package.json',
    '/docs/..%2fpackage.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/..%2f..%2fpackage.json',
    '/docs/..%5c..%5cpackage.json',
    '/docs//etc/passwd',
    '/docs/reference',
    '/docs/programs/main.js',
    '/docs/constructor',
  ])('%s is nothing', async (path) => {
    const { status, body } = await rig.ask('GET', path);
    // Of what is outside /docs, nobody without a token learns whether it exists.
    expect([401, 404]).toContain(status);
    expect(JSON.stringify(body)).not.toContain('"dependencies"');
  });

  it('is only read', async () => {
    for (const method of ['POST', 'PUT', 'DELETE'] as const)
      expect([401, 405]).toContain((await rig.ask(method, '/docs/')).status);
  });
});
