import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { normaliseTask } from '../../src/graph/index.ts';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { closePages, describePage, launch, type OpenPage, openPage, previewOf } from './browser.ts';

describePage('a node in maintenance on the page', () => {
  let browser: Browser;
  let rig: ApiRig;
  let env: Environment;
  let origin: string;
  let page: Page;
  const opened: OpenPage[] = [];

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    env = await environment(rig.store, 'lab');
    const install = { id: 'install', type: 'shell', version: '2.1.0', roles: '/.*/', parameters: { cmd: 'true' } };
    const graph = { tasks: [normaliseTask(install)] };
    await rig.store.graphs.put({ kind: 'release', id: env.release }, 'default', graph);
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
    opened.push(await openPage(browser, `${origin}/nodes/${env.nodes[1]}`));
    page = opened[0]!.page;
  });
  afterAll(async () => {
    await closePages(opened).finally(async () => {
      await rig?.close();
      await browser?.close();
    });
  });

  it('is put there with a reason, and the node, lists and Deploy changes show since when and by whom', async () => {
    await page.getByRole('button', { name: 'Maintenance', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Put lab-2 into maintenance' });
    await dialog.getByLabel('Your name').fill('nina');
    await dialog.getByRole('button', { name: 'Maintenance', exact: true }).click();
    // Without a reason, nothing is sent.
    expect(await dialog.isVisible()).toBe(true);
    expect((await rig.ask('GET', '/api/v1/maintenance')).body.items).toEqual([]);
    await dialog.getByLabel('Reason').fill('a broken disk');
    await dialog.getByRole('button', { name: 'Maintenance', exact: true }).click();
    await page.getByText('nina: a broken disk').first().waitFor();
    await page.goto(`${origin}/nodes`);
    await page.getByText('2 nodes, 1 in maintenance').waitFor();
    await page.getByRole('row', { name: /lab-2 .*in maintenance since .* nina: a broken disk/ }).waitFor();
    await page.goto(`${origin}/clusters/${env.cluster}`);
    await page.getByRole('row', { name: /lab-2 .*in maintenance/ }).waitFor();
    await page.getByRole('button', { name: 'Deploy changes' }).click();
    const preview = previewOf(page);
    await preview.getByRole('heading', { name: 'Left out, in maintenance: 1' }).waitFor();
    await preview.getByText('nina: a broken disk').first().waitFor();
    // The plan of the graph says the same.
    await preview
      .getByText(/it has been in maintenance since .* UTC \(nina: a broken disk\)/)
      .waitFor({ state: 'attached' });
  });

  it('comes back with what it missed, as a plan', async () => {
    await page.goto(`${origin}/nodes/${env.nodes[1]}`);
    await page.getByRole('button', { name: 'End maintenance' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End maintenance' }).click();
    const missed = page.getByRole('region', { name: 'What lab-2 missed' });
    await missed.getByText('install').waitFor();
    await missed.getByText('for the first time').waitFor();
    await page.getByRole('button', { name: 'Maintenance', exact: true }).waitFor();
    const { items } = (await rig.ask('GET', `/api/v1/audit?target=node/${env.nodes[1]}`)).body;
    expect(items.map(({ action, actor }: { action: string; actor: string }) => [action, actor])).toEqual([
      ['node.maintenance-off', 'nina'],
      ['node.maintenance-on', 'nina'],
    ]);
  });
});
