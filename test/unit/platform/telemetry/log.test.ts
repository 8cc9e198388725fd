import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { mintToken } from '../../../../src/platform/secrets/access-token.ts';
import { createLogger } from '../../../../src/platform/telemetry/log.ts';

const CANARY = 'c4n4ry-5ecret-value';

function logged(format: 'json' | 'pretty' = 'json') {
  const lines: string[] = [];
  return { log: createLogger({ level: 'trace', format }, 'test', (line) => lines.push(line)), lines };
}

it('secrets are kept out of every line, wherever they are', () => {
  const keys = [
    'authorization',
    'Authorization',
    'x-auth-token',
    'api_key',
    'apiKey',
    'privateKey',
    'password',
    'secret',
    'token',
    'user_data',
    'userData',
    'Set-Cookie',
  ];
  for (const format of ['json', 'pretty'] as const) {
    const { log, lines } = logged(format);
    for (const key of keys) {
      const holder = { [key]: CANARY };
      log.info(holder, 'at the top');
      log.info({ a: { b: { c: { d: { e: holder } } } } }, 'deep down');
      log.info({ list: [[holder]] }, 'in a list');
      log.info({ headers: { [key]: [CANARY, CANARY] } }, 'several');
      log.info({ err: Object.assign(new Error('failed'), { request: holder }) }, 'with an error');
      log.error(Object.assign(new Error('failed'), { config: { headers: holder } }));
      log.child(holder).info('of a child');
      log.child({ nested: holder }).warn({ holder }, 'of a child, nested');
    }
    expect(lines.length).toBe(keys.length * 8);
    expect(lines.filter((line) => line.includes(CANARY))).toEqual([]);
    // Lines for people omit all of an error but its message.
    if (format === 'json') expect(lines.every((line) => line.includes('[redacted]'))).toBe(true);
  }
});

it('secrets are recognised by their form in foreign text', () => {
  const { log, lines } = logged();
  const { token } = mintToken('01J00000000000000000000000');
  log.info(`GET /x with ${token} refused`);
  log.info({ url: `/api/v1/sites?x=${token}&y=1` }, 'answered');
  log.info({ err: new Error(`bad header Authorization: Bearer ${CANARY}`) }, 'x');
  log.info({ text: `OAuth oauth_version="1.0", oauth_token=${CANARY}, oauth_signature=%26${CANARY}` }, 'x');
  log.info({ text: `postgres://sitewright:${CANARY}@db.example/sitewright` }, 'x');
  expect(lines.filter((line) => line.includes(CANARY) || line.includes(token.slice(-43)))).toEqual([]);
  expect(lines[0]).toContain('GET /x with [redacted] refused');
  expect(lines[4]).toContain('postgres://sitewright:[redacted]@db.example/sitewright');
});

it('data that is not secret is logged unchanged', () => {
  const { log, lines } = logged();
  const fields = {
    site: 'dc1',
    run: 'r1',
    task: 't@n',
    node: 'n',
    tokens: 3,
    keys: ['a'],
    at: new Date(0),
    none: null,
  };
  const given = { nested: { password: CANARY } };
  log.info({ ...fields, ...given, path: 'https://example.org/a:b@c', bearer: 'a bearer of news' }, 'x');
  expect(JSON.parse(lines[0]!)).toMatchObject({
    ...fields,
    at: '1970-01-01T00:00:00.000Z',
    nested: { password: '[redacted]' },
    path: 'https://example.org/a:b@c',
    bearer: 'a bearer of news',
  });
  // The caller's objects stay the caller's.
  expect(given.nested.password).toBe(CANARY);
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  expect(() => log.info(loop, 'for ever')).not.toThrow();
});

it('the report that a failed run carries is not repeated in the log', () => {
  const { log, lines } = logged();
  const report = { outcome: 'failed', nodes: ['a node of the report'] };
  const failed = ApplicationFailure.nonRetryable('a critical group failed', 'CriticalGroupFailed', report);
  // As the SDK decodes it.
  failed.failure = { message: failed.message, applicationFailureInfo: { details: { payloads: [] } } };
  log.error({ err: failed }, 'the run failed');
  log.error({ err: Object.assign(new Error('the workflow failed'), { cause: failed }) }, 'the run failed');
  expect(lines.join('')).toContain('a critical group failed');
  expect(lines.join('')).not.toContain('a node of the report');
  expect(lines.join('')).not.toContain('payloads');
});
