import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  checkPackage,
  packageTree,
  readPackageFolder,
  writePackageArchive,
  writePackageFolder,
} from '../../src/packages/index.ts';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { closePages, describePage, launch, type OpenPage, openPage, screenshot } from './browser.ts';

const api = '/api/v1';
const FUEL_RELEASE = fileURLToPath(new URL('../../examples/fuel-release', import.meta.url));

/** One system, which these tests fill one after the other: from nothing to a cluster that could run. */
describePage('operating from the page alone', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  let folder: string;
  let page: Page;
  const opened: OpenPage[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sitewright-operating-'));
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
    opened.push(await openPage(browser, `${origin}/`));
    page = opened[0]!.page;
  });
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') return;
    expect(opened.flatMap(({ complaints }) => complaints)).toEqual([]);
  });
  afterAll(async () => {
    await closePages(opened).finally(async () => {
      await rig?.close();
      await browser?.close();
      await rm(folder, { recursive: true, force: true });
    });
  });

  /** The library of the Fuel line, as `package build` writes it. */
  async function archive(): Promise<string> {
    const read = await readPackageFolder(FUEL_RELEASE);
    const { name, version } = checkPackage(read).tree as { name: string; version: string };
    return (await writePackageArchive(read, name, version, folder)).path;
  }

  it('every page of an empty system shows the next step', async () => {
    for (const [path, next] of [
      ['sites', 'sitewright site create NAME'],
      ['runs', 'Deploy a'],
      ['nodes', 'sitewright node register --name NAME'],
      ['clusters', 'sitewright package install FILE_OR_FOLDER'],
      ['graphs', 'Releases contain graphs'],
      ['packages', 'sitewright package build FOLDER'],
      ['tags', 'Install a'],
      ['audit', 'No entries yet.'],
    ]) {
      await page.goto(`${origin}/${path}`);
      await page.getByText(next!).first().waitFor();
    }
  });

  it('a package is installed from a file, and its contents are shown', async () => {
    await page.goto(`${origin}/packages`);
    await page.getByText('No release is installed').waitFor();
    await page.getByRole('button', { name: 'Install a package' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your name').fill('nina');
    await dialog
      .getByLabel(/^Archive/)
      .setInputFiles({ name: 'x.tar.gz', mimeType: '', buffer: Buffer.from('no archive') });
    await dialog.getByRole('button', { name: 'Install a package' }).click();
    // Its problems are shown, and nothing was installed.
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel(/^Archive/).setInputFiles(await archive());
    await dialog.getByRole('button', { name: 'Install a package' }).click();
    await page.getByRole('heading', { name: 'fuel-newton 10.0.0' }).waitFor();
    await page.getByRole('heading', { name: /Release fuel-newton newton-10.0/ }).waitFor();
    await page
      .getByRole('row', { name: /^controller The Controller/ })
      .getByText('rabbitmq')
      .waitFor();
    await page
      .getByRole('row', { name: /default/ })
      .getByText('204')
      .waitFor();
    await page.getByRole('heading', { name: /^Plugin/ }).waitFor();
    const audit = (await rig.ask('GET', `${api}/audit?action=package.install`)).body.items;
    expect(audit).toMatchObject([{ actor: 'nina' }]);
    await page.getByRole('link', { name: 'Packages' }).first().click();
    await page.getByRole('cell', { name: 'release fuel-newton newton-10.0, plugin fuel-newton 10.0.0' }).waitFor();
    expect(await page.getByText('No release is installed').count()).toBe(0);
  });

  it('nodes are added to a cluster with roles, and removed again', async () => {
    const names = Array.from({ length: 14 }, (_, at) => `node-${at + 1}`);
    await rig.ask('POST', `${api}/clusters`, { name: 'lab', release_id: 1 });
    for (const name of names) await rig.ask('POST', `${api}/nodes`, { name, status: 'discover' });
    await page.goto(`${origin}/clusters/1`);
    await page.getByText('No nodes yet: add some below.').waitFor();
    await page.getByText('Add nodes to the cluster').click();
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByRole('alert').getByText('No nodes selected').waitFor();
    // In a long list, only the matching ones.
    await page.getByLabel('Find in Nodes').fill('node-1');
    await page.getByLabel('node-2').waitFor({ state: 'hidden' });
    await page.getByLabel('node-1', { exact: true }).check();
    await page.getByLabel('node-14').check();
    await page.getByLabel('controller', { exact: true }).check();
    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    const row = page.getByRole('region', { name: 'Nodes', exact: true }).getByRole('row', { name: /node-14/ });
    await row.getByText('pending: controller').waitFor();
    await row.getByText('rabbitmq').waitFor();
    expect((await rig.ask('GET', `${api}/nodes?cluster_id=1`)).body).toHaveLength(2);

    await row.getByRole('checkbox', { name: 'Select node-14' }).check();
    await page.getByRole('button', { name: 'Assign tags' }).click();
    await page.getByRole('dialog').getByLabel('mongo').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Assign tags' }).click();
    await row.getByText('mongo').waitFor();
    await screenshot(page, 'page-cluster');
    await row.getByRole('checkbox', { name: 'Select node-14' }).check();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    const [kept] = (await rig.ask('GET', `${api}/nodes?cluster_id=1`)).body;
    expect(kept).toMatchObject({ name: 'node-1' });

    // A deployed one leaves with the next deployment, unless it is kept.
    await rig.store.nodes.update(kept.id, { status: 'ready', pendingAddition: false });
    await page.reload();
    const deployed = page.getByRole('region', { name: 'Nodes', exact: true }).getByRole('row', { name: /node-1 / });
    await deployed.getByRole('checkbox', { name: 'Select node-1' }).check();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await deployed.getByText('removal pending').waitFor();
    await deployed.getByRole('checkbox', { name: 'Select node-1' }).check();
    await page.getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Keep' }).click();
    await deployed.getByText('removal pending').waitFor({ state: 'detached' });
  });

  it('a plugin is enabled with one click, and disabled with another', async () => {
    const metadata = {
      ...{
        name: 'plug',
        title: 'A plugin',
        version: '1.2.0',
        package_version: '5.0.0',
        description: 'd',
        homepage: 'h',
      },
      ...{ licenses: [], authors: [], groups: [], releases: [{ os: 'ubuntu', version: 'newton-10.0' }] },
    };
    const source = join(folder, 'plug');
    await writePackageFolder(
      packageTree('plug', [
        ['metadata.yaml', JSON.stringify(metadata)],
        ['node_roles.yaml', 'kafka: {name: Kafka, description: d}'],
      ]),
      source,
    );
    const { path } = await writePackageArchive(await readPackageFolder(source), 'plug', '1.2.0', folder);
    const gzip = { 'content-type': 'application/gzip' };
    const { body: installed, status } = await rig.ask('POST', `${api}/packages`, (await readFile(path)) as never, gzip);
    expect(status, JSON.stringify(installed)).toBe(201);
    await page.goto(`${origin}/packages/${installed.id}`);
    await page.getByRole('row', { name: /^kafka no/ }).waitFor();
    await page.goto(`${origin}/clusters/1?view=settings`);
    const row = page.getByRole('row', { name: /plug A plugin/ });
    const enabled = async () =>
      (await rig.ask('GET', `${api}/clusters/1/attributes`)).body.editable.plug.metadata.enabled;
    await row.getByRole('button', { name: 'Enable' }).click();
    await row.getByText('enabled', { exact: true }).waitFor();
    expect(await enabled()).toBe(true);
    await row.getByRole('button', { name: 'Disable' }).click();
    await row.getByText('disabled', { exact: true }).waitFor();
    expect(await enabled()).toBe(false);
  });
});
