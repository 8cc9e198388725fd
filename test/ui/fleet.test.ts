import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Machine } from '../../src/core/contracts/machine.ts';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { describePage, launch, pages, screenshot } from './browser.ts';

describePage('the map of the fleet', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  const at = pages(() => ({ browser, origin }));

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
    await rig.ask('POST', '/api/v1/sites', { name: 'dc1' });
    const status = (at: number) => (at < 30 ? 'ready' : at < 34 ? 'deploying' : 'discover');
    const made: { readonly id: number }[] = [];
    for (let at = 0; at < 40; at += 1)
      made.push(
        await rig.store.nodes.create({
          ...{ name: `r${Math.floor(at / 10) + 1}s${String(at % 10).padStart(2, '0')}`, site: 'dc1' },
          ...{ status: status(at), labels: { rack: `r${Math.floor(at / 10) + 1}` } },
        }),
      );
    await rig.store.nodes.update(made[3]!.id, { status: 'error', errorMsg: 'the disk is full' });
  });
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  it('racks are columns, each machine has one health with its reason, and several are changed together', async () => {
    const page = await at('/nodes');
    const map = page.getByRole('group', { name: 'Machines at a glance' });
    await expect.poll(() => map.getByRole('region').count()).toBe(4);
    await map.getByRole('region', { name: 'dc1 / r1: 10 machines' }).waitFor();
    await map.getByRole('button', { name: /r1s03.*failed.*the disk is full/ }).waitFor();
    const counts = page.getByRole('group', { name: 'Machines by health' });
    expect(await counts.getByRole('button').allTextContents()).toEqual(['1 failed', '4 running', '6 bare', '29 ok']);
    await counts.getByRole('button', { name: '6 bare' }).click();
    await expect.poll(() => map.getByRole('button').count()).toBe(6);
    await page.getByRole('button', { name: 'Select 6 machines' }).click();
    await page.getByText('6 machines selected').waitFor();
    await page.getByRole('button', { name: 'Maintenance', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('power work');
    await dialog.getByRole('button', { name: 'Maintenance', exact: true }).click();
    await page.getByText('6 machines in maintenance.').waitFor();
    await counts.getByRole('button', { name: '6 maintenance' }).waitFor();
    const { items } = (await rig.ask('GET', '/api/v1/machines?site=dc1')).body as { items: Machine[] };
    expect(items.filter(({ health }) => health === 'maintenance')).toHaveLength(6);
    expect(items.find(({ name }) => name === 'r4s04')?.reason).toContain('power work');
    await counts.getByRole('button', { name: '0 bare' }).click();
    await expect.poll(() => map.getByRole('button').count()).toBe(40);
    await screenshot(page, 'page-fleet');
  });

  it('arrows go through racks from one stop of the keyboard', async () => {
    const page = await at('/sites/dc1');
    await page.goto(`${origin}/nodes`);
    const map = page.getByRole('group', { name: 'Machines at a glance' });
    await map.getByRole('button').first().focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight'])
      await page.keyboard.press(key);
    expect(await page.evaluate('document.activeElement.title')).toMatch(/^r2s01/);
    expect(await map.locator('[tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('Space');
    await page.getByText('1 machine selected').waitFor();
  });

  it('ten thousand machines are drawn once, and a change of one redraws its rack only', async () => {
    const page = await at('/sites');
    let failed = 0;
    const items = Array.from(
      { length: 10_000 },
      (_, id): Machine => ({
        ...{ id: id + 1, name: `node-${id}`, site: 'dc1', cluster: null },
        ...{ rack: `rack-${String(Math.floor(id / 40)).padStart(3, '0')}`, health: 'ok' },
      }),
    );
    await page.route('**/api/v1/machines*', (route) => {
      failed += 1;
      return route.fulfill({
        json: { items: items.map((one, id) => (id < failed ? { ...one, health: 'failed' } : one)) },
      });
    });
    await page.route(/\/api\/v1\/nodes(\?|$)/, async (route) => {
      const answer = await (await route.fetch()).json();
      await route.fulfill({ json: items.map(({ id, name }) => ({ ...answer[0], id, name })) });
    });
    await page.goto(`${origin}/nodes`);
    const map = page.getByRole('group', { name: 'Machines at a glance' });
    await expect.poll(() => map.locator('.cell').count()).toBe(10_000);
    // From then on, only cells of the first rack change.
    await page.evaluate(`window.touched = new Set(); new MutationObserver((all) => {
      for (const { target } of all) window.touched.add(target.closest?.('.rack')?.getAttribute('aria-label'));
    }).observe(document.querySelector('.fleet'), { subtree: true, childList: true, attributes: true });`);
    const before = failed;
    await expect.poll(() => map.locator('.cell.bad').count(), { timeout: 20_000 }).toBeGreaterThan(before);
    expect(await page.evaluate('[...window.touched]')).toEqual(['dc1 / rack-000: 40 machines']);
  });
});
