import type { AddressInfo } from 'node:net';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { normaliseTask } from '../../src/graph/index.ts';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { newton } from '../api/fuel-inventory-rig.ts';
import { describePage, hold, launch, pages, previewOf, screenshot, seriousFindings } from './browser.ts';

describePage('versions of a cluster on the page', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  let cluster: number;
  let clusters = 0;
  let releases: readonly number[];
  const at = pages(() => ({ browser, origin }));

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    const { editable } = newton.attributes_metadata;
    const later = {
      ...newton,
      version: 'newton-10.1',
      attributes_metadata: {
        editable: {
          ...editable,
          common: { ...editable.common, libvirt_type: { ...editable.common.libvirt_type, value: 'kvm' } },
        },
      },
    };
    releases = [await made('/releases/', newton), await made('/releases/', later)];
    const task = (id: string, cmd: string) =>
      normaliseTask({ id, type: 'shell', version: '2.1.0', roles: ['compute'], parameters: { cmd } });
    for (const [at, id] of releases.entries())
      await rig.store.graphs.put({ kind: 'release', id }, 'default', {
        tasks: [task('install', `echo ${at}`), ...(at === 0 ? [] : [task('restart', 'true')])],
      });
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
  });
  // One for each try: a test moves it.
  beforeEach(async () => {
    cluster = await made('/clusters/', { name: `lab-${++clusters}`, release_id: releases[0] });
    const node = await made('/nodes', { name: 'compute-1', status: 'ready' });
    await rig.store.nodes.assign(cluster, [{ id: node, roles: ['compute'] }]);
    await rig.store.nodes.update(node, {
      status: 'ready',
      roles: ['compute'],
      pendingRoles: [],
      pendingAddition: false,
    });
  });
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  const made = async (path: string, body: object): Promise<number> => {
    const answer = await rig.ask('POST', `/api/v1${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body.id;
  };
  /** What a screen reader says of a button beside its name. */
  const descriptionOf = async (button: Locator): Promise<string | null> => {
    const id = await button.getAttribute('aria-describedby');
    return button.page().locator(`[id="${id}"]`).textContent();
  };

  it('shows which node has which, and moves to another version by a plan, and back', async () => {
    const page = await at(`/clusters/${cluster}?view=versions`);
    await page.getByRole('row', { name: /compute-1 .*never deployed/ }).waitFor();
    await page.getByRole('button', { name: 'Move to another version' }).click();
    const plan = previewOf(page);
    await plan.getByText('Newton on Ubuntu newton-10.1').waitFor();
    await plan.getByText('common.libvirt_type').waitFor();
    await plan.getByRole('region', { name: 'Graph default of Newton on Ubuntu' }).getByText('restart').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await screenshot(page, 'page-move');
    await page.getByRole('dialog').getByRole('button', { name: 'Move to another version' }).click();
    await page.getByText('release Newton on Ubuntu newton-10.1').waitFor();
    expect(await rig.store.clusters.get(cluster)).toMatchObject({
      releaseId: releases[1],
      attributes: { editable: { common: { libvirt_type: { value: 'kvm' } } } },
    });
    await page.getByRole('button', { name: 'Move to another version' }).click();
    await page.getByRole('combobox', { name: 'Version' }).selectOption('back');
    await plan.getByText('Newton on Ubuntu newton-10.0').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Move to another version' }).click();
    await page.getByText('release Newton on Ubuntu newton-10.0').waitFor();
  });

  it('moves by the plan of what is chosen: until it is there, the button waits and says so', async () => {
    const page = await at(`/clusters/${cluster}?view=versions`);
    const dialog = page.getByRole('dialog');
    const move = dialog.getByRole('button', { name: 'Move to another version' });
    await page.getByRole('button', { name: 'Move to another version' }).click();
    await dialog.getByText('Newton on Ubuntu newton-10.1').last().waitFor();
    await expect.poll(() => move.isEnabled()).toBe(true);
    const come = await hold(page, /\/move\?back=1/);
    await dialog.getByRole('combobox', { name: 'Version' }).selectOption('back');
    // At once, not when the plan is asked for.
    expect(await move.isDisabled()).toBe(true);
    expect(await descriptionOf(move)).toBe('Waiting for the plan of what is chosen.');
    await dialog.getByRole('status').filter({ hasText: 'Waiting for the plan of what is chosen.' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    // Nor by the keyboard.
    await move.focus();
    await page.keyboard.press('Enter');
    come();
    // It has never moved: no plan will come.
    await expect.poll(() => descriptionOf(move)).toBe('There is no plan of what is chosen: see above.');
    expect(await move.isDisabled()).toBe(true);
    expect((await rig.store.clusters.get(cluster))?.releaseId).toBe(releases[0]);
    await dialog.getByRole('combobox', { name: 'Version' }).selectOption(`release ${releases[1]}`);
    await expect.poll(() => move.isEnabled()).toBe(true);
    expect(await descriptionOf(move)).toBe('');
  });

  it('moves to another version of a plugin alone', async () => {
    const plugins = await Promise.all(
      ['1.0.0', '1.1.0'].map((version) =>
        rig.store.plugins.create({
          ...{ name: `monitoring${cluster}`, version, packageVersion: '5.0.0', title: 'Monitoring' },
          metadata: { releases: [{ os: 'ubuntu', version: 'newton-10.0', mode: ['ha'] }] },
        }),
      ),
    );
    const [old, now] = plugins.map(({ id }) => id) as [number, number];
    await rig.store.plugins.link(cluster, old, { enabled: true });
    const page = await at(`/clusters/${cluster}?view=versions`);
    await page.getByRole('button', { name: 'Move to another version' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox', { name: 'Version' }).selectOption(`plugin ${now}`);
    await dialog
      .getByRole('listitem')
      .filter({ hasText: `plugin monitoring${cluster} 1.0.0 → monitoring${cluster} 1.1.0` })
      .waitFor();
    await dialog.getByRole('button', { name: 'Move to another version' }).click();
    await page.getByText('The cluster has moved.').waitFor();
    const enabled = await rig.store.plugins.ofCluster(cluster, { enabled: true });
    expect(enabled.map(({ plugin }) => plugin.id)).toEqual([now]);
    expect(await rig.store.clusters.get(cluster)).toMatchObject({ releaseId: releases[0] });
  });

  it('deploys changes that are shown: until they are there, the button waits', async () => {
    const page = await at('/clusters');
    const come = await hold(page, new RegExp(`/clusters/${cluster}/changes`));
    await page.getByRole('link', { name: `lab-${clusters}`, exact: true }).click();
    await page.getByRole('button', { name: 'Deploy changes' }).click();
    const deploy = page.getByRole('dialog').getByRole('button', { name: 'Deploy changes' });
    expect(await deploy.isDisabled()).toBe(true);
    come();
    await expect.poll(() => deploy.isEnabled()).toBe(true);
  });

  it('fits a phone, and the dark', async () => {
    const page = await at(`/clusters/${cluster}?view=versions`, { width: 390, height: 800, dark: true });
    await page.getByRole('row', { name: /compute-1/ }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
