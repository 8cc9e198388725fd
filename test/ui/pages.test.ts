import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { environment } from '../api/fuel-graphs-rig.ts';
import {
  closePages,
  describePage,
  focused,
  launch,
  type OpenPage,
  openPage,
  type PageOptions,
  previewOf,
  screenshot,
} from './browser.ts';

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

  it('without a release no cluster can be created, and the page shows the next step', async () => {
    const page = await at('/clusters');
    await page.getByText('No release is installed').waitFor();
    expect(await page.getByText('sitewright package install').count()).toBe(1);
    await page.getByRole('button', { name: 'Create a cluster', disabled: true }).waitFor();
  });

  it('a cluster is created, and its page shows nodes, checks, plan, graph and settings', async () => {
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
    await page.goto(`${origin}/clusters/${env.cluster}`);
    // By its name, without its number in the inventory.
    await page.getByRole('cell', { name: 'prod-1', exact: true }).waitFor();
    await page.goto(`${origin}/clusters/${env.cluster}?plan=1`);
    await page.getByText('Node prod-1: 1 run, 0 skipped').waitFor();
    await page.getByText('2 tasks would run on 2 nodes').waitFor();
    await page.getByText('Drawing of the merged graph').click();
    await page.locator('.picture g.node').nth(1).waitFor();
    await page.getByRole('link', { name: 'Plugins and settings' }).click();
    await page.getByLabel('Settings').waitFor();
  });

  it('the page of a site shows its checks, and which nodes are not well', async () => {
    await rig.store.sites.create({ name: 'dc1' });
    const result = { runId: 'r1', at: new Date().toISOString(), ms: 2_000 };
    const results = (['well', 'failed', 'unknown'] as const).map((verdict, index) => ({
      ...result,
      ...{ verdict, node: `n${index}`, text: `answer ${index}`, output: `full ${index}` },
    }));
    await rig.store.checkResults.add('dc1', 'metrics', results, { checks: ['metrics'], nodes: ['n0', 'n1', 'n2'] });
    const page = await at('/sites/dc1');
    const row = page.getByRole('region', { name: 'Checks' }).getByRole('row', { name: /metrics/ });
    await row.getByText('2 of 3 nodes: n1, n2').waitFor();
    await row.getByText('answer 1').waitFor();
    await row.getByText('failed', { exact: true }).waitFor();
    await row.getByText('Output of n1').click();
    await row.getByText('full 1').waitFor();
  });

  it('pending changes of a cluster are deployed with their plan, and every prompt names what it touches', async () => {
    const env = await environment(rig.store, 'prod');
    const base = `${api}/clusters/${env.cluster}`;
    const task = (id: string, more: object) => ({
      ...{ id, type: 'shell', version: '2.1.0', role: ['/.*/'], parameters: { cmd: 'true' } },
      ...more,
    });
    await rig.ask('PUT', `${base}/deployment_graphs/default`, {
      tasks: [task('web', { condition: { yaql_exp: 'changed($.web.port)' } })],
    });
    await rig.ask('POST', `${base}/deployment_graphs/provisioning`, { tasks: [task('install', {})] });
    const settings = (port: number) => ({
      editable: { web: { port: { value: port, type: 'number', label: 'Port' } } },
    });
    await rig.ask('PUT', `${base}/attributes`, settings(80));
    expect((await rig.ask('GET', `${base}/changes`)).body).toMatchObject({ nodes: [], settings: null });
    const { now } = (await rig.ask('GET', `${base}/states`)).body;
    await rig.store.taskStates.record({
      ...{ clusterId: env.cluster, state: JSON.stringify({ common: now.common, nodes: now.nodes }) },
      ...{ at: '2026-01-01T00:00:00Z', tasks: env.nodes.map((node) => ({ task: 'web', node: String(node) })) },
    });
    expect((await rig.ask('GET', `${base}/changes`)).body).toEqual({
      ...{ cluster: env.cluster, sequence: null, graphs: ['default'], nodes: [], maintenance: [], settings: [] },
    });
    await rig.ask('PUT', `${base}/attributes`, settings(8080));
    const { id } = await rig.store.nodes.create({ name: 'prod-3', status: 'discover' });
    await rig.ask('POST', `${base}/assignment`, [{ id, roles: ['compute'] }]);
    await rig.ask('POST', `${base}/unassignment`, [{ id: env.nodes[1] }]);
    expect((await rig.ask('GET', `${base}/changes`)).body).toEqual({
      ...{ cluster: env.cluster, sequence: null, graphs: ['deletion', 'provisioning', 'default'] },
      nodes: [
        { id: env.nodes[1], name: 'prod-2', change: 'removed', roles: ['compute'], pending_roles: [] },
        { id, name: 'prod-3', change: 'added', roles: [], pending_roles: ['compute'] },
      ],
      maintenance: [],
      settings: [{ path: 'web.port', before: 80, now: 8080 }],
    });

    const page = await at(`/clusters/${env.cluster}`);
    const dialog = page.getByRole('dialog');
    const touched = previewOf(dialog);
    await page.getByRole('button', { name: 'Deploy changes' }).click();
    await touched.getByRole('listitem').filter({ hasText: 'prod-3 compute' }).waitFor();
    await touched.getByRole('listitem').filter({ hasText: 'prod-2 compute' }).waitFor();
    await touched.getByText('web.port 80 → 8080').waitFor();
    await touched.getByRole('region', { name: 'Graph deletion' }).getByText('0 tasks would run').waitFor();
    await touched.getByRole('region', { name: 'Graph provisioning' }).getByText('Touched: prod-3.').waitFor();
    await touched.getByRole('region', { name: 'Graph default' }).getByText('Touched: prod-1.').waitFor();
    await screenshot(page, 'page-deploy-changes');
    const asked = page.waitForRequest(/graphs\/execute/);
    await dialog.getByLabel('Reason').fill('another port');
    await dialog.getByRole('button', { name: 'Deploy changes' }).click();
    expect((await asked).postDataJSON()).toEqual({
      ...{ cluster: env.cluster, hold_on_failure: true, reason: 'another port' },
      graphs: [{ type: 'deletion' }, { type: 'provisioning' }, { type: 'default' }],
    });

    // The plan follows the form.
    await page.goto(`${origin}/clusters/${env.cluster}?type=provisioning`);
    await page.getByRole('button', { name: 'Run a graph' }).click();
    await touched.getByText('Touched: prod-3.').waitFor();
    await dialog.getByRole('combobox', { name: /^Graph/ }).selectOption('default');
    await touched.getByText('Touched: prod-1.').waitFor();
    await dialog.getByLabel('prod-2').check();
    await touched.getByText('it is pending removal').waitFor();
  });

  it('tags are created, assigned, removed and deleted', async () => {
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
    // Without a selection nothing happens, and the dialog says why.
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    await dialog.getByText('no selection').waitFor();
    await dialog.getByLabel('prod-1').check();
    await dialog.getByRole('button', { name: 'Assign', exact: true }).click();
    // Dialogs are in the row that opened them, and name its nodes, too.
    const assigned = row.getByTitle('from user');
    await assigned.getByText('prod-1').waitFor();
    await row.getByRole('button', { name: 'Unassign' }).click();
    await dialog.getByLabel('prod-1').check();
    await dialog.getByRole('button', { name: 'Unassign' }).click();
    await assigned.waitFor({ state: 'detached' });
    await row.getByRole('button', { name: 'Change' }).click();
    await dialog.getByLabel('One of its nodes').check();
    await dialog.getByRole('button', { name: 'Change' }).click();
    await row.getByText('one node').waitFor();
    await row.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    const audit = (await rig.ask('GET', `${api}/audit`)).body.items as { actor: string; action: string }[];
    expect(audit.filter(({ action }) => action.startsWith('tag.')).every(({ actor }) => actor === 'nina')).toBe(true);
    await page.goto(`${origin}/audit`);
    await page.getByRole('cell', { name: 'nina' }).first().waitFor();
  });

  /** A run of a site that has ended, with its report, as the store keeps it. */
  async function endedRun(nodes: number): Promise<void> {
    const site = 'dc1';
    await rig.ask('POST', `${api}/sites`, { name: site });
    const times = { started_at: '2026-05-01T10:00:00.000Z', ended_at: '2026-05-01T10:20:00.000Z' };
    const names = Array.from({ length: nodes }, (_, at) => `r${String(at).padStart(4, '0')}`);
    const failed = names[3]!;
    const rows = names.map((node, at) => ({
      node,
      sequence: 1,
      position: at,
      report: {
        name: node,
        state: node === failed ? ('failed' as const) : ('success' as const),
        group: at < 3 ? 'control' : 'compute',
        attempts: 1,
        started_at: `2026-05-01T10:0${at % 10}:00.000Z`,
        prepared_at: `2026-05-01T10:0${at % 10}:30.000Z`,
        deploying_at: `2026-05-01T10:10:00.000Z`,
        ended_at: `2026-05-01T10:1${at % 10}:00.000Z`,
        ...(node === failed
          ? {
              failed_in: 'deploy' as const,
              reason: 'power is off: <i>bmc</i> does not answer',
              hint: 'Look at its BMC.',
            }
          : {}),
      },
    }));
    const run = { id: 'run1', workflowId: 'deploy_site:dc1', kind: 'deploy_site', site, startedAt: times.started_at };
    await rig.store.runs.put({
      ...run,
      sequence: 1,
      phase: 'finished',
      outcome: 'success_with_failures',
      endedAt: times.ended_at,
      failedNodes: 1,
      startedBy: 'nina',
      reason: 'first of May',
      revision: 1,
    });
    for (let at = 0; at < rows.length; at += 500) await rig.store.runs.putNodes('run1', rows.slice(at, at + 500));
    const counts = (success: number, failed: number) => ({ waiting: 0, not_reached: 0, prepared: 0, success, failed });
    const criterion = {
      call: 'deploy',
      criterion: 'percent_successful_nodes',
      wanted: 90,
      actual: 99,
      met: true,
      text: 'at least 90 % of the nodes: 99 %',
    };
    const group = (name: string, own: readonly string[], more: object) => ({
      name,
      critical: false,
      state: 'success',
      depends_on: [],
      nodes: own,
      criteria: [],
      calls: [],
      ...more,
    });
    const groups = [
      group('control', names.slice(0, 3), { critical: true, counts: counts(3, 0) }),
      group('compute', names.slice(3), {
        depends_on: ['control'],
        counts: counts(nodes - 4, 1),
        criteria: [criterion],
      }),
    ];
    await rig.store.runs.putReport('run1', 1, {
      kind: 'deploy_site',
      site,
      workflow_id: 'deploy_site:dc1',
      run_id: 'run1',
      revision: 1,
      outcome: 'success_with_failures',
      ...times,
      phases: [
        { name: 'load', state: 'success', ...times },
        { name: 'baremetal', state: 'success', ...times },
      ],
      baremetal: {
        groups,
        nodes: rows.map(({ report }) => report),
        nodes_by_state: {
          waiting: [],
          not_reached: [],
          prepared: [],
          success: names.filter((one) => one !== failed),
          failed: [failed],
        },
        order: ['control', 'compute'],
        processed: ['control', 'compute'],
        critical_failures: [],
        halts: false,
      },
      operator: [],
      warnings: [],
    });
  }

  it('a run on a site shows groups with criteria, and failures first', async () => {
    await endedRun(24);
    const page = await at('/runs?kind=deploy_site');
    await page.getByRole('link', { name: /deploy dc1/ }).click();
    await page.getByRole('heading', { name: /deploy dc1/ }).waitFor();
    await page.getByText('at least 90 % of the nodes: 99 %').waitFor();
    const first = page.getByRole('region', { name: 'Nodes', exact: true }).getByRole('row').nth(1);
    // Text from a machine is shown as text, whatever it looks like.
    await first.getByText('power is off: <i>bmc</i> does not answer').waitFor();
    await first.getByText('Look at its BMC.').waitFor();
    await page.getByRole('button', { name: 'compute', exact: true }).click();
    await page.waitForURL(/group=compute/);
    await page.getByText('21 nodes', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    // Another view of it is one step back in the history.
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.waitForURL(/view=timeline/);
    // By group and start, each with its preparation and its deployment, of which the last ones are framed.
    await page.locator('.timeline .span').nth(47).waitFor();
    expect(await page.locator('.timeline h3').allTextContents()).toEqual(['control', 'compute']);
    const lines = page.locator('.timeline .track[role=list]');
    expect(await lines.nth(3).getAttribute('aria-label')).toBe('Node r0010');
    expect(await page.locator('.timeline .span.bad').count()).toBe(1);
    expect(await page.locator('.timeline .span.critical').count()).toBe(4);
    await page.getByRole('region', { name: 'Timeline' }).evaluate((one) => one.scrollIntoView());
    await screenshot(page, 'page-waterfall');
    await page.locator('.timeline .tick').nth(3).waitFor();
    await page.goBack();
    await first.waitFor();
    // It can no longer be controlled.
    expect(await page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
  });

  it('a thousand nodes are cells of a grid, and rows of a virtual table', async () => {
    await endedRun(1000);
    const page = await at('/runs/run1');
    await page.locator('.cell').nth(999).waitFor();
    await expect.poll(() => page.locator('.cell.bad').count()).toBe(1);
    const table = page.getByRole('region', { name: 'Nodes', exact: true });
    await table.getByRole('cell', { name: 'r0003' }).waitFor();
    expect(await table.getByRole('table').getAttribute('aria-rowcount')).toBe('1001');
    expect(await table.getByRole('row').count()).toBeLessThan(120);
    expect(await page.locator('*').count()).toBeLessThan(6_000);
    await table.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    await table.getByRole('cell', { name: 'r0999' }).waitFor();
    await page.locator('.cell.bad').click();
    await page.waitForURL(/node=r0003/);
    await table.getByText('power is off').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.setViewportSize({ width: 3840, height: 1800 });
    await page.evaluate('scrollTo(0, 0)');
    await screenshot(page, 'page-wide');
  });

  it('everything is reachable by keyboard, and a dialog restores the focus', async () => {
    await environment(rig.store, 'prod');
    const page = await at('/clusters');
    await page.getByRole('link', { name: 'prod' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to content');
    const names: string[] = [];
    for (let steps = 0; steps < 25 && !names.includes('prod'); steps++) {
      await page.keyboard.press('Tab');
      names.push(await focused(page));
      const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
      expect(outline, names.at(-1)).not.toBe('none');
    }
    expect(names).toEqual(expect.arrayContaining(['Sites', 'Runs', 'Create a cluster', 'prod']));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cluster prod' }).waitFor();
    // The new page begins at its heading.
    await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('H1');
    await page.goBack();
    const button = page.getByRole('button', { name: 'Create a cluster' });
    await page.getByRole('link', { name: 'prod' }).waitFor();
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toBe('Create a cluster');
  });

  it('the page follows the dark color scheme, and fits a narrow screen', async () => {
    await endedRun(24);
    const page = await at('/runs/run1', { dark: true });
    await page.locator('.cell').first().waitFor();
    const colourOf = (field: string) => page.evaluate<string>(`getComputedStyle(document.body).${field}`);
    const brightness = (text: string) =>
      text
        .match(/\d+/g)!
        .slice(0, 3)
        .reduce((sum, one) => sum + Number(one), 0) / 3;
    expect(brightness(await colourOf('backgroundColor'))).toBeLessThan(50);
    expect(brightness(await colourOf('color'))).toBeGreaterThan(200);
    await screenshot(page, 'page-dark');
    const narrow = await at('/runs/run1', { width: 380 });
    await narrow.locator('.cell').first().waitFor();
    expect(await narrow.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(380);
  });

  it('times update themselves, and stop while there is no news', async () => {
    await rig.ask('POST', `${api}/sites`, { name: 'dc1' });
    const startedAt = new Date().toISOString();
    const run = { id: 'live1', workflowId: 'deploy_site:dc1', kind: 'deploy_site', site: 'dc1', startedAt };
    await rig.store.runs.put({ ...run, sequence: 1, phase: 'baremetal' });
    const one = await openPage(browser, `${origin}/docs`);
    opened.push(one);
    const { page } = one;
    await page.clock.install({ time: new Date(startedAt) });
    // What a shared worker asks cannot be refused here.
    await page.addInitScript('delete globalThis.SharedWorker');
    await page.goto(`${origin}/runs`);
    const row = page.getByRole('row', { name: /deploy dc1/ });
    await row.waitFor();
    await page.clock.runFor(65_000);
    await row.getByText('1 min ago').waitFor();
    await row.getByText(/^1 min \d+ s$/).waitFor();
    expect(await row.locator('time').getAttribute('title')).toContain(new Date(startedAt).getFullYear().toString());

    await page.route('**/api/**', (route) => route.abort());
    rig.api.server.closeAllConnections();
    await page.clock.runFor(10_000);
    await page.getByText('The API has not answered since').waitFor();
    await page.getByText('stale', { exact: true }).waitFor();
    const lasting = () => row.locator('.lasting').innerText();
    const before = await lasting();
    await page.clock.runFor(600_000);
    // It started eleven minutes ago, but how long it has run is not known.
    await row.getByText('11 min ago').waitFor();
    expect(await lasting()).toBe(before);
    // The banner reports it once; the lists do not repeat it.
    await page.getByText('The API does not answer.').waitFor({ state: 'detached' });
    await page.unroute('**/api/**');
    await page.clock.runFor(60_000);
    await page.getByText('The API has not answered since').waitFor({ state: 'detached' });
    await row
      .getByText(/^12 min/)
      .last()
      .waitFor();
  });

  it('runs are numbered, searched and filtered; filters are in the address, and are saved', async () => {
    const env = await environment(rig.store, 'prod');
    await rig.ask('POST', `${api}/sites`, { name: 'dc1' });
    const day = (date: number) => `2026-05-0${date}T10:00:00.000Z`;
    const ended = (id: string, at: number, more: object) =>
      rig.store.runs.put({
        ...{ id, workflowId: `w:${id}`, kind: 'deploy_site', site: 'dc1', startedAt: day(at), endedAt: day(at) },
        ...{ sequence: 1, phase: 'finished', outcome: 'success', ...more },
      });
    await ended('one', 1, { startedBy: 'nina', title: 'first of May', labels: { ticket: 'OPS-1' } });
    const failure = 'rack 3 has no power';
    await ended('two', 2, { startedBy: 'eva', outcome: 'failed', failure, done: 3, total: 24, failedNodes: 2 });
    const graphs = { kind: 'execute_graph', site: null, labels: { cluster: String(env.cluster) } };
    await ended('three', 3, { ...graphs, startedBy: 'eva', done: 4, total: 4 });
    const page = await at('/runs');
    const row = (name: RegExp) => page.getByRole('row', { name });
    await row(/^Select run 3 3 graphs on cluster prod success 4 \/ 4 tasks/).waitFor();
    await row(/^Select run 2 2 deploy dc1 failed 3 \/ 24 nodes, 2 failed rack 3 has no power/).waitFor();

    const shows = async (field: string, value: string, wanted: RegExp) => {
      const input = page.getByRole('search').getByLabel(new RegExp(`^${field}`));
      await (field === 'Cluster' ? input.selectOption(value) : input.fill(value));
      await expect.poll(() => page.getByRole('row').count()).toBe(2);
      await row(wanted).waitFor();
      const address = page.url();
      await page.getByRole('button', { name: 'Show all' }).click();
      await expect.poll(() => page.getByRole('row').count()).toBe(4);
      return address;
    };
    expect(await shows('Search', 'NO POWER', /run 2/)).toMatch(/text=NO/);
    await shows('Search', 'first of', /run 1/);
    await shows('Cluster', 'prod', /run 3/);
    await shows('By', 'nina', /run 1/);
    await shows('Label', 'ticket=OPS-1', /run 1/);
    await shows('From', '2026-05-03', /run 3/);
    const address = await shows('To', '2026-05-01', /run 1/);

    await page.goto(address);
    await page.getByRole('button', { name: 'Save these filters' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('in April');
    await page.getByRole('dialog').getByRole('button', { name: 'Save these filters' }).click();
    await page.goto(`${origin}/runs`);
    await page.getByRole('link', { name: 'in April' }).click();
    await page.waitForURL(/until=2026-05-01/);
    await page.getByRole('button', { name: 'Forget in April' }).click();
    await page.getByRole('link', { name: 'in April' }).waitFor({ state: 'detached' });
  });

  it('a theme is chosen, kept, and stronger than that of the system', async () => {
    const page = await at('/sites', { dark: true });
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const dark = await ground();
    await page.getByLabel('Theme').selectOption('light');
    await expect.poll(ground).not.toBe(dark);
    const light = await ground();
    await page.reload();
    await page.getByRole('heading', { name: 'Sites' }).waitFor();
    expect(await ground()).toBe(light);
    await page.getByLabel('Theme').selectOption('');
    await expect.poll(ground).toBe(dark);
  });

  it('lists show changes without a reload', async () => {
    const page = await at('/sites');
    await page.getByText('No sites yet').waitFor();
    await rig.ask('POST', `${api}/sites`, { name: 'dc9' });
    await page.getByRole('link', { name: 'dc9' }).waitFor();
    await page.getByRole('button', { name: 'Deploy', disabled: true }).waitFor();
  });

  it('the page reports an unavailable API, and recovers when it is back', async () => {
    const page = await at('/sites');
    await page.getByText('No sites yet').waitFor();
    await page.route('**/api/**', (route) => route.abort());
    rig.api.server.closeAllConnections();
    await page.getByText('The API has not answered since').waitFor();
    // The earlier content stays.
    await page.getByText('No sites yet').waitFor();
    await rig.ask('POST', `${api}/sites`, { name: 'dc9' });
    await page.unroute('**/api/**');
    await page.getByRole('link', { name: 'dc9' }).waitFor();
    await page.getByText('The API has not answered since').waitFor({ state: 'detached' });
  });

  it('a refusal of the API is shown with the next step, and an unknown run is reported as unknown', async () => {
    await environment(rig.store, 'prod');
    const page = await at('/clusters');
    await page.getByRole('button', { name: 'Create a cluster' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('prod');
    await dialog.getByRole('button', { name: 'Create a cluster' }).click();
    await dialog.getByRole('alert').waitFor();
    for (const [path, list] of [
      ['runs/nothing', 'Show all runs'],
      ['sites/nothing', 'Show all sites'],
      ['clusters/99', 'Show all clusters'],
      ['nodes/99', 'Show all nodes'],
      ['graphs/99', 'Show all graphs'],
      ['packages/99', 'Show all packages'],
    ]) {
      await page.goto(`${origin}/${path}`);
      await page.getByRole('alert').waitFor();
      await page.getByRole('link', { name: list! }).waitFor();
    }
    await page.goto(`${origin}/tags/of/nothing`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  });

  it('nodes, graphs and packages are listed; a graph is drawn', async () => {
    const env = await environment(rig.store, 'prod');
    const tasks = ['first', 'second'].map((id) => ({
      id,
      type: 'shell',
      version: '2.1.0',
      role: ['compute'],
      parameters: { cmd: 'true' },
    }));
    await rig.ask('POST', `${api}/clusters/${env.cluster}/deployment_graphs/custom`, { name: 'my graph', tasks });
    const bare = 'Run 3 released its machine. Deploy it: sitewright site redeploy dc1 spare';
    const { id: spare } = await rig.store.nodes.create({ name: 'spare' });
    await rig.store.nodes.update(spare, { errorMsg: bare });
    const page = await at('/nodes');
    await page.getByRole('row', { name: new RegExp(`^spare bare ${bare}`) }).waitFor();
    await page.getByRole('cell', { name: 'prod-2' }).waitFor();
    await page.getByLabel('Role').selectOption('controller');
    await page.getByRole('cell', { name: 'prod-2' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'prod-1' }).click();
    await page.getByRole('heading', { name: 'Node prod-1' }).waitFor();
    await page.getByRole('link', { name: 'prod', exact: true }).waitFor();
    // Filters live in the address, and so does the way back to them.
    await page.goBack();
    await expect.poll(() => page.getByLabel('Role').inputValue()).toBe('controller');
    await page.getByRole('link', { name: 'Packages' }).click();
    await page.getByRole('cell', { name: /release of prod/ }).waitFor();
    await page.getByRole('link', { name: 'Graphs' }).click();
    await page.getByLabel('Type').selectOption('custom');
    await page.getByRole('link', { name: 'my graph' }).click();
    await page.locator('.picture g.node').nth(1).waitFor();
    expect(await page.locator('.picture g.node').first().getAttribute('aria-label')).toBe('first');
  });

  it('the document forbids everything but its own files, and files are cached by their content', async () => {
    const shown = await rig.ask('GET', '/runs/some/where');
    expect(shown.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(shown.headers['content-security-policy']).not.toContain('unsafe');
    const file = await rig.ask('GET', '/assets/page.js');
    expect(file).toMatchObject({ status: 200, headers: { 'content-type': 'text/javascript; charset=utf-8' } });
    const small = await rig.ask('GET', '/assets/page.js', undefined, { 'accept-encoding': 'gzip, br' });
    expect(small.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
    const again = await rig.ask('GET', '/assets/page.js', undefined, { 'if-none-match': file.headers.etag! });
    expect(again.status).toBe(304);
    for (const path of ['/assets/../index.html', '/assets/%2e%2e/%2e%2e/package.json', '/assets/nothing.js'])
      expect((await rig.ask('GET', path)).status, path).toBe(404);
  });
});
