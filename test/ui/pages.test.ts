import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type ApiRig, apiAlone } from '../api/api-rig.js';
import { environment } from '../api/fuel-graphs-rig.js';
import { closePages, describePage, launch, type OpenPage, openPage, type PageOptions, screenshot } from './browser.js';

const api = '/api/v1';

describePage('pages over a store', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  const opened: OpenPage[] = [];

  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    rig = await apiAlone();
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    const checked = closePages(opened);
    await checked.catch(() => undefined);
    await rig.close();
    await checked;
  });

  const at = async (path: string, options?: PageOptions) => {
    const one = await openPage(browser, `${origin}${path}`, options);
    opened.push(one);
    return one.page;
  };

  test('without a release no cluster can be created, and the page says what to do', async () => {
    const page = await at('/clusters');
    await page.getByText('No release is installed').waitFor();
    expect(await page.getByText('sitewright package install').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Create a cluster' }).isDisabled()).toBe(true);
  });

  test('a cluster is created, and its page shows nodes, checks, plan, graph and settings', async () => {
    const env = await environment(rig.store, 'prod');
    const page = await at('/clusters');
    await page.getByRole('button', { name: 'Create a cluster' }).click();
    await page.getByLabel('Name', { exact: true }).fill('lab');
    await page.getByLabel('Release').selectOption({ index: 0 });
    await page.getByRole('dialog').getByRole('button', { name: 'Create a cluster' }).click();
    await page.getByRole('heading', { name: 'Cluster lab' }).waitFor();
    expect((await rig.ask('GET', `${api}/clusters`)).body.map((one: { name: string }) => one.name)).toEqual([
      'prod',
      'lab',
    ]);

    const tasks = [
      { id: 'first', type: 'shell', version: '2.1.0', role: ['controller'], parameters: { cmd: 'true' } },
      {
        id: 'second',
        type: 'shell',
        version: '2.1.0',
        role: ['compute'],
        requires: ['first'],
        parameters: { cmd: 'true' },
      },
    ];
    await rig.ask('PUT', `${api}/clusters/${env.cluster}/deployment_graphs/default`, { tasks });
    await page.goto(`${origin}/clusters/${env.cluster}?plan=1`);
    await page.getByRole('cell', { name: 'prod-1' }).waitFor();
    await page.getByText('2 tasks would run on 2 nodes').waitFor();
    await page.getByText('Drawing of the merged graph').click();
    await page.locator('.picture g.node').nth(1).waitFor();
    await page.getByText('Show and change as JSON').click();
    await page.getByLabel('Settings').waitFor();
    await screenshot(page, 'page-cluster');
  });

  test('tags are created, assigned, taken and deleted', async () => {
    const env = await environment(rig.store, 'prod');
    const page = await at(`/tags?owner=cluster/${env.cluster}`);
    await page.getByRole('button', { name: 'Create a tag' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('swift');
    await dialog.getByLabel('Your name').fill('nina');
    await dialog.getByRole('button', { name: 'Create a tag' }).click();
    const row = page.getByRole('row', { name: /swift/ });
    await row.waitFor();
    await row.getByRole('button', { name: 'Assign', exact: true }).click();
    await dialog.getByLabel('Node ids').fill(String(env.nodes[0]));
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    await row.getByText('prod-1').waitFor();
    await row.getByRole('button', { name: 'Unassign' }).click();
    await dialog.getByRole('button', { name: 'Unassign' }).click();
    await row.getByText('prod-1').waitFor({ state: 'detached' });
    await row.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('One of its nodes').check();
    await dialog.getByRole('button', { name: 'Change' }).click();
    await row.getByText('one node is').waitFor();
    await row.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    const audit = (await rig.ask('GET', `${api}/audit`)).body.items as { actor: string; action: string }[];
    expect(audit.filter(({ action }) => action.startsWith('tag.')).every(({ actor }) => actor === 'nina')).toBe(true);
    await page.goto(`${origin}/audit`);
    await page.getByRole('cell', { name: 'nina' }).first().waitFor();
  });
});
