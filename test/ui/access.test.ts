import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { ROLES, type Role } from '../../src/core/access.ts';
import { TokenOperations } from '../../src/ops/tokens.ts';
import { freePort } from '../../src/platform/free-port.ts';
import { programCode } from '../../src/platform/secrets/program-code.ts';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { environment } from '../api/fuel-graphs-rig.ts';
import { apiSignIn, type OpenIdProviderRig, openIdProviderRig } from '../rig/openid-provider.ts';
import { closePages, describePage, launch, type OpenPage, openPage, patientPage } from './browser.ts';

describePage('the page of an API with tokens', () => {
  let browser: Browser;
  let rig: ApiRig;
  let provider: OpenIdProviderRig;
  let origin: string;
  let secrets: Record<Role, string>;
  const opened: OpenPage[] = [];

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    [browser, provider] = await Promise.all([launch(), openIdProviderRig(`${origin}/auth/callback`)]);
    provider.users.set('nina', { groups: ['ops'] });
    rig = await apiAlone({ tokens: true, openId: apiSignIn(provider.issuer, origin) });
    const tokens = new TokenOperations(rig.store);
    const made = await Promise.all(ROLES.map((role) => tokens.create({ name: `nina-${role}`, role }, 'test')));
    secrets = Object.fromEntries(made.map(({ role, token }) => [role, token])) as Record<Role, string>;
    await environment(rig.store, 'prod');
    await rig.api.listen({ port, host: '127.0.0.1' });
  });
  afterEach(() => closePages(opened));
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
    await provider?.close();
  });

  const at = async (path: string) => {
    const one = await openPage(browser, `${origin}${path}`);
    opened.push(one);
    return one.page;
  };

  it('the page asks for a token, reports a wrong one, and shows the requested view for a valid one', async () => {
    const page = await at('/clusters');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    // Only the question: no failed list, no button that cannot work.
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByText('sitewright token create').waitFor();
    await page.getByLabel('Token').fill('swt_nobody_knows_this_one');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Ask an admin for another').waitFor();
    await page.getByLabel('Token').fill(secrets.operator);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'prod' }).waitFor();
    await page.getByText('nina-operator').waitFor();

    // It is kept for other pages, out of reach of scripts.
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    expect(kept).not.toContain('swt_');
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'sitewright', value: secrets.operator, httpOnly: true, sameSite: 'Strict' });
    await page.goto(`${origin}/graphs`);
    await page.getByRole('heading', { name: 'Graphs' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Sign in' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('the link that `up` prints signs in, and leaves the address bar', async () => {
    const page = await at(`/clusters#token=${secrets.admin}`);
    await page.getByRole('link', { name: 'prod' }).waitFor();
    expect(page.url()).toBe(`${origin}/clusters`);
    await page.getByText('nina-admin').waitFor();
    // All of the header is in one line.
    const header = await page.getByRole('navigation', { name: 'Main' }).boundingBox();
    expect(header?.height).toBeLessThan(60);
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ value: secrets.admin, httpOnly: true });
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');
    expect(kept).not.toContain('swt_');
  });

  it('a user signs in through the provider of the organization, and out', async () => {
    const context = await browser.newContext();
    const page = await patientPage(context);
    await page.goto(`${origin}/clusters`);
    await page.getByRole('link', { name: 'Sign in with your organization' }).click();
    await page.waitForURL(`${provider.issuer}/**`);
    await page.locator('input[name=login]').fill('nina');
    await page.locator('input[name=password]').fill('any');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('link', { name: 'prod' }).waitFor();
    await page.getByText('nina@sitewright.example').waitFor();
    expect(new URL(page.url()).pathname).toBe('/clusters');
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect((await context.cookies()).filter(({ name }) => name.includes('sitewright'))).toEqual([]);
    await page.goto(`${origin}/?sign_in=no-role`);
    await page.getByRole('alert').getByText('none of your groups has a role here').waitFor();
    await context.close();
  });

  it('a program on this machine is signed in once its user has confirmed its code', async () => {
    const received: string[] = [];
    const program = createServer((request, response) => {
      received.push(request.url ?? '');
      response.end('You are signed in');
    }).listen(0, '127.0.0.1');
    await once(program, 'listening');
    const { port } = program.address() as AddressInfo;
    const challenge = 'c'.repeat(43);
    const context = await browser.newContext();
    const page = await patientPage(context);
    await page.goto(`${origin}/auth/login?port=${port}&challenge=${challenge}&state=abc`);
    await page.locator('input[name=login]').fill('nina');
    await page.locator('input[name=password]').fill('any');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(programCode(challenge)).waitFor();
    expect(received).toEqual([]);
    await page.getByRole('button', { name: 'Sign in this program' }).click();
    await page.getByText('You are signed in').waitFor();
    expect(received[0]).toMatch(/^\/\?code=[\w-]+&state=abc$/);
    await context.close();
    program.close();
  });

  it('the audit names the token, and a refused action lists the roles that may do it', async () => {
    const page = await at('/');
    const signIn = async (role: Role) => {
      const cookie = {
        name: 'sitewright',
        value: secrets[role],
        url: origin,
        httpOnly: true,
        sameSite: 'Strict',
      } as const;
      await page.context().addCookies([cookie]);
      await page.goto(`${origin}/clusters`);
      await page.getByText(`nina-${role}`).waitFor();
    };
    await signIn('viewer');
    const create = page.getByRole('button', { name: 'Create a cluster' });
    await expect.poll(() => create.getAttribute('aria-disabled')).toBe('true');
    await create.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Your token has the role viewer; this needs an operator.').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);

    await signIn('operator');
    await page.goto(`${origin}/packages`);
    await page.getByRole('button', { name: 'Install a package' }).press('Enter');
    await page.getByRole('status').getByText('this needs an admin').waitFor();
    await page.goto(`${origin}/clusters`);
    await create.click();
    const dialog = page.getByRole('dialog');
    // The page does not ask for a name if the token has one.
    expect(await dialog.getByLabel('Your name').count()).toBe(0);
    await dialog.getByLabel('Name', { exact: true }).fill('lab');
    await dialog.getByRole('button', { name: 'Create a cluster' }).click();
    await page.getByRole('heading', { name: 'Cluster lab' }).waitFor();
    const { body } = await rig.ask('GET', '/api/v1/audit?action=cluster.create', undefined, {
      authorization: `Bearer ${secrets.viewer}`,
    });
    expect(body.items[0]).toMatchObject({ actor: 'nina-operator' });
  });
});
