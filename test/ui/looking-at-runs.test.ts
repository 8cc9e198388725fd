import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { describePage, focused, launch, pages, screenshot, seriousFindings } from './browser.ts';
import { storeGraphRun } from './stored-runs.ts';

const api = '/api/v1';

const chain = (...names: string[]) =>
  names.map((id, at) => ({ id, type: 'shell', role: ['compute'], requires: at === 0 ? [] : [names[at - 1]!] }));

/** One system with a site, a cluster of 200 nodes and some runs, which these tests only read. */
describePage('looking at runs', () => {
  let browser: Browser;
  let rig: ApiRig;
  let env: Environment;
  let origin: string;
  const at = pages(() => ({ browser, origin }));

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
    env = await environment(rig.store, 'prod');
    const names = Array.from({ length: 198 }, (_, at) => `rack${at % 4}-${String(at).padStart(3, '0')}`);
    const made = await Promise.all(names.map((name) => rig.store.nodes.create({ name, status: 'ready' })));
    await rig.store.nodes.assign(
      env.cluster,
      made.map(({ id }) => ({ id, roles: ['compute'] })),
    );
    const nodes = env.nodes.map(String);
    const tasks = chain('packages', 'database', 'verify');
    await storeGraphRun(rig.store, env, { id: 'first', tasks, nodes, startedAt: '2026-05-01T10:00:00.000Z' });
    await storeGraphRun(rig.store, env, {
      ...{ id: 'second', nodes, startedAt: '2026-05-02T10:00:00.000Z', seconds: 30, outcome: 'failed' },
      ...{ tasks: chain('packages', 'database', 'monitor'), endings: { database: 'failed', monitor: 'skipped' } },
    });
    await rig.ask('POST', `${api}/sites`, { name: 'dc1' });
    const document = (rack: string) => ({
      files: [{ name: 'nodes.yaml', text: `# machines\nrack: ${rack}\n` }],
      author: 'nina',
      force: true,
    });
    for (const rack of ['one', 'two']) await rig.ask('POST', `${api}/sites/dc1/revisions`, document(rack));
  });
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  it('two runs are compared by plan, result and duration', async () => {
    const page = await at('/runs');
    await page.getByRole('checkbox', { name: 'Select run 1' }).check();
    await page.getByRole('button', { name: 'Compare', disabled: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Select run 3' }).check();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.waitForURL(/compare\?a=first&b=second/);
    await page.getByRole('row', { name: /^database on prod-1 success failed 10 s 30 s exit code 3/ }).waitFor();
    await page
      .getByRole('row', { name: /^database on prod-1/ })
      .locator('.state.bad', { hasText: 'failed' })
      .waitFor();
    await page.getByRole('row', { name: /^verify on prod-1 success not planned/ }).waitFor();
    await page.getByRole('row', { name: /^monitor on prod-2 not planned skipped/ }).waitFor();
    // Slower by more than a half, with the same outcome.
    await page.getByLabel(/^Show/).selectOption('slower');
    await page.getByRole('row', { name: /^packages on prod-1 success success 10 s 30 s/ }).waitFor();
    await page.waitForURL(/show=slower/);
    await screenshot(page, 'page-compare');
  });

  it('a failed read of tasks by run is repeated', async () => {
    const page = await at('/clusters');
    await page.route('**/runs/second/counts', (route) => route.abort(), { times: 1 });
    await page.goto(`${origin}/clusters/${env.cluster}?view=runs`);
    await page.getByRole('link', { name: 'database in run 3: 2 failed' }).waitFor();
  });

  it('a cluster shows its tasks by run, and a node shows the effect of each run on it', async () => {
    const page = await at(`/clusters/${env.cluster}?view=runs`);
    const grid = page.getByRole('region', { name: 'Tasks by run' });
    await grid.getByRole('link', { name: 'database in run 3: 2 failed' }).waitFor();
    await grid.getByRole('link', { name: 'database in run 1: 2 success' }).waitFor();
    await page
      .getByRole('img', { name: '1 of the last 2 runs ended with failures; the median took 1 min 30 s.' })
      .waitFor();
    await grid
      .getByRole('row', { name: /verify/ })
      .getByLabel('not in this run')
      .waitFor();
    // The slowest first, each with its last runs; two of twelve failed.
    await page.getByText('In 2 runs, 80 % of tasks succeeded with the first attempt.').waitFor();
    const slowest = page.getByRole('region', { name: 'Slowest tasks' }).getByRole('row');
    await slowest.nth(1).getByText('database').waitFor();
    await slowest.filter({ hasText: 'database' }).getByText('2 of 4').waitFor();
    await slowest
      .filter({ hasText: 'packages' })
      .getByRole('img', { name: 'None of the last 2 runs ended with failures; the median took 30 s.' })
      .waitFor();
    await grid.getByRole('link', { name: 'database in run 3: 2 failed' }).click();
    await page.waitForURL(/runs\/second\?task=database/);
    // The same of one task, beside its log.
    await page.getByRole('link', { name: 'database' }).first().click();
    await page
      .getByRole('region', { name: /^Log of database/ })
      .getByText(/^1 of the last 2 runs ended with failures/)
      .waitFor();
    await page.goto(`${origin}/nodes/${env.nodes[0]}`);
    const row = page.getByRole('region', { name: 'Runs of its cluster' }).getByRole('row', { name: /^3 / });
    await row.getByText('1 failed').waitFor();
    await row.getByText('1 skipped').waitFor();
  });

  it('200 nodes of a cluster are paged and filtered, and many are changed together', async () => {
    const page = await at(`/clusters/${env.cluster}`);
    await page.getByText('1–50 of 200').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(4_000);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.waitForURL(/page=1/);
    await page.getByText('51–100 of 200').waitFor();
    await page.getByLabel('Name, address or tag').fill('rack3');
    await page.waitForURL(/name=rack3/);
    await page.getByText('49 nodes', { exact: true }).waitFor();
    await page.getByRole('checkbox', { name: 'Select all shown' }).check();
    await page.getByText('49 nodes selected').waitFor();
    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    // They are deployed.
    await page.getByText('The removal of 49 nodes is pending until the next deployment.').waitFor();
  });

  it('a run is started again with changes', async () => {
    const page = await at('/runs/second');
    await page.getByRole('button', { name: 'Run again' }).click();
    const dialog = page.getByRole('dialog');
    // As before: its nodes are selected, and it did not hold.
    await expect.poll(() => dialog.getByLabel('prod-1').isChecked()).toBe(true);
    expect(await dialog.getByRole('checkbox', { name: /Hold on failure/ }).isChecked()).toBe(false);
    const asked = page.waitForRequest(/graphs\/execute/);
    await dialog.getByLabel('prod-2').uncheck();
    await dialog.getByRole('checkbox', { name: 'Treat everything as changed' }).check();
    await dialog.getByLabel('Reason').fill('the disk was replaced');
    await dialog.getByRole('button', { name: 'Run again' }).click();
    expect((await asked).postDataJSON()).toEqual({
      cluster: env.cluster,
      graphs: [{ type: 'default', nodes: [env.nodes[0]] }],
      force: true,
      reason: 'the disk was replaced',
    });
  });

  it('bars have names, medians of earlier runs and the critical path, and dragging over the timeline zooms', async () => {
    const page = await at('/runs/second?view=timeline');
    // Of the two nodes, as long as the first run took for them: what is new in this run has no median.
    await expect.poll(() => page.locator('.timeline .ghost').count()).toBe(4);
    const usual = (await rig.ask('GET', `${api}/runs/second/usual?graph=default&nodes=${env.nodes[0]}`)).body;
    expect(usual).toEqual({ runs: 1, seconds: { packages: 10, database: 10, verify: 10 } });
    expect((await rig.ask('GET', `${api}/runs/first/usual`)).body).toEqual({ runs: 0, seconds: {} });
    await page.goto(`${origin}/runs/first?view=timeline`);
    await page.locator('.timeline .span').nth(5).waitFor();
    expect(await page.locator('.timeline .span').first().textContent()).toBe('packages');
    // Of so few tasks without being asked for.
    const path = page.getByRole('list', { name: 'Critical path' });
    await expect.poll(() => path.getByRole('listitem').count()).toBe(3);
    await path.getByText(/verify on prod-\d/).waitFor();
    await expect.poll(() => page.locator('.timeline .span.critical').count()).toBe(3);

    const track = (await page.locator('.axis .track').boundingBox())!;
    await page.mouse.move(track.x + track.width * 0.02, track.y + 60);
    await page.mouse.down();
    await page.mouse.move(track.x + track.width * 0.2, track.y + 60, { steps: 4 });
    await page.mouse.up();
    // Of three tasks one after the other, the first is left.
    await expect.poll(() => page.locator('.timeline .span').count()).toBe(2);
    await page.getByRole('button', { name: 'Reset zoom' }).click();
    await expect.poll(() => page.locator('.timeline .span').count()).toBe(6);
  });

  it('the palette does what it is told, keys go through what failed, and a dialog is a command', async () => {
    const page = await at('/sites');
    await page.getByRole('link', { name: 'dc1', exact: true }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Go to' });
    await palette.getByRole('combobox').fill('retry failed of run 3');
    await palette.getByRole('option', { name: /^do retry failed of run 3/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Retry what failed in run 3' });
    await dialog.getByText('database on prod-1, database on prod-2').waitFor();
    await dialog.getByLabel('Reason').fill("it's full");
    await dialog.getByRole('button', { name: 'Copy as command' }).click();
    await page.getByText(`sitewright graph execute --from 3 --reason 'it'\\''s full'`).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(page.url()).toBe(`${origin}/runs/second`);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await focused(page)).toContain('database');
    await page.keyboard.press('l');
    await page.waitForURL(/log=database/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await palette.getByText('retry the row, or what failed').waitFor();
  });

  it('a site is created from a folder, whose documents are checked first', async () => {
    const page = await at('/sites?do=create');
    const dialog = page.getByRole('dialog', { name: 'Create a site' });
    await dialog.getByLabel('Name', { exact: true }).fill('dc2');
    const folder = fileURLToPath(new URL('../../examples/first-site', import.meta.url));
    await dialog.getByLabel('Folder of documents').setInputFiles(folder);
    await dialog.getByText(/^\d document files?, 0 problems$/).waitFor();
    await dialog.getByRole('button', { name: 'Create a site' }).click();
    await page.waitForURL(`${origin}/sites/dc2`);
    await expect.poll(async () => (await rig.ask('GET', `${api}/sites/dc2`)).body.latest_revision).toBe(1);
  });

  it('ten thousand instances are one drawing with groups that expand', async () => {
    const nodes = Array.from({ length: 100 }, (_, n) => String(n + 1));
    const roles = ['compute', 'controller', 'storage', 'network', 'base'];
    const tasks = Array.from({ length: 100 }, (_, n) => ({
      ...{ id: `task-${n}`, type: 'shell', role: [roles[n % 5]!] },
      requires: n < 5 ? [] : [`task-${n - 5}`],
    }));
    const endings = { 'task-98': 'failed' } as const;
    await storeGraphRun(rig.store, env, { id: 'large', tasks, nodes, startedAt: '2026-05-03T10:00:00.000Z', endings });
    const page = await at('/runs/large?view=graph');
    await page.locator('g.node[data-group]').nth(4).waitFor();
    expect(await page.locator('g.node').count()).toBe(5);
    const network = page.locator('g.node[data-group="network"]');
    // Its colour is that of its worst task.
    expect(await network.getAttribute('aria-label')).toBe('network: 20 tasks, 100 failed, 1900 success');
    expect(await network.getAttribute('class')).toContain('is-failed');
    await network.press('Enter');
    await page.waitForURL(/open=network/);
    await page.locator('g.node[data-task="task-98"], g.node[data-task="task-3"]').first().waitFor();
    await expect.poll(() => page.locator('g.node').count()).toBe(24);
    await page.getByRole('button', { name: 'Expand all' }).click();
    await expect.poll(() => page.locator('g.node').count()).toBe(100);
    // A hundred boxes, however many instances they represent.
    expect(await page.locator('.map *').count()).toBeLessThan(1_500);
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await page.getByLabel('Find a task').fill('task-42');
    await page.locator('g.node.is-found[data-task="task-42"]').waitFor();
    const { body } = await rig.ask('GET', '/api/v1/runs/large/graph/map?open=network');
    expect(body).toMatchObject({ by: 'tag', groupings: ['none', 'tag'], frames: [{ name: 'network' }] });
    expect(body.boxes).toHaveLength(24);
    expect(body.edges).toHaveLength(19);
    expect((await rig.ask('GET', '/api/v1/runs/large/graph/map?by=colour')).status).toBe(400);
  });

  it('documents of a revision are shown and compared, and the plan is next to Deploy', async () => {
    const page = await at('/sites/dc1');
    await page.getByLabel('nodes.yaml').getByText('rack: two').waitFor();
    await page.getByRole('link', { name: 'Show revision 2' }).click();
    await page.waitForURL(/revision=2&since=1/);
    const changes = page.getByLabel('Changes in nodes.yaml');
    await changes.getByText('-rack: one').waitFor();
    await changes.getByText('+rack: two').waitFor();
    // Each line stands alone.
    expect(await changes.innerText()).toMatch(/^-rack: one$/m);
    const boxes = await Promise.all(
      ['-rack: one', '+rack: two', '# machines'].map((text) => changes.getByText(text).boundingBox()),
    );
    expect(new Set(boxes.map((box) => box!.width)).size).toBe(1);
    expect(new Set(boxes.map((box) => box!.y)).size).toBe(3);
    await page.getByRole('link', { name: /^Plan/ }).click();
    await page.waitForURL(/plan=1/);
    await page.getByRole('heading', { name: 'Deployment plan' }).waitFor();
  });

  /** Every page and every view of it. */
  function allPages(): readonly string[] {
    const cluster = `/clusters/${env.cluster}`;
    const lists = ['sites', 'runs', 'schedules', 'notices', 'nodes', 'clusters', 'graphs', 'packages', 'tags', 'audit'];
    const log = `?log=database&log_node=${env.nodes[0]}`;
    return [
      '/',
      ...lists.map((one) => `/${one}`),
      ...['', '?view=graph', '?view=timeline&critical=1', '?view=log', log].map((view) => `/runs/second${view}`),
      ...['', '?view=graphs&plan=1', '?view=runs', '?view=versions', '?view=settings'].map(
        (view) => `${cluster}${view}`,
      ),
      ...['/sites/dc1?revision=2&since=1', '/sites/dc1?plan=1', `/nodes/${env.nodes[0]}`, '/compare?a=first&b=second'],
      ...[`/tags?owner=cluster/${env.cluster}`, '/packages/1', '/graphs/1', '/runs/nothing', '/no/such/page'],
    ];
  }

  async function opens(page: Page, path: string): Promise<void> {
    await page.goto(`${origin}${path}`);
    await page.locator('main h1').waitFor();
    await page.locator('main').filter({ hasNotText: 'Loading …' }).waitFor();
  }

  it('no page or view has a serious problem for a keyboard or a screen reader, in light and dark colours, or overflows a screen of 400 pixels', async () => {
    const page = await at('/sites');
    for (const path of allPages()) {
      // Narrow first: some views count what fits as they are drawn.
      await page.setViewportSize({ width: 400, height: 800 });
      await page.emulateMedia({ colorScheme: 'light' });
      await opens(page, path);
      expect.soft(await page.evaluate<number>('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(400);
      await page.setViewportSize({ width: 1280, height: 800 });
      expect.soft(await seriousFindings(page), path).toEqual([]);
      // Nothing else differs in dark colours.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect.soft(await seriousFindings(page, 'color-contrast'), `${path}, dark`).toEqual([]);
    }
  }, 240_000);

  it('no dialog has a serious problem for a keyboard or a screen reader', async () => {
    const cluster = `/clusters/${env.cluster}`;
    const page = await at('/sites');
    for (const [path, button] of [
      ['/clusters', 'Create a cluster'],
      [cluster, 'Run a graph'],
      [cluster, 'Deploy changes'],
      ['/runs/second', 'Run again'],
      ['/runs?by=nina', 'Save these filters'],
      [`/tags?owner=cluster/${env.cluster}`, 'Create a tag'],
      ['/packages', 'Install a package'],
    ] as const) {
      await opens(page, path);
      await page.getByRole('button', { name: button, exact: true }).first().click();
      await page.getByRole('dialog').waitFor();
      expect.soft(await seriousFindings(page), `${path}: ${button}`).toEqual([]);
    }
  });

  it('neither the palette nor the menu of a phone has a serious problem for a keyboard or a screen reader', async () => {
    for (const dark of [false, true]) {
      const page = await at('/runs', { dark, width: 400 });
      await opens(page, '/runs');
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('link', { name: 'Clusters' }).waitFor();
      expect.soft(await seriousFindings(page), `menu, dark: ${dark}`).toEqual([]);
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: 'page Home' }).waitFor();
      expect.soft(await seriousFindings(page), `palette, dark: ${dark}`).toEqual([]);
    }
  });
});
