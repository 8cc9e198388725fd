import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/shell/exit-codes.ts';
import { cli } from './recording-terminal.ts';

// Mistakes of an operator are never reported as a defect, and are reported before the process waits for others.

const folder = mkdtempSync(join(tmpdir(), 'sitewright-setup-'));
const at = (name: string): string => join(folder, name);
beforeAll(() => {
  writeFileSync(at('open'), 'x', { mode: 0o644 });
  writeFileSync(at('secret'), 'x', { mode: 0o600 });
  writeFileSync(at('empty'), '', { mode: 0o600 });
  writeFileSync(at('broken.mjs'), 'export default {');
  mkdirSync(at('node'));
  writeFileSync(join(at('node'), 'policy.yaml'), 'allow: [');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ABSENT = at('absent');
const KEYS = 'SITEWRIGHT_TEMPORAL_ENCRYPTION_KEY_FILE';
const CERTIFICATES = { SITEWRIGHT_TEMPORAL_TLS_CERT_FILE: at('open'), SITEWRIGHT_TEMPORAL_TLS_KEY_FILE: at('empty') };
const GATEWAY = { SITEWRIGHT_GATEWAY_HOST: '127.0.0.1', SITEWRIGHT_GATEWAY_PORT: '0' };
const SIGN_IN = {
  SITEWRIGHT_ACCESS_OPENID_ISSUER: 'https://id.test',
  SITEWRIGHT_ACCESS_OPENID_CLIENT_ID: 'us',
  SITEWRIGHT_ACCESS_OPENID_CLIENT_SECRET_FILE: ABSENT,
  SITEWRIGHT_ACCESS_OPENID_PAGE_URL: 'https://page.test',
};

it.each<[string, string, Readonly<Record<string, string>>, string | RegExp]>([
  [
    'worker',
    'keys',
    { [KEYS]: ABSENT },
    `${ABSENT} does not exist: create it with 'sitewright identity encryption-key`,
  ],
  ['worker', 'keys', { [KEYS]: at('open') }, 'may be read by others (mode 644): chmod 600'],
  ['worker', 'keys', { [KEYS]: at('empty') }, 'contains no key'],
  ['worker', 'certificate', CERTIFICATES, 'are not a certificate and its key'],
  ['worker', 'API key', { SITEWRIGHT_TEMPORAL_API_KEY_FILE: ABSENT }, 'absent cannot be read'],
  [
    'worker',
    'user data',
    { SITEWRIGHT_DEPLOY_USER_DATA_FILE: ABSENT },
    /deploy\.user_data_file, .* cannot be read \(ENOENT\)/,
  ],
  ['worker', 'helpers', { SITEWRIGHT_YAQL_HELPERS: at('broken.mjs') }, /yaql\.helpers, .*broken\.mjs, cannot be used/],
  ['api', 'keys', { [KEYS]: ABSENT }, 'does not exist'],
  ['api', 'helpers', { SITEWRIGHT_YAQL_HELPERS: ABSENT }, /yaql\.helpers, .*absent, cannot be used/],
  ['api', 'client secret', { SITEWRIGHT_ACCESS_TOKENS: 'on', ...SIGN_IN }, 'absent cannot be read'],
  ['api', 'sign-in', { ...SIGN_IN, SITEWRIGHT_ACCESS_OPENID_CLIENT_SECRET_FILE: at('secret') }, 'access.tokens is off'],
  ['gateway', 'host', {}, 'gateway.host is not set'],
  ['gateway', 'keys', { ...GATEWAY, [KEYS]: ABSENT }, 'does not exist'],
  [`agent serve --folder ${at('node')}`, 'policy', {}, 'the policy of this node is not usable'],
  [`agent serve --folder ${at('new')}`, 'ticket', {}, 'this node has neither credentials nor'],
])('%s: a problem with its %s is explained', async (command, _subject, settings, text) => {
  const env = { HOME: folder, SITEWRIGHT_STORE_URL: `sqlite:${at('store.db')}`, SITEWRIGHT_API_PORT: '0', ...settings };
  const { code, err } = await cli(command.split(' '), { cwd: folder, env });
  expect(err).toMatch(text);
  expect(err).toMatch(/^error(: |\[)/);
  expect(err).not.toContain('defect');
  expect(code).toBe(EXIT.invalid);
});
