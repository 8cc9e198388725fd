import type { AddressInfo } from 'node:net';
import { MachineStatus } from '@sitewright/maas';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiRig, apiOfSite } from '../api/api-rig.ts';
import { exampleDocuments, exampleHosts, type LivingSite, livingSite } from '../rig/living-site.ts';
import { lookUntil } from '../rig/look-again.ts';
import { type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { describePage, launch, pages, previewOf, screenshot } from './browser.ts';

describePage('the page of a rollout', () => {
  let browser: Browser;
  let rig: TemporalRig;
  let site: LivingSite;
  let api: ApiRig;
  let origin: string;
  const at = pages(() => ({ browser, origin }));

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), temporalRig({ namespace: 'own' })]);
    const machines = exampleHosts.map((hostname) => ({ hostname, power_type: 'ipmi', status: MachineStatus.New }));
    site = await livingSite(rig, { seed: { machines } });
    api = await apiOfSite(rig, site);
    await api.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(api.api.server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    await api?.close();
    await site?.close();
    await rig?.close();
    await browser?.close();
  });

  it('has wave, soak and failures, and is promoted, held and ended from there and from home', async () => {
    const waves = '- name: masters\n      rollout: { first: 1, then: { by: 1 }, soak: 1h }';
    const documents = await exampleDocuments();
    await site.commit(
      documents.map(({ name, text }) => ({
        ...{ name, text: text.replace('- name: masters', waves).replace('nodes: 100', 'nodes: 30') },
      })),
    );
    const { body: run } = await api.ask('POST', '/api/v1/sites/stl1/runs', { kind: 'deploy_site' });
    const page = await at(`/runs/${run.id}`);
    const dialog = page.getByRole('dialog');
    const act = async (name: string, ...touched: readonly RegExp[]) => {
      await page.getByRole('button', { name, exact: true }).click();
      for (const text of touched) await previewOf(dialog).getByText(text).waitFor();
      await dialog.getByRole('button', { name, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const rollout = page.getByRole('status').filter({ hasText: 'Rollout of masters' });
    await rollout.getByText(/wave 1 of 3 · soaking until/).waitFor();
    await page
      .getByRole('article', { name: 'Group masters' })
      .getByText(/wave 1 of 3/)
      .waitFor();
    await act('Hold', /^Still to do, waits after the open wave: stl1r01s03, stl1r01s04$/);

    // At work it cannot be promoted: nobody can vouch for it.
    await site.control('auto', { deploy_ms: 3_600_000 });
    await act('Promote', /^Still to do, starts, wave by wave: stl1r01s03, stl1r01s04$/);
    await rollout.getByText(/wave 2 of 3$/).waitFor();
    await rollout.getByRole('button', { name: 'Promote' }).waitFor({ state: 'detached' });
    await lookUntil(
      () => site.entered(MachineStatus.Deploying),
      (entered) => entered.stl1r01s03 === 1,
    );
    await site.control('stl1r01s03/failed', {});
    await rollout.getByText(/1 node failed, stops at 1 · held: its limit of failed nodes is reached/).waitFor();
    await page.getByRole('heading', { level: 1 }).locator('.warn', { hasText: 'held' }).waitFor();
    // Its group has the colour of what waits for someone, and all of its text.
    const group = page.getByRole('article', { name: 'Group masters' });
    await group.locator('.state.warn', { hasText: 'held' }).waitFor();
    expect(await group.getAttribute('class')).toBe('group-card warn');
    expect(
      await group.locator('p').evaluateAll((all) => all.filter((one) => one.scrollHeight > one.clientHeight + 1)),
    ).toEqual([]);
    await screenshot(page, 'page-rollout');

    // The same from home, where it waits for someone.
    await page.goto(origin);
    const waiting = page.getByRole('region', { name: 'Waiting for someone' });
    await waiting.getByText(/waits for an operator who promotes/).waitFor();
    await waiting.getByRole('button', { name: 'Promote' }).click();
    await dialog.getByLabel('Failures that stop it').fill('1');
    await dialog.getByRole('button', { name: 'Promote' }).click();
    await dialog.getByText('the limit must be higher').waitFor();
    await dialog.getByLabel('Failures that stop it').fill('3');
    await dialog.getByRole('button', { name: 'Promote' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.goto(`${origin}/runs/${run.id}`);
    await rollout.getByText(/wave 3 of 3 · 1 node failed, stops at 3/).waitFor();
    await act('Abort', /^Running, finishes: stl1r01s04$/);
    await lookUntil(
      () => site.entered(MachineStatus.Deploying),
      (entered) => entered.stl1r01s04 === 1,
    );
    await site.control('stl1r01s04/deployed', {});
    await page.getByRole('heading', { level: 1 }).getByText('failed').waitFor();
    await page.getByText('abort rollout').waitFor();
  });

  it('says what a run waits for before it may touch machines', async () => {
    const freeze =
      'schema: sitewright/Limits/v1\nmetadata: {name: freeze}\ndata: {freezes: [{from: 2020-01-01, to: 2099-12-31, why: year end}]}\n';
    await site.commit([...(await exampleDocuments()), { name: 'freeze.yaml', text: freeze }]);
    const { body: run } = await api.ask('POST', '/api/v1/sites/stl1/runs', { kind: 'deploy_site' });
    const page = await at(`/runs/${run.id}`);
    const wait = page
      .getByRole('status')
      .getByText(/machines? waits? since .*: freeze from 2020-01-01 to 2099-12-31 \(year end\), until 2100-01-01/);
    await wait.waitFor();
    await api.ask('POST', `/api/v1/runs/${run.id}/pause`, {});
    await wait.waitFor({ state: 'detached' });
    await api.ask('POST', `/api/v1/runs/${run.id}/stop`, {});
    await page.getByRole('heading', { level: 1 }).getByText('stopped').waitFor();
  });
});
