import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { loadSite, readDocumentFiles } from '../../src/documents/index.ts';
import { normaliseTask } from '../../src/graph/index.ts';
import { installationFile } from '../../src/platform/installation.ts';
import { bundleOurWorkflows } from '../../worker/parts/workflow-bundle.ts';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { closePages, describePage, launch, type OpenPage, openPage, screenshot } from './browser.ts';

describePage('a rehearsal on the page', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  let cluster: number;
  const opened: OpenPage[] = [];

  beforeAll(async () => {
    // The thread that rehearses gives way to others: it finds them made.
    await bundleOurWorkflows({});
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    const { store } = rig;
    const { files } = await readDocumentFiles([installationFile('examples/webstack/site')]);
    await store.sites.create({ name: 'webstack' });
    await store.sites.addRevision('webstack', { files, resolved: loadSite(files).site!, diagnostics: [] });
    const { id: release } = await store.releases.create({
      name: 'Newton',
      version: 'newton-10.0',
      operatingSystem: 'Ubuntu',
      rolesMetadata: { compute: { name: 'compute' } },
      tagsMetadata: {},
    });
    ({ id: cluster } = await store.clusters.create({ name: 'lab', releaseId: release }));
    const { id: node } = await store.nodes.create({ name: 'node-1', status: 'provisioned' });
    await store.nodes.assign(cluster, [{ id: node, roles: ['compute'] }]);
    const task = { id: 'netconfig', type: 'shell', version: '2.1.0', roles: ['compute'], parameters: { cmd: 'true' } };
    await store.graphs.put({ kind: 'release', id: release }, 'default', { tasks: [normaliseTask(task)] });
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
  });
  afterEach(() => closePages(opened));
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  const open = async (path: string): Promise<OpenPage['page']> => {
    const one = await openPage(browser, `${origin}${path}`, { height: 1100 });
    opened.push(one);
    return one.page;
  };

  it('of a site stands beside Deploy, and shows how it ends, when what happens, and a timeline', async () => {
    const page = await open('/sites/webstack');
    await page.getByRole('link', { name: 'Rehearse the deployment of webstack' }).click();
    const rehearsal = page.getByRole('region', { name: 'Rehearsal' });
    await rehearsal.getByText(/It ends with success after 2\d min/).waitFor();
    await rehearsal.getByLabel('Machines that fail to deploy').fill('web-app-1, web-lb-1');
    await rehearsal.getByLabel('MAAS is away for, minutes').fill('10');
    await rehearsal.getByLabel('… after, minutes').fill('5');
    await rehearsal.getByRole('button', { name: 'Rehearse' }).click();
    await rehearsal.getByText(/It ends with failed after/).waitFor();
    const bars = rehearsal.getByRole('region', { name: 'Timeline' });
    // These two, and the four of the first group: MAAS is back after the time limit of its call.
    expect(await bars.getByRole('listitem', { name: /^deploy: failed/ }).count()).toBe(6);
    await rehearsal.getByRole('cell', { name: 'MAAS answers again' }).waitFor();
    await screenshot(page, 'page-rehearsal');
    await rehearsal.getByLabel('Machines that fail to deploy').fill('web-ap-1');
    await rehearsal.getByRole('button', { name: 'Rehearse' }).click();
    await rehearsal.getByText(/Did you mean 'web-app-1'/).waitFor();
  });

  it('of a cluster shows a task that fails', async () => {
    const page = await open(`/clusters/${cluster}`);
    await page.getByRole('link', { name: 'Rehearse the changes of lab' }).click();
    const rehearsal = page.getByRole('region', { name: 'Rehearsal' });
    await rehearsal.getByText(/It ends with success after/).waitFor();
    await rehearsal.getByLabel('Tasks that fail').fill('netconfig@node-1');
    await rehearsal.getByRole('button', { name: 'Rehearse' }).click();
    await rehearsal.getByText(/It ends with failed after/).waitFor();
    await rehearsal.getByRole('cell', { name: 'netconfig@1' }).waitFor();
  });

  it('of what is chosen in the dialog that deploys a site, which then has it still', async () => {
    const page = await open('/sites/webstack');
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Deploy webstack' });
    await dialog.getByLabel('Wait for approval before these groups').fill('service');
    await dialog.getByRole('button', { name: 'Rehearse' }).click();
    const rehearsal = page.getByRole('region', { name: 'Rehearsal' });
    await rehearsal.getByText('As chosen: approval before service').waitFor();
    await rehearsal.getByRole('cell', { name: 'waits for approval before service' }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    // What goes wrong comes on top.
    await rehearsal.getByLabel('Machines that fail to deploy').fill('web-app-1');
    await rehearsal.getByRole('button', { name: 'Rehearse' }).click();
    await rehearsal.getByRole('cell', { name: /^deploy failed on web-app-1/ }).waitFor();
    await rehearsal.getByRole('cell', { name: 'waits for approval before service' }).waitFor();
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    const again = page.getByRole('dialog', { name: 'Deploy webstack' });
    expect(await again.getByLabel('Wait for approval before these groups').inputValue()).toBe('service');
  });

  it('of what is chosen in the dialogs that run graphs of a cluster', async () => {
    const page = await open(`/clusters/${cluster}`);
    await page.getByRole('button', { name: 'Run a graph' }).click();
    const dialog = page.getByRole('dialog', { name: 'Run a graph' });
    await dialog.getByLabel('How').selectOption('noop_run');
    await dialog.getByLabel('Only these tasks').fill('netconfig');
    await dialog.getByRole('checkbox', { name: 'node-1' }).check();
    await dialog.getByLabel('Wait for approval before these tasks').fill('*');
    await dialog.getByRole('button', { name: 'Rehearse' }).click();
    const rehearsal = page.getByRole('region', { name: 'Rehearsal' });
    const chosen = 'graph default only netconfig on node-1 · noop run · held on failure · approval before *';
    await rehearsal.getByText(`As chosen: ${chosen}`).waitFor();
    await rehearsal.getByRole('cell', { name: 'waits for approval before any change' }).waitFor();
    await page.getByRole('button', { name: 'Run a graph' }).click();
    expect(await page.getByRole('dialog').getByLabel('How').inputValue()).toBe('noop_run');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Deploy changes' }).click();
    const changes = page.getByRole('dialog', { name: 'Deploy changes' });
    await changes.getByLabel('Wait for approval before these tasks').fill('netconfig');
    await changes.getByRole('button', { name: 'Rehearse' }).click();
    await rehearsal.getByText('As chosen: graph default · held on failure · approval before netconfig').waitFor();
    await rehearsal.getByRole('cell', { name: 'waits for approval before netconfig' }).waitFor();
  });
});
