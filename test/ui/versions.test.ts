import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { normaliseTask } from '../../src/graph/index.ts';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { newton } from '../api/fuel-inventory-rig.ts';
import {
  closePages,
  describePage,
  launch,
  type OpenPage,
  openPage,
  type PageOptions,
  screenshot,
  seriousFindings,
} from './browser.ts';

describePage('versions of a cluster on the page', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  let cluster: number;
  let releases: readonly number[];
  const opened: OpenPage[] = [];

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    const made = async (path: string, body: object): Promise<number> => {
      const answer = await rig.ask('POST', `/api/v1${path}`, body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return answer.body.id;
    };
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
    cluster = await made('/clusters/', { name: 'lab', release_id: releases[0] });
    const node = await made('/nodes', { name: 'compute-1', status: 'ready' });
    await rig.store.nodes.assign(cluster, [{ id: node, roles: ['compute'] }]);
    await rig.store.nodes.update(node, {
      status: 'ready',
      roles: ['compute'],
      pendingRoles: [],
      pendingAddition: false,
    });
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
  });
  afterEach(() => closePages(opened));
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  const at = async (path: string, options?: PageOptions): Promise<Page> => {
    const one = await openPage(browser, `${origin}${path}`, options);
    opened.push(one);
    return one.page;
  };

  it('shows which node has which, and moves to another version by a plan, and back', async () => {
    const page = await at(`/clusters/${cluster}?view=versions`);
    await page.getByRole('row', { name: /compute-1 .*never deployed/ }).waitFor();
    await page.getByRole('button', { name: 'Move to another version' }).click();
    const plan = page.getByRole('region', { name: 'What will be touched' });
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

  it('fits a phone, and the dark', async () => {
    const page = await at(`/clusters/${cluster}?view=versions`, { width: 390, height: 800, dark: true });
    await page.getByRole('row', { name: /compute-1/ }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
