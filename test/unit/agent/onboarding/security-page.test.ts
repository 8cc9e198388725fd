import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { DEFAULT_PATH_ROOTS } from '../../../../src/agent/index.ts';
import type { EnrolmentTicket } from '../../../../src/agent/onboarding/enrolment-ticket.ts';
import { enrolNode } from '../../../../src/gateway/index.ts';
import { freePort } from '../../../../src/platform/free-port.ts';
import { loadSettings } from '../../../../src/platform/settings/load-settings.ts';
import { createLogger } from '../../../../src/platform/telemetry/log.ts';
import { type RunningGateway, startGateway } from '../../../../worker/gateway.ts';
import { type CliAnswer, cli } from '../../cli/recording-terminal.ts';

/*
 * docs/explain/security.md: its commands work as described. Those that need other machines are run elsewhere: `agent install` in test/e2e/ssh, `agent serve`, `agent drain` and `run cancel` in
 * test/e2e/secure-agents (the functions behind them).
 */
const page = readFileSync(new URL('../../../../docs/explain/security.md', import.meta.url), 'utf8');
const ELSEWHERE = ['agent install', 'agent serve', 'agent drain', 'run cancel'];

const folder = mkdtempSync(join(tmpdir(), 'sitewright-security-'));
const at = (name: string) => join(folder, name);
let env: Record<string, string>;
let gateway: RunningGateway;
const ran = new Set<string>();

beforeAll(async () => {
  env = {
    SITEWRIGHT_STORE_URL: `sqlite:${at('store.db')}`,
    SITEWRIGHT_GATEWAY_HOST: '127.0.0.1',
    SITEWRIGHT_GATEWAY_PORT: String(await freePort()),
    SITEWRIGHT_GATEWAY_DATA_DIR: at('gateway'),
  };
  const loaded = loadSettings({ cwd: folder, env });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  gateway = await startGateway(loaded.settings, createLogger({ level: 'silent', format: 'json' }, 'gateway'));
});
afterAll(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function command(...words: string[]): Promise<CliAnswer> {
  ran.add(words.slice(0, 2).join(' '));
  return await cli(words, { cwd: folder, env });
}
async function said(...words: string[]): Promise<string> {
  const { code, out, err } = await command(...words);
  expect([code, err.includes('error')], err).toEqual([0, false]);
  return out;
}
const ticketOf = async (node: string) =>
  JSON.parse(await said('agent', 'token', '--site', 'dc1', '--node', node)) as EnrolmentTicket;

it('a ticket made by hand is valid once, and revoking ends certificates and unused tickets immediately', async () => {
  const ticket = await ticketOf('n1');
  expect(ticket.gateway).toBe(gateway.url);
  await enrolNode(at('n1'), ticket);
  await expect(enrolNode(at('thief'), ticket)).rejects.toThrow('was used before');
  const unused = await ticketOf('n1');
  const list = async () => JSON.parse(await said('identity', 'certificates', 'dc1', '--format', 'json'));
  expect(await list()).toMatchObject([{ node: 'n1', revokedAt: null }]);
  const [{ issuedAt, expiresAt }] = await list();
  // "a certificate for 30 days"
  expect(Math.round((Date.parse(expiresAt) - Date.parse(issuedAt)) / 86_400_000)).toBe(30);
  expect(await said('identity', 'revoke', 'dc1', 'n1', '--reason', 'stolen')).toContain(
    '1 certificate of dc1/n1 revoked',
  );
  expect(await list()).toMatchObject([{ node: 'n1', reason: 'stolen', revokedAt: expect.any(String) }]);
  await expect(enrolNode(at('late'), unused)).rejects.toThrow('was revoked');
});

it('a new key for orders signs immediately; the former can be dropped, the one that signs cannot', async () => {
  const ids = async (): Promise<string[]> =>
    JSON.parse(await said('identity', 'order-keys', '--format', 'json')).map(({ id }: { id: string }) => id);
  const [first] = await ids();
  await said('identity', 'rotate-order-key');
  const [second, former] = await ids();
  expect([former, second === first]).toEqual([first, false]);
  expect((await command('identity', 'remove-order-key', second!)).code).toBe(3);
  await said('identity', 'remove-order-key', first!);
  expect(await ids()).toEqual([second]);
});

it('the file of payload keys is readable by its owner only, and each new key is the first', async () => {
  await said('identity', 'encryption-key', at('keys'));
  const before = readFileSync(at('keys'), 'utf8').trim();
  expect(statSync(at('keys')).mode & 0o777).toBe(0o600);
  await said('identity', 'encryption-key', at('keys'));
  const after = readFileSync(at('keys'), 'utf8').trim();
  expect(after.length).toBeGreaterThan(before.length);
});

it('the example of a policy is valid, with the documented defaults', async () => {
  const [, example] = /```yaml\n([\s\S]*?)```/.exec(page)!;
  writeFileSync(at('policy.yaml'), example!);
  const shown = JSON.parse(await said('agent', 'policy', 'check', at('policy.yaml'), '--format', 'json'));
  expect(shown).toEqual(load(example!));
  writeFileSync(at('empty.yaml'), '');
  const words = await said('agent', 'policy', 'check', at('empty.yaml'));
  expect(words).toContain('types: all');
  expect(words).toContain('scripts: signed');
  expect(words).toContain('longest task: no limit');
  expect(DEFAULT_PATH_ROOTS.length).toBeGreaterThan(0);
  writeFileSync(at('wrong.yaml'), 'shell: perhaps\n');
  expect((await command('agent', 'policy', 'check', at('wrong.yaml'))).code).toBe(2);
});

it('every command of the page is run by a test', () => {
  const named = new Set(
    [...page.matchAll(/`sitewright ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)/g)].map(([, words]) => words!),
  );
  expect(named.size).toBeGreaterThan(8);
  const known = [...ran, ...ELSEWHERE];
  expect([...named].filter((words) => !known.includes(words))).toEqual([]);
});
