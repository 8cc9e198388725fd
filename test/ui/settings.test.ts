import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import {
  closePages,
  describePage,
  hold,
  launch,
  type OpenPage,
  openPage,
  type PageOptions,
  previewOf,
  screenshot,
  seriousFindings,
} from './browser.ts';

const release = {
  name: 'web',
  version: 'jammy-1.0',
  operating_system: 'Ubuntu',
  roles_metadata: { web: { name: 'Web', description: 'd' } },
  attributes_metadata: {
    editable: {
      storage: {
        metadata: { label: 'Storage', weight: 20 },
        ceph: { type: 'checkbox', label: 'Ceph', description: 'Volumes in Ceph.', value: false, weight: 10 },
        replicas: {
          type: 'number',
          label: 'Replicas',
          value: 3,
          min: 1,
          max: 9,
          weight: 20,
          restrictions: [{ condition: 'settings:storage.ceph.value == false', message: 'Only with Ceph.' }],
        },
        secret_id: { type: 'hidden', value: 'abc' },
      },
      common: {
        metadata: { label: 'Common', weight: 10 },
        mode: {
          type: 'radio',
          label: 'Mode',
          value: 'plain',
          weight: 30,
          values: [
            { data: 'plain', label: 'Plain' },
            { data: 'fast', label: 'Fast', restrictions: [{ condition: 'settings:storage.ceph.value' }] },
          ],
        },
        domain: {
          type: 'text',
          label: 'Domain',
          value: 'example.org',
          weight: 10,
          regex: { source: '^[a-z.]+$', error: 'Lower-case letters and dots.' },
        },
        servers: { type: 'text_list', label: 'Time servers', value: ['ntp1', 'ntp2'], weight: 20 },
        level: {
          type: 'select',
          label: 'Log level',
          value: 'info',
          weight: 40,
          values: [
            { data: 'info', label: 'Info' },
            { data: 'debug', label: 'Debug' },
          ],
        },
        extra: { type: 'custom', label: 'Extra', value: { a: 1 }, weight: 50 },
      },
      syslog: {
        metadata: { label: 'Syslog', weight: 30, toggleable: true, enabled: false },
        host: { type: 'text', label: 'Host', value: '' },
      },
    },
  },
};

describePage('the settings of a cluster on the page', () => {
  let browser: Browser;
  let rig: ApiRig;
  let origin: string;
  let release_id: number;
  let made = 0;
  const opened: OpenPage[] = [];

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    release_id = (await rig.ask('POST', '/api/v1/releases/', release)).body.id;
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
  });
  afterEach(() => closePages(opened));
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  const cluster = async (): Promise<number> =>
    (await rig.ask('POST', '/api/v1/clusters/', { name: `lab${made++}`, release_id })).body.id;
  const settingsOf = async (id: number) => (await rig.ask('GET', `/api/v1/clusters/${id}/attributes`)).body.editable;
  const at = async (id: number, as = '', options?: PageOptions): Promise<Page> => {
    const one = await openPage(browser, `${origin}/clusters/${id}?view=settings${as}`, options);
    opened.push(one);
    return one.page;
  };
  const save = async (page: Page): Promise<void> => {
    // What people come for here: the one main action.
    expect(await page.locator('button.main').allTextContents()).toEqual(['Save settings']);
    await page.getByRole('button', { name: 'Save settings' }).click();
  };
  const confirm = async (page: Page): Promise<void> => {
    await page.getByRole('dialog').getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Settings saved.').waitFor();
  };

  it('are a form from kinds, labels, order and restrictions that the release declares', async () => {
    const id = await cluster();
    const page = await at(id);
    await page.getByRole('group', { name: 'Common' }).waitFor();
    expect(await page.locator('.settings legend').allInnerTexts()).toEqual(['Common', 'Storage', 'Syslog']);
    expect(await page.getByText('secret_id').count()).toBe(0);
    const replicas = page.getByRole('spinbutton', { name: 'Replicas' });
    await page.getByText('Only with Ceph.').waitFor();
    expect(await replicas.isDisabled()).toBe(true);
    expect(await page.getByRole('textbox', { name: 'Host' }).isDisabled()).toBe(true);
    // Restrictions follow the values in the form, before anything is saved.
    await page.getByRole('checkbox', { name: 'Ceph' }).check();
    await page.getByText('Only with Ceph.').waitFor({ state: 'detached' });
    await replicas.fill('5');
    await expect.poll(() => page.getByRole('radio', { name: 'Fast' }).isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Domain' }).fill('EXAMPLE');
    await page.getByText('Lower-case letters and dots.').waitFor();
    await page.getByRole('textbox', { name: 'Domain' }).fill('example.net');
    await page.getByRole('textbox', { name: 'Time servers' }).fill('ntp1\nntp3');
    await page.getByRole('combobox', { name: 'Log level' }).selectOption('Debug');
    await page.getByRole('textbox', { name: 'Extra' }).fill('{"a": 2}');
    await page.getByRole('checkbox', { name: 'Syslog' }).check();
    await page.getByRole('textbox', { name: 'Host' }).fill('log1');
    await page.getByText('8 changed, not saved').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.evaluate('scrollTo(0, 250)');
    await screenshot(page, 'page-settings');
    await save(page);
    const plan = previewOf(page);
    await plan.getByRole('heading', { name: '8 changed settings' }).waitFor();
    await plan.getByText('storage.replicas').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect((await settingsOf(id)).storage.replicas.value).toBe(3);
    await confirm(page);
    expect(await settingsOf(id)).toMatchObject({
      storage: { ceph: { value: true }, replicas: { value: 5 }, secret_id: { value: 'abc' } },
      common: {
        domain: { value: 'example.net' },
        servers: { value: ['ntp1', 'ntp3'] },
        level: { value: 'debug' },
        extra: { value: { a: 2 } },
      },
      syslog: { metadata: { enabled: true }, host: { value: 'log1' } },
    });
  });

  it('are saved when what changes is shown: until then, the button waits', async () => {
    const id = await cluster();
    const page = await at(id, '&as=json');
    const text = page.getByRole('textbox', { name: 'Settings' });
    await text.fill((await text.inputValue()).replace('"example.org"', '"example.net"'));
    const come = await hold(page, /attributes\/plan/);
    await save(page);
    const button = page.getByRole('dialog').getByRole('button', { name: 'Save settings' });
    expect(await button.isDisabled()).toBe(true);
    await page.getByText('Waiting for the plan of what is chosen.').waitFor();
    come();
    await confirm(page);
    expect((await settingsOf(id)).common.domain.value).toBe('example.net');
  });

  it('are saved as they were shown or not at all', async () => {
    const id = await cluster();
    const page = await at(id);
    await page.getByRole('textbox', { name: 'Domain' }).fill('example.net');
    await save(page);
    await page.getByRole('heading', { name: '1 changed setting' }).waitFor();
    await rig.ask('PATCH', `/api/v1/clusters/${id}/attributes`, {
      editable: { common: { level: { value: 'debug' } } },
    });
    await page.getByRole('dialog').getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('the settings have changed since the plan was shown').waitFor();
    expect((await settingsOf(id)).common).toMatchObject({
      domain: { value: 'example.org' },
      level: { value: 'debug' },
    });
  });

  it('are JSON, too, with the place of a mistake', async () => {
    const id = await cluster();
    const page = await at(id, '&as=json');
    const text = page.getByRole('textbox', { name: 'Settings' });
    const before = await text.inputValue();
    await text.fill('{\n  "editable": {,}\n}');
    await save(page);
    await page.getByText('Not valid JSON: line 2, column').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await text.fill(before.replace('"example.org"', '"example.net"'));
    await save(page);
    await page.getByRole('heading', { name: '1 changed setting' }).waitFor();
    await confirm(page);
    expect((await settingsOf(id)).common.domain.value).toBe('example.net');
  });

  it('have a history with what changed and by whom, and a way back that shows what it changes', async () => {
    const id = await cluster();
    const set = (value: string) =>
      rig.ask(
        'PATCH',
        `/api/v1/clusters/${id}/attributes`,
        { editable: { common: { domain: { value } } } },
        { 'x-sitewright-user': 'nina' },
      );
    await set('one.org');
    await set('two.org');
    const page = await at(id, '&as=history');
    await page.getByRole('row', { name: /^3 .*nina.*common.domain "one.org" → "two.org"/ }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('row', { name: /^2 / }).getByRole('button', { name: 'Compare and revert' }).click();
    const plan = previewOf(page);
    await plan.getByText('"two.org"').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Compare and revert' }).click();
    await page.getByRole('row', { name: /^4 .*"two.org" → "one.org"/ }).waitFor();
    expect((await settingsOf(id)).common.domain.value).toBe('one.org');
  });

  it('fit a phone, and the dark', async () => {
    const id = await cluster();
    const page = await at(id, '', { width: 390, height: 800, dark: true });
    await page.getByRole('group', { name: 'Common' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await seriousFindings(page)).toEqual([]);
  });
});
