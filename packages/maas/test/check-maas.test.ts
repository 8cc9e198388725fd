import { describe, expect, it } from 'vitest';
import { checkMaas } from '../src/check-maas.ts';
import { summaryOfMaasCheck } from '../src/check-summary.ts';
import { MaasClient } from '../src/client.ts';
import { type HttpAnswer, TransportError } from '../src/transport.ts';
import { testKey } from './rig/maas-process.ts';

function check(
  answers: Record<string, Partial<HttpAnswer> | 'refused'>,
  series: readonly string[] = [],
  url = 'https://maas.test:5240',
) {
  const client = new MaasClient({
    url,
    apiKey: testKey,
    transport: {
      close: () => Promise.resolve(),
      send(request) {
        const [path = '', query = ''] = request.url.replace(/^.*\/api\/2\.0\//, '').split('?');
        const op = new URLSearchParams(query).get('op');
        const answer =
          answers[op === 'power_parameters' || request.method === 'POST' ? `${request.method} ${path}` : path];
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
  'POST tags/': { status: 400, body: '{"name": ["This field is required."]}' },
  'machines/': {
    body: JSON.stringify(
      [4, 6, 4, 99].map((status, i) => ({ system_id: `m${i}`, hostname: `h${i}`, status, pool: i < 2 ? 'a' : 'b' })),
    ),
  },
  'boot-resources/': { body: '[{"id": 1, "name": "ubuntu/jammy", "architecture": "amd64/ga-22.04"}]' },
};

const forbidden = { status: 403, body: '' };
const noRight = {
  'GET machines/': forbidden,
  ...Object.fromEntries([0, 1, 2, 3].map((i) => [`GET machines/m${i}/`, forbidden])),
};

describe('maas check', () => {
  it.each([
    ['all machines', {}, { ok: true, message: 'oper may edit all machines' }],
    [
      'those of a pool',
      { ...noRight, 'GET machines/m3/': {} },
      { ok: true, message: 'oper may edit the machines of pool b' },
    ],
  ])('asks what the user may do, not whether it is an administrator: %s', async (_which, answers, finding) => {
    const result = await check({
      ...ok,
      'users/': { body: '{"username": "oper", "is_superuser": false}' },
      ...answers,
    });
    expect(result.ok).toBe(true);
    expect(result.findings.filter((one) => one.check === 'permissions')).toMatchObject([finding]);
  });

  it('all well: version, user, machines by state, images', async () => {
    const result = await check(ok);
    expect(result).toMatchObject({
      ok: true,
      root: 'https://maas.test:5240/MAAS/api/2.0/',
      version: { version: '3.6.5' },
      user: { username: 'admin', editsMachines: true },
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
      'a user who may edit no machine',
      { 'users/': { body: '{"username": "oper", "is_superuser": true}' }, ...noRight },
      'permissions',
      /key of an administrator/,
      /those of other users are invisible/,
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
    const operator = { ...ok, ...noRight, 'users/': { body: '{"username": "oper"}' } };
    expect(summaryOfMaasCheck(await check(operator, ['noble']))).toMatchObject({
      ok: false,
      message: expect.stringMatching(/^oper may not edit machines in MAAS: .*; MAAS has no image for noble/),
      fix: expect.stringMatching(/administrator.*; import the image/),
    });
  });

  it.each([
    ['http://maas.test:5240', true],
    ['http://10.0.0.2/MAAS', true],
    ['http://127.evil.test:5240', true],
    ['http://localhost.evil.test:5240', true],
    ['http://[fd00::1]:5240', true],
    ['https://maas.test', false],
    ['http://127.0.0.1:5240', false],
    ['http://127.1.2.3:5240', false],
    ['http://localhost:5240', false],
    ['http://[::1]:5240', false],
  ])('warns of an address to which the key goes in clear: %s is one: %s', async (url, clear) => {
    const all = [await check(ok, [], url), await check({ ...ok, 'version/': 'refused' }, [], url)];
    for (const { findings } of all)
      expect(findings.filter((one) => one.check === 'encryption')).toMatchObject(
        clear ? [{ ok: false, severity: 'warning', fix: expect.any(String) }] : [],
      );
    expect(all[0]!.ok).toBe(true);
    expect(summaryOfMaasCheck(all[0]!).warning !== undefined).toBe(clear);
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
