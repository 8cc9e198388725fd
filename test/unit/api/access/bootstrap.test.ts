import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { TokenOperations } from '../../../../src/ops/tokens.ts';
import { openStore } from '../../../../src/store/index.ts';
import { cli } from '../../cli/recording-terminal.ts';

const cwd = mkdtempSync(join(tmpdir(), 'sitewright-bootstrap-'));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
const url = `sqlite:${join(cwd, 'store.db')}`;

it('token bootstrap creates a valid first token without an API, alone on standard output', async () => {
  const run = (env: NodeJS.ProcessEnv, ...args: string[]) =>
    cli(['token', 'bootstrap', ...args], { cwd, env: { SITEWRIGHT_STORE_URL: url, ...env } });
  const made = await run({}, '--name', 'nina', '--expires', '1d');
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^swt_[0-9A-Z]{26}_[\w-]{43}\n$/) });
  expect(made.err).toMatch(/'nina' \(admin, until .*cannot be shown again/);
  expect(made.err).toContain('SITEWRIGHT_ACCESS_TOKENS=on');
  expect(made.err).not.toContain(made.out.trim());
  expect((await run({ SITEWRIGHT_ACCESS_TOKENS: 'on' }, '--name', 'eva')).err).not.toContain('tokens are off');

  const store = await openStore(url);
  const tokens = new TokenOperations(store);
  expect(await tokens.authenticate(made.out.trim())).toMatchObject({
    ok: true,
    principal: { name: 'nina', role: 'admin' },
  });
  expect((await store.audit.list()).items.map(({ target }) => target)).toEqual(['token/eva', 'token/nina']);
  await store.close();

  expect(await run({}, '--name', 'nina')).toMatchObject({ code: 4, out: '' });
  const wrong = await run({}, '--name', 'No', '--expires', 'soon');
  expect(wrong).toMatchObject({ code: 2, out: '' });
  expect(wrong.err).toMatch(/'No' is not a valid token name.*'soon' is not a time/s);
});
