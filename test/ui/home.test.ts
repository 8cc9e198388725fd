import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { describePage, hold, launch, pages, screenshot } from './browser.ts';
import { storeGraphRun } from './stored-runs.ts';

describePage("finding one's way", () => {
  let browser: Browser;
  let rig: ApiRig;
  let env: Environment;
  let origin: string;
  /** Endless answers that are open. */
  let streams = 0;
  const at = pages(() => ({ browser, origin }));

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
    rig.api.server.on('request', ({ url = '' }, answer) => {
      if (!url.includes('/events')) return;
      streams += 1;
      answer.once('close', () => {
        streams -= 1;
      });
    });
    env = await environment(rig.store, 'prod');
    const tasks = [
      { id: 'packages', type: 'shell' },
      { id: 'database', type: 'shell', requires: ['packages'] },
    ];
    const nodes = env.nodes.map(String);
    await storeGraphRun(rig.store, env, { id: 'first', tasks, nodes, startedAt: '2026-05-01T10:00:00.000Z' });
    await storeGraphRun(rig.store, env, {
      ...{ id: 'second', tasks, nodes, startedAt: '2026-05-02T10:00:00.000Z', seconds: 30 },
      ...{ endings: { database: 'failed' }, outcome: 'failed' },
    });
    await rig.ask('POST', '/api/v1/sites', { name: 'dc1' });
    const startedAt = '2026-05-03T10:00:00.000Z';
    await rig.store.runs.put({
      ...{ id: 'live', workflowId: 'deploy_site:dc1', kind: 'deploy_site', site: 'dc1', startedAt },
      ...{ sequence: 1, phase: 'baremetal', done: 3, total: 24, startedBy: 'eva' },
    });
    const lab = await environment(rig.store, 'lab');
    for (const site of ['dc2', 'dc3']) await rig.ask('POST', '/api/v1/sites', { name: site });
    const open = { startedAt, sequence: 1, phase: 'baremetal' };
    await rig.store.runs.put({
      ...{ ...open, id: 'approve', workflowId: 'update_site:dc2', kind: 'update_site', site: 'dc2' },
      awaitingApproval: true,
    });
    await rig.store.runs.put({
      ...{ ...open, id: 'pause', workflowId: 'deploy_site:dc3', kind: 'deploy_site', site: 'dc3' },
      paused: true,
    });
    await rig.store.runs.put({
      ...{ ...open, id: 'hold', workflowId: `execute_graph:${lab.cluster}:1`, kind: 'execute_graph' },
      ...{ labels: { cluster: String(lab.cluster) }, number: 99, held: true, failure: 'a task failed' },
    });
    await rig.store.nodes.update(env.nodes[1], { status: 'error', errorMsg: 'no power' });
    await rig.ask('PUT', `/api/v1/nodes/${env.nodes[1]}`, { labels: { rack: '3' } });
  });
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  it('twelve tabs of open runs share one stream, and each loads and asks', async () => {
    const first = await at('/runs/live');
    const tabs = [first];
    for (let n = 1; n < 12; n++) tabs.push(await first.context().newPage());
    await Promise.all(tabs.map((tab, n) => n > 0 && tab.goto(`${origin}/runs/${['live', 'hold', 'pause'][n % 3]}`)));
    for (const tab of tabs) await tab.getByRole('heading', { level: 1 }).waitFor();
    // It is asked by a tab, and the answer is not behind a stream.
    for (const tab of tabs) expect(await tab.evaluate("fetch('/api/v1/version').then(({ ok }) => ok)")).toBe(true);
    await expect.poll(() => streams).toBe(1);
    const show = (tab: Page, isShown: boolean) =>
      tab.evaluate(`Object.defineProperty(document, 'hidden', { value: ${!isShown}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`);
    await Promise.all(tabs.map((tab) => show(tab, false)));
    await expect.poll(() => streams).toBe(0);
    await show(first, true);
    await expect.poll(() => streams).toBe(1);
    await Promise.all(tabs.map((tab) => tab.close()));
    await expect.poll(() => streams).toBe(0);
  });

  it('home shows in one view what runs, what failed, what waits for whom, and what drifted', async () => {
    // What MAAS would answer.
    const page = await at('/sites');
    await page.route('**/api/v1/sites', async (route) => {
      const answer = await (await route.fetch()).json();
      const items = answer.items.map((one: object) => ({ ...one, last_good_revision: 1 })).slice(0, 1);
      await route.fulfill({ json: { ...answer, items } });
    });
    const same = { state: 'same', system_id: 'a', deployed_at: null, run: null, revision: 1, differences: [] };
    const maintenance = { reason: 'fans', since: '2026-05-03T09:00:00.000Z', by: 'nina' };
    const differences = [{ what: 'system', deployed: 'ubuntu/noble', now: 'ubuntu/jammy' }];
    await page.route('**/api/v1/sites/dc1/drift', (route) =>
      route.fulfill({
        json: {
          ...{ site: 'dc1', checked_at: '2026-05-03T10:00:00.000Z' },
          nodes: [
            { ...same, node: 'r1' },
            { ...same, node: 'r2', state: 'drifted', differences },
            { ...same, node: 'r3', state: 'missing', maintenance },
          ],
        },
      }),
    );
    await page.goto(`${origin}/`);
    await page.getByRole('region', { name: 'Running' }).getByRole('link', { name: 'deploy dc1' }).waitFor();
    const failed = page.getByRole('region', { name: 'Failed', exact: true });
    // The earlier one succeeded; only the last of each counts.
    await failed.getByRole('row', { name: /graphs on cluster prod failed/ }).waitFor();
    expect(await failed.getByRole('row').count()).toBe(2);
    await failed.getByRole('link', { name: 'prod-2' }).waitFor();
    const waiting = page.getByRole('region', { name: 'Waiting for someone' }).getByRole('listitem');
    await expect.poll(() => waiting.count()).toBe(3);
    await waiting.filter({ hasText: 'update dc2 waits for an operator who approves or rejects' }).waitFor();
    await waiting.filter({ hasText: 'graphs on cluster lab waits for an operator who retries or skips' }).waitFor();
    await waiting.filter({ hasText: 'deploy dc3 waits for an operator who resumes it' }).waitFor();
    await page
      .getByRole('region', { name: 'Drifted' })
      .getByText('dc1 2 nodes drifted r2 (system), r3 (missing; in maintenance)')
      .waitFor();
    // In one look, and what ends a wait without opening its run.
    const glance = page.getByRole('list', { name: 'At a glance' }).getByRole('listitem');
    expect(await glance.allTextContents()).toEqual([
      '1 site or cluster failed',
      '3 runs wait for someone',
      '4 runs are under way',
    ]);
    await waiting.filter({ hasText: 'deploy dc3' }).getByRole('button', { name: 'Resume' }).waitFor();
    await failed.getByRole('button', { name: 'Retry from failure' }).waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).waitFor();
    await screenshot(page, 'page-home');
  });

  it('a request that is not answered for seconds is named', async () => {
    const page = await at('/sites');
    await page.getByRole('link', { name: 'dc1' }).waitFor();
    const come = await hold(page, /\/api\/v1\/packages/);
    await page.clock.install();
    await page.getByRole('link', { name: 'Packages' }).click();
    await page.clock.runFor(6_000);
    await page.getByRole('status').filter({ hasText: '/packages' }).waitFor();
    await come();
    await page.getByRole('status').filter({ hasText: '/packages' }).waitFor({ state: 'detached' });
  });

  it('columns are sorted by mouse and keyboard, and say so', async () => {
    const page = await at('/runs');
    const ended = page.getByRole('region', { name: 'Ended' });
    const names = () =>
      ended.getByRole('row').evaluateAll((rows) => rows.slice(1).map((row) => row.textContent?.slice(0, 1)));
    await expect.poll(names).toEqual(['3', '1']);
    const heading = ended.getByRole('columnheader', { name: '#' });
    expect(await heading.getAttribute('aria-sort')).toBe(null);
    await heading.getByRole('button').click();
    await expect.poll(names).toEqual(['1', '3']);
    expect(await heading.getAttribute('aria-sort')).toBe('ascending');
    await heading.getByRole('button').press('Enter');
    await expect.poll(names).toEqual(['3', '1']);
    expect(await heading.getAttribute('aria-sort')).toBe('descending');
    await ended.getByRole('columnheader', { name: 'Took' }).getByRole('button').press('Enter');
    await expect.poll(names).toEqual(['1', '3']);
    expect(await heading.getAttribute('aria-sort')).toBe(null);
  });

  it('a palette and shortcuts go anywhere without a mouse', async () => {
    const page = await at('/sites');
    await page.getByRole('link', { name: 'dc1' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await palette.getByRole('combobox').pressSequentially('prod-');
    await palette.getByRole('option', { name: 'node prod-2' }).waitFor();
    await expect.poll(() => palette.getByRole('option').count()).toBe(2);
    await page.keyboard.press('ArrowDown');
    await palette.getByRole('option', { name: 'node prod-2', selected: true }).waitFor();
    // Faster than a frame: the palette's field still has the focus.
    await Promise.all(['Enter', 'g', 'r'].map((key) => page.keyboard.press(key)));
    await page.waitForURL(`${origin}/runs`);
    await page.goBack();
    await page.waitForURL(`${origin}/nodes/${env.nodes[1]}`);
    await page.goForward();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.getByLabel('Search').waitFor();
    await page.keyboard.press('/');
    // Whoever writes is not disturbed.
    await page.keyboard.type('g h');
    await page.waitForURL(/text=g\+h/);
    await page.keyboard.press('Control+k');
    await palette.waitFor();
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Go to …' }).click();
    await palette.getByText('Keys').click();
    await palette.getByText('filter the list that is shown').waitFor();
  });

  it('the header of a phone is one line, with all of it in a menu', async () => {
    const page = await at('/runs', { width: 390, height: 800 });
    const header = page.getByRole('navigation', { name: 'Main' });
    await page.getByRole('link', { name: 'deploy dc1' }).waitFor();
    expect((await header.boundingBox())!.height).toBeLessThan(56);
    await screenshot(page, 'page-phone');
    const menu = header.getByRole('button', { name: 'Menu' });
    expect(await menu.getAttribute('aria-expanded')).toBe('false');
    await menu.click();
    await header.getByRole('link', { name: 'Clusters' }).click();
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
    // Chosen is closed.
    await header.getByRole('link', { name: 'Clusters' }).waitFor({ state: 'hidden' });
    expect((await header.boundingBox())!.height).toBeLessThan(56);
    const wide = await at('/runs');
    await wide.getByRole('link', { name: 'deploy dc1' }).waitFor();
    expect((await wide.getByRole('navigation', { name: 'Main' }).boundingBox())!.height).toBeLessThan(56);
  });

  it('a node shows its versions, the last run of each graph, and what happened when', async () => {
    const page = await at(`/nodes/${env.nodes[1]}`);
    await page.getByText('never deployed').waitFor();
    const row = page
      .getByRole('region', { name: 'Last run of each graph' })
      .getByRole('row', { name: /^default #3 failed/ });
    await row.getByText('1 failed, 1 success').waitFor();
    const happened = page.getByRole('list', { name: 'What happened' }).getByRole('listitem');
    await expect.poll(() => happened.count()).toBe(3);
    // The newest first: a change by a person, then the runs.
    await happened.nth(0).getByText('node.update').waitFor();
    await happened.nth(1).getByText('1 failed, 1 success').waitFor();
    await happened.nth(2).getByText('2 success').waitFor();
    await screenshot(page, 'page-node');
  });
});
