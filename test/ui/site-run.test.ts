import type { AddressInfo } from 'node:net';
import { MachineStatus, openMachines } from '@sitewright/maas';
import { simulatorKeys } from '@sitewright/maas-simulator';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ApiRig, apiOfSite } from '../api/api-rig.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookUntil } from '../rig/look-again.ts';
import { type NoticeReceiver, noticeReceiver } from '../rig/notice-receiver.ts';
import { resolvedRevision } from '../rig/resolved-revision.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { closePages, describePage, launch, type OpenPage, openPage, previewOf, screenshot } from './browser.ts';

describePage('the page of a run on a site', () => {
  let browser: Browser;
  let rig: TemporalRig;
  let site: LivingSite;
  let api: ApiRig;
  let receiver: NoticeReceiver;
  const opened: OpenPage[] = [];
  let isOpen = false;

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), temporalRig({ namespace: 'own' })]);
  });
  // One site for all. A second attempt begins with a fresh one: its machines and the open run are as the first attempt left them.
  beforeEach(async ({ task }) => {
    const isAgain = (task.result?.retryCount ?? 0) > 0;
    if (isOpen && !isAgain) return;
    await closeSite().catch(() => undefined);
    const machines = exampleHosts.map((hostname, at) => ({
      ...{ hostname, power_type: 'ipmi' },
      // One is someone else's.
      ...(at === 5 ? { status: MachineStatus.Deployed, owner: 'bob' } : { status: MachineStatus.New }),
    }));
    // The test decides when machines come up.
    site = await livingSite(rig, { seed: { machines }, auto: { deploy_ms: 3_600_000 }, notices: true });
    api = await apiOfSite(rig, site);
    receiver = await noticeReceiver();
    await api.api.listen({ port: 0, host: '127.0.0.1' });
    isOpen = true;
  });
  async function closeSite(): Promise<void> {
    if (!isOpen) return;
    isOpen = false;
    await closePages(opened).finally(async () => {
      await api.close();
      await site.close();
      await receiver.close();
    });
  }
  afterAll(async () => {
    const checked = closeSite();
    await checked.catch(() => undefined);
    await rig.close();
    await browser.close();
    await checked;
  });

  it('a deployment is started after a confirmation, followed, paused, and cancelled from the page', async () => {
    await site.commit(await exampleDocuments());
    const { port } = api.api.server.address() as AddressInfo;
    const one = await openPage(browser, `http://127.0.0.1:${port}/sites`);
    opened.push(one);
    const { page } = one;
    const dialog = page.getByRole('dialog');
    const act = async (name: string, reason: string, ...touched: readonly RegExp[]) => {
      await page.getByRole('button', { name, exact: true }).click();
      // What becomes of which node stands in the question.
      const preview = previewOf(dialog);
      for (const text of touched) await preview.getByText(text).waitFor();
      await dialog.getByLabel('Reason').fill(reason);
      await dialog.getByRole('button', { name, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    await dialog.getByText('Deploys all nodes of revision 1').waitFor();
    // What will be, by name, grouped by fate and reason.
    await previewOf(dialog)
      .getByText(/^Will deploy: \d nodes?, .*stl1r01s02/)
      .waitFor();
    await dialog.getByLabel('Your name').fill('eva');
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.waitForURL(/\/runs\//);
    await page.getByText('Deployment of stl1 started.').waitFor();
    const run = page.url().split('/runs/')[1]!;

    // Its groups are drawn, it names the nodes it waits for, and a first run says how long it should take, too.
    await page.getByText('(from the model of rehearsals)').waitFor();
    await page.getByText(/Now: deploy of group .*: 3 nodes running/).waitFor();
    await page.getByRole('group', { name: 'Deployment groups' }).locator('.small-cells .busy').nth(2).waitFor();
    await page
      .getByText(/^needs \d more of \d; \d may still fail$/)
      .first()
      .waitFor();
    // All machines are there, those of groups that have not begun, too; none looks finished.
    const cells = page.getByRole('group', { name: 'Nodes at a glance' });
    await expect.poll(() => cells.getByRole('button', { name: /deploying/ }).count()).toBe(3);
    await expect.poll(() => cells.getByRole('button', { name: /waiting/ }).count()).toBe(3);
    expect(await cells.locator('.ok').count()).toBe(0);
    await page.getByRole('row', { name: /^stl1r01s05 waiting worker_group_0, workers/ }).waitFor();
    await page.getByRole('link', { name: 'Show in Temporal' }).waitFor();
    const attempt = page.getByRole('row', { name: /stl1r01s02/ }).getByRole('link', { name: 'Show' });
    expect(await attempt.getAttribute('href')).toBe(`/api/v1/runs/${run}/nodes/stl1r01s02/temporal`);
    await act(
      'Pause',
      'power work in row 3',
      /^Running, finishes: (stl1r01s0[234](, )?){3}$/,
      /^Still to do, waits: (stl1r01s0[567](, )?){3}$/,
    );
    await page.getByText(/Paused .* by eva: power work in row 3/).waitFor();
    const { body } = await api.ask('GET', `/api/v1/runs/${run}/status`);
    expect(body.paused).toMatchObject({ by: 'eva', reason: 'power work in row 3' });
    // A result is shown when it is there, not when its group ends, and what asks knows it.
    await site.control('stl1r01s02/deployed', {});
    await cells.getByRole('button', { name: /s02.*success/ }).waitFor();
    expect(await cells.getByRole('button', { name: /deploying/ }).count()).toBe(2);
    await page.getByText('1 / 6 nodes').waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    const touched = previewOf(dialog);
    await touched.getByText(/^Running, finishes: stl1r01s03, stl1r01s04$/).waitFor();
    await touched.getByText(/^Still to do, not started: stl1r01s05, stl1r01s06, stl1r01s07$/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    // A machine fails. It can be retried while the run is open.
    await site.control('stl1r01s03/failed', {});
    await site.control('stl1r01s04/deployed', {});
    const row = page.getByRole('region', { name: 'Nodes', exact: true }).getByRole('row', { name: /stl1r01s03/ });
    await row.getByText('failed').first().waitFor();
    // Failed ones are first.
    const rows = page.getByRole('region', { name: 'Nodes', exact: true }).getByRole('row');
    await rows.nth(1).getByText('stl1r01s03').first().waitFor();
    await row.getByRole('button', { name: 'Retry' }).click();
    await dialog.getByLabel('Reason').fill('new cable');
    await dialog.getByRole('button', { name: 'Retry' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('new cable').waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await dialog.getByRole('button', { name: 'Resume', exact: true }).click();
    await row.locator('.state.bad').waitFor({ state: 'detached' });
    // A stop before that would end the run at once: nothing new starts.
    await cells.getByRole('button', { name: /s03.*deploying/ }).waitFor();
    await act('Stop', 'enough for today');
    await page.getByText('Stopping: running work finishes').waitFor();
    await act('Cancel', 'the wrong site');
    const ended = await lookUntil(
      async () => (await api.ask('GET', `/api/v1/runs/${run}`)).body.outcome,
      (outcome) => outcome !== null,
    );
    expect(ended).toBe('cancelled');
    await page.getByRole('heading', { level: 1 }).getByText('cancelled').waitFor();
    const audit = (await api.ask('GET', '/api/v1/audit?action=run.cancel')).body.items;
    expect(audit).toMatchObject([{ actor: 'eva', reason: 'the wrong site' }]);
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  });

  it('the plan next to Deploy shows the change to each node with the reason, as a run would decide it', async () => {
    const [first, , , , fifth, last] = exampleHosts;
    const { port } = api.api.server.address() as AddressInfo;
    const one = await openPage(browser, `http://127.0.0.1:${port}/sites/stl1`);
    opened.push(one);
    const { page } = one;
    await page.getByRole('group', { name: 'Machines at a glance' }).locator('.cell').nth(5).waitFor();
    await page.getByRole('region', { name: 'Deployment groups' }).waitFor();
    await page.setViewportSize({ width: 1280, height: 1500 });
    await screenshot(page, 'page-site');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: /^Plan/ }).click();
    await page.waitForURL(/plan=1/);
    const row = (name: string) =>
      page.getByRole('region', { name: 'Plan' }).getByRole('row', { name: new RegExp(`^${name} `) });
    await row(first!).getByText('will not change').waitFor();
    await row(first!).getByText('its machine is Deployed').waitFor();
    await row(fifth!).getByText('will deploy', { exact: true }).waitFor();
    await row(fifth!)
      .getByText(/its machine is \w+.*; after masters/)
      .waitFor();
    await row(last!).getByText('will refuse', { exact: true }).waitFor();
    await row(last!).getByText('belongs to the MAAS user bob: ask its owner to release it').waitFor();
    await page
      .getByText(/Revision 1: will deploy \d nodes?, will refuse 1 node, will not change \d nodes?\./)
      .waitFor();
    await screenshot(page, 'page-plan');
    const { nodes } = (await api.ask('GET', '/api/v1/sites/stl1/nodes/status')).body;
    const fates = (nodes as { deployment: { does: string } }[]).map(({ deployment }) => deployment.does);
    expect(fates).toEqual(expect.arrayContaining(['leave', 'deploy', 'refuse']));
  });

  it('the page of a site shows changes at MAAS since the deployment', async () => {
    const maas = openMachines({
      url: site.maasUrl,
      apiKey: simulatorKeys.admin,
      pollMinSeconds: 1,
      pollMaxSeconds: 1,
    });
    const [machine] = await maas.client.machines.list({ hostnames: ['stl1r01s02'] });
    await maas.client.inventory.ensureTag('by-hand', 'a test');
    await maas.client.inventory.changeTag('by-hand', { add: [machine!.systemId] });
    await maas.close();
    const { port } = api.api.server.address() as AddressInfo;
    const one = await openPage(browser, `http://127.0.0.1:${port}/sites/stl1`);
    opened.push(one);
    const { page } = one;
    await page.getByText('Compare MAAS with the deployment').click();
    await page.getByText(/^\s*1 machine of \d+ differs? from what was deployed/).waitFor();
    const row = page.getByRole('region', { name: 'Machines that differ' }).getByRole('row', { name: /^stl1r01s02 / });
    await row.getByText('tag by-hand: none → set').waitFor();
  });

  onServer('a schedule is created and paused from the page, with a reason', async () => {
    const { port } = api.api.server.address() as AddressInfo;
    const one = await openPage(browser, `http://127.0.0.1:${port}/schedules`);
    opened.push(one);
    const { page } = one;
    await page.getByText('sitewright schedule create NAME').waitFor();
    await page.getByRole('button', { name: 'Create a schedule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('nightly');
    await dialog.getByLabel('Starts').selectOption('test stl1');
    await dialog.getByLabel('When').fill('0 6 * * *');
    await dialog.getByRole('button', { name: 'Create a schedule' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row', { name: /nightly test of stl1/ });
    // A server lists a new schedule after a moment.
    await lookUntil(
      async () => (await api.ask('GET', '/api/v1/schedules')).body.items,
      (items) => items.length === 1,
    );
    await page.reload();
    await row.getByText('0 6 * * * (UTC) overlap: skip').waitFor();
    await row.getByText(/^then .*, then /).waitFor();
    await row.getByRole('button', { name: 'Pause' }).click();
    await dialog.getByLabel('Reason').fill('change freeze');
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await row.getByText(/paused by .*change freeze/).waitFor();
    await row.getByRole('button', { name: 'Resume' }).waitFor();
  });

  it('a run that waits for approval is shown so on its page and in lists; the page of notices shows its notices', async () => {
    const { port } = api.api.server.address() as AddressInfo;
    const base = `http://127.0.0.1:${port}`;
    const one = await openPage(browser, `${base}/notices`);
    opened.push(one);
    const { page } = one;
    const dialog = page.getByRole('dialog');
    await page.getByText('SITEWRIGHT_NOTICES_RECEIVERS_FILE').waitFor();
    await page.getByRole('button', { name: 'Create a receiver' }).click();
    await dialog.getByLabel('Name').fill('pager');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('Secret').fill('too short');
    await dialog.getByRole('button', { name: 'Create a receiver' }).click();
    await dialog.getByText(/must have at least 16 characters/).waitFor();
    await dialog.getByLabel('Secret').fill('a secret of the pager');
    await dialog.getByRole('button', { name: 'Create a receiver' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('row', { name: /^pager/ }).waitFor();

    // As a run with --fetch stores it.
    const files = (await exampleDocuments()).map(({ name, text }) => ({ name, text: `${text}# newer\n` }));
    const commitUrl = 'https://git.example.org/sites/commit/c0ffee0123456789';
    await site.store.sites.addRevision('stl1', { ...resolvedRevision(files), commitId: 'c0ffee0123456789', commitUrl });
    await site.store.sites.setSource('stl1', {
      url: 'https://git.example.org/sites.git',
      branch: 'main',
      folder: 'stl1',
    });

    await page.goto(`${base}/sites/stl1`);
    await page.getByText('Follows main of https://git.example.org/sites.git, folder stl1.').waitFor();
    const commit = page.getByRole('link', { name: 'c0ffee0123', exact: true });
    expect(await commit.getAttribute('href')).toBe(commitUrl);
    await page.getByRole('button', { name: 'Deploy', exact: true }).click();
    await dialog.getByLabel('Wait for approval before').fill('masters, *');
    await dialog.getByLabel('Your name').fill('eva');
    await dialog.getByRole('button', { name: 'Deploy', exact: true }).click();
    await page.waitForURL(/\/runs\//);
    await page.getByText(/Waiting for approval before any change/).waitFor();
    expect(await commit.getAttribute('href')).toBe(commitUrl);
    await page.getByRole('heading', { level: 1 }).getByText('awaiting approval').waitFor();
    const decide = async (verb: string, name: string, reason: string) => {
      await page.getByRole('button', { name: verb, exact: true }).click();
      await dialog.getByLabel('Reason').fill(reason);
      await dialog.getByLabel('Your name').fill(name);
      await dialog.getByRole('button', { name: verb, exact: true }).click();
    };
    await decide('Approve', 'eva', 'it is fine');
    await dialog.getByText(/^eva started the run/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await decide('Approve', 'otto', 'looked at the plan');
    await page.getByText(/Waiting for approval before masters/).waitFor();
    const group = page.getByRole('article', { name: 'Group masters' });
    await group.locator('.state.warn', { hasText: 'awaiting approval' }).waitFor();
    await page.getByText('looked at the plan').waitFor();

    await page.goto(`${base}/runs`);
    await page.getByRole('row').getByText('awaiting approval').waitFor();
    await page
      .getByRole('link', { name: /deploy stl1/ })
      .first()
      .click();
    await decide('Reject', 'otto', 'masters are in use');
    await page.getByRole('heading', { level: 1 }).getByText('stopped').waitFor();
    await page.getByText('rejected before masters by otto: masters are in use').first().waitFor();

    await receiver.count(2);
    await page.goto(`${base}/notices`);
    const row = page.getByRole('region', { name: 'Receivers' }).getByRole('row', { name: /pager/ });
    await row.getByText('json, signed').waitFor();
    await row.getByRole('button', { name: 'Test' }).click();
    await dialog.getByRole('button', { name: 'Test' }).click();
    await page.getByText('Delivered to pager.').waitFor();
    await page
      .getByRole('region', { name: 'Deliveries' })
      .getByRole('row', { name: /test/ })
      .getByText('delivered')
      .waitFor();
    expect(receiver.received.map(({ body }) => body.event)).toEqual(['awaiting_approval', 'awaiting_approval', 'test']);
    expect(await page.content()).not.toContain('very-secret-path');
  });
});
