import { describe, expect, it } from 'vitest';
import { checkMaas } from '../src/check-maas.ts';
import { summaryOfMaasCheck } from '../src/check-summary.ts';
import { MaasClient } from '../src/client.ts';
import { type HttpAnswer, TransportError } from '../src/transport.ts';
import { testKey } from './rig/maas-process.ts';

function check(answers: Record<string, Partial<HttpAnswer> | 'refused'>, series: readonly string[] = []) {
  const client = new MaasClient({
    url: 'http://maas.test:5240',
    apiKey: testKey,
    transport: {
      close: () => Promise.resolve(),
      send(request) {
        const answer = answers[request.url.replace(/^.*\/api\/2\.0\//, '').replace(/\?.*/, '')];
        if (answer === 'refused') return Promise.reject(new TransportError('unreachable', 'ECONNREFUSED'));
        return Promise.resolve({ status: 200, headers: {}, body: '[]', ...answer });
      },
    },
  });
  return checkMaas(client, { series });
}
const ok = {
  'version/': { body: '{"version": "3.6.5", "capabilities": ["x"]}' },
  'users/': { body: '{"username": "admin", "is_superuser": true}' },
  'machines/': {
    body: JSON.stringify([4, 6, 4, 99].map((status, i) => ({ system_id: `m${i}`, hostname: `h${i}`, status }))),
  },
  'boot-resources/': { body: '[{"id": 1, "name": "ubuntu/jammy", "architecture": "amd64/ga-22.04"}]' },
};

describe('maas check', () => {
  it('all well: version, user, machines by state, images', async () => {
    const result = await check(ok);
    expect(result).toMatchObject({
      ok: true,
      root: 'http://maas.test:5240/MAAS/api/2.0/',
      version: { version: '3.6.5' },
      user: { username: 'admin', isSuperuser: true },
      machines: [
        { status: 4, name: 'Ready', count: 2 },
        { status: 6, name: 'Deployed', count: 1 },
        { status: 99, name: 'status 99', count: 1 },
      ],
    });
    expect(result.findings.every((finding) => finding.ok && finding.fix === undefined)).toBe(true);
  });

  it.each([
    ['nothing listens', { 'version/': 'refused' as const }, 'reachable', /check the MAAS URL/],
    ['another server', { 'version/': { status: 404, body: '<html>nginx</html>' } }, 'reachable', /end in \/MAAS/],
    [
      'a wrong key',
      { 'users/': { status: 401, body: 'Authorization Error: Invalid API key.' } },
      'api-key',
      /create one/,
    ],
    [
      'no administrator',
      { 'users/': { body: '{"username": "oper", "is_superuser": false}' } },
      'permissions',
      /administrator/,
      /machines of other users are invisible/,
    ],
    ['the list fails', { 'machines/': { status: 503, body: 'away' } }, 'machines', /logs|again/],
    ['no images', { 'boot-resources/': { body: '[]' } }, 'images', /import images/],
  ])('%s: reported once, with its fix', async (_name, answers, at, fix, message = /./) => {
    const result = await check({ ...ok, ...answers });
    const bad = result.findings.filter((finding) => !finding.ok);
    expect(bad).toHaveLength(1);
    expect(bad[0]?.check).toBe(at);
    expect(bad[0]?.message).toMatch(message);
    expect(bad[0]?.fix).toMatch(fix);
    expect(result.ok).toBe(at === 'images');
    expect(JSON.stringify(result)).not.toContain(testKey.split(':')[2]);
  });

  it('is summarised in one line: the MAAS, or all that prevents deploying', async () => {
    expect(summaryOfMaasCheck(await check(ok))).toEqual({ ok: true, message: 'MAAS 3.6.5 as admin' });
    expect(summaryOfMaasCheck(await check({ ...ok, 'boot-resources/': { body: '[]' } })).ok).toBe(true);
    const operator = { ...ok, 'users/': { body: '{"username": "oper", "is_superuser": false}' } };
    expect(summaryOfMaasCheck(await check(operator, ['noble']))).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^oper is not an administrator: .*; MAAS has no image for noble/),
      fix: expect.stringMatching(/administrator.*; import the image/),
    });
  });

  it('a series that documents name and MAAS has no image of is an error', async () => {
    expect((await check(ok, ['jammy', 'ubuntu/jammy', '22.04', '99.04'])).ok).toBe(true);
    const result = await check(ok, ['jammy', 'noble', 'custom/ours', '24.04']);
    expect(result.ok).toBe(false);
    expect(result.findings.filter((finding) => !finding.ok)).toMatchObject([
      {
        check: 'images',
        severity: 'error',
        message: expect.stringContaining('no image for 24.04, custom/ours, noble,'),
      },
    ]);
  });
});
