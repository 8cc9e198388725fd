import type { AddressInfo } from 'node:net';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiRig, apiAlone } from '../api/api-rig.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { lookAgain } from '../rig/look-again.ts';
import { describePage, hold, launch, pages, screenshot, seriousFindings } from './browser.ts';
import { storeGraphRun } from './stored-runs.ts';

const shell = (id: string, ...requires: string[]) => ({ id, type: 'shell', role: ['compute'], requires });

/** What the page shows of runs is what was, also when much happens, or requests fail. */
describePage('pictures of runs', () => {
  let browser: Browser;
  let rig: ApiRig;
  let env: Environment;
  let origin: string;
  let nodes: string[];
  const at = pages(() => ({ browser, origin }));

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), apiAlone()]);
    await rig.api.listen({ port: 0, host: '127.0.0.1' });
    origin = `http://127.0.0.1:${(rig.api.server.address() as AddressInfo).port}`;
    env = await environment(rig.store, 'prod');
    const names = Array.from({ length: 198 }, (_, at) => `rack1-compute-${String(at).padStart(3, '0')}.example.org`);
    const made = await Promise.all(names.map((name) => rig.store.nodes.create({ name, status: 'ready' })));
    await rig.store.nodes.assign(
      env.cluster,
      made.map(({ id }) => ({ id, roles: ['compute'] })),
    );
    nodes = [...env.nodes, ...made.map(({ id }) => id)].map(String);
  });
  afterAll(async () => {
    await rig?.close();
    await browser?.close();
  });

  const small = (id: string, more: object = {}) =>
    storeGraphRun(rig.store, env, {
      ...{ id, tasks: [shell('packages'), shell('database', 'packages')], nodes: env.nodes.map(String) },
      ...{ startedAt: '2026-05-01T10:00:00.000Z', ...more },
    });

  /** Answers as the API does, but for what `change` makes of a run; a stream without an end is read again and again. */
  async function tell(page: Page, run: string, change: (frame: any, turn: number) => void): Promise<() => number> {
    const { body } = await rig.ask('GET', `/api/v1/runs/${run}/events`);
    const frame = JSON.parse(/^event: all\ndata: (.*)$/m.exec(String(body))![1]!);
    let turn = 0;
    // Requests of a shared worker cannot be answered here; without one the page asks itself.
    await page.addInitScript('delete globalThis.SharedWorker');
    await page.route('**/api/v1/events*', (route: Route) => {
      const told = structuredClone(frame);
      change(told, ++turn);
      const data = { run, of: { event: 'all', data: told } };
      return route.fulfill({
        contentType: 'text/event-stream',
        body: `event: run\ndata: ${JSON.stringify(data)}\n\n`,
      });
    });
    return () => turn;
  }

  it('the bar counts the same tasks as the rows, also while the run is ahead of them', async () => {
    await small('ahead');
    const page = await at('/sites');
    await tell(page, 'ahead', ({ run, status, graphs, node_tasks }) => {
      run.outcome = null;
      Object.assign(status, { done: 3, total: 4, counts: { ...status.counts, success: 3, waiting: 1 } });
      for (const one of Object.values<any>(graphs))
        Object.assign(one, { done: 0, counts: { ...one.counts, success: 0, waiting: 4 } });
      for (const one of Object.values<any>(node_tasks)) one.counts = { waiting: 2 };
    });
    await page.goto(`${origin}/runs/ahead`);
    await page.getByRole('button', { name: '4 waiting' }).waitFor();
    await page.getByText('0 / 4 tasks').waitFor();
  });

  it('before its first table a run asks for its tasks and its report alone, and for what a dialog needs when it opens', async () => {
    await small('asked');
    const page = await at('/no/such/page');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.replace('/api/v1', '')));
    await page.goto(`${origin}/runs/asked`);
    // Names of nodes come with their counts.
    await page.getByRole('row', { name: /^database prod-1/ }).waitFor();
    const known = /^\/(assets|runs\/asked$|me$|clusters$|events$)/;
    expect(asked.filter((path) => !known.test(path)).sort()).toEqual(['/runs/asked/report', '/runs/asked/tasks']);
    await page.getByRole('button', { name: 'Run again' }).click();
    await page.getByRole('dialog').getByLabel('prod-1').waitFor();
    expect(asked).toContain('/nodes');
  });

  it('what failed for one reason is one line, whoever failed', async () => {
    await storeGraphRun(rig.store, env, {
      ...{ id: 'full', tasks: [shell('packages'), shell('database', 'packages')], nodes },
      ...{ startedAt: '2026-05-01T10:00:00.000Z', endings: { database: 'failed' }, outcome: 'failed' },
    });
    const page = await at('/runs/full');
    const causes = page.getByRole('region', { name: 'Causes' }).locator('p');
    await causes.getByText('200 tasks: exit code 3: no space left on device').waitFor();
    expect(await causes.count()).toBe(1);
    await screenshot(page, 'page-causes');
  });

  it('a table whose request failed is read again, although nothing else happens', async () => {
    await small('silent');
    const page = await at('/sites');
    let failures = 0;
    await page.route('**/runs/silent/tasks*', (route) => {
      failures += 1;
      return failures > 3 ? route.fallback() : failures === 1 ? route.abort() : route.fulfill({ status: 503 });
    });
    await page.goto(`${origin}/runs/silent`);
    await page
      .getByRole('row', { name: /database/ })
      .first()
      .waitFor();
    expect(failures).toBe(4);
    // A refusal is not repeated.
    let refusals = 0;
    await page.route('**/runs/silent/tasks*', (route) => {
      refusals += 1;
      return route.fulfill({ status: 400, json: { detail: 'no such status' } });
    });
    await page.goto(`${origin}/runs/silent?status=failed`);
    await page.getByRole('alert').getByText('no such status').waitFor();
    await page.clock.install();
    await page.clock.runFor(60_000);
    expect(refusals).toBe(1);
  });

  it('the table of a run that changes all the time is shown, however slowly the API answers', async () => {
    await small('busy');
    const page = await at('/sites');
    const turns = await tell(page, 'busy', ({ run, node_tasks }, turn) => {
      run.outcome = null;
      for (const one of Object.values<any>(node_tasks)) one.counts = { success: turn };
    });
    await page.route('**/runs/busy/tasks*', async (route) => {
      const asked = turns();
      // Two changes later.
      while (turns() <= asked + 1 && !page.isClosed()) await lookAgain();
      await route.fallback().catch(() => undefined);
    });
    await page.goto(`${origin}/runs/busy`);
    await page
      .getByRole('row', { name: /database/ })
      .first()
      .waitFor();
  });

  it('a failed box has the colours of its shares', async () => {
    const tasks = [shell('packages'), shell('database', 'packages'), shell('monitor', 'database')];
    await small('shares', { tasks, endings: { database: 'failed', monitor: 'skipped' } });
    for (const dark of [false, true]) {
      const page = await at('/runs/shares?view=graph&by=tag', { dark });
      await page.locator('g.node.is-failed[data-group="compute"]').waitFor();
      const fillOf = (status: string) =>
        page.evaluate<string>(`getComputedStyle(document.querySelector('.share.is-${status}')).fill`);
      const fills = await Promise.all(['failed', 'skipped', 'success'].map(fillOf));
      expect(new Set(fills).size).toBe(3);
    }
  });

  it('the timeline of 200 nodes has all bars of each node, page by page', async () => {
    const tasks = Array.from({ length: 10 }, (_, n) => shell(`task-${n}`, ...(n === 0 ? [] : [`task-${n - 1}`])));
    await storeGraphRun(rig.store, env, { id: 'wide', tasks, nodes, startedAt: '2026-05-01T10:00:00.000Z' });
    const page = await at('/runs/wide?view=timeline');
    const lines = page.locator('.timeline .track[role=list]');
    const bars = () => lines.evaluateAll((all) => all.map((one) => one.querySelectorAll('.span').length));
    for (const [shown, on] of [
      ['1–60 of 200', 60],
      ['61–120 of 200', 60],
      ['121–180 of 200', 60],
      ['181–200 of 200', 20],
    ] as const) {
      await page.getByText(shown).waitFor();
      await expect.poll(bars).toEqual(Array(on).fill(10));
      if (on === 60) await page.getByRole('button', { name: 'Next' }).click();
    }
    // The critical path leads over all nodes, not over those that are shown.
    await page.getByRole('checkbox', { name: 'Critical path' }).check();
    await expect.poll(() => page.getByRole('list', { name: 'Critical path' }).getByRole('listitem').count()).toBe(10);
  });

  it('bars of the same time on one line do not hide each other', async () => {
    await small('same', { nodes: ['master'], seconds: 0, tasks: [shell('one'), shell('two')] });
    const page = await at('/runs/same?view=timeline');
    await page.locator('.timeline .span').nth(1).waitFor();
    const [one, two] = await page.locator('.timeline .span').evaluateAll((all) =>
      all.map((bar) => {
        const { top, bottom } = bar.getBoundingClientRect();
        return { top, bottom };
      }),
    );
    expect(one!.bottom).toBeLessThanOrEqual(two!.top + 0.5);
  });

  it('the graph opens at its failure, and long names stay apart', async () => {
    const long = 'openstack-network-common-configuration-of-agents';
    const names = Array.from({ length: 40 }, (_, n) => `${long}-${String(n).padStart(2, '0')}-on-all-nodes`);
    const tasks = names.map((name, n) => shell(name, ...(n === 0 ? [] : [names[n - 1]!])));
    const endings = { [names[33]!]: 'failed' } as const;
    await small('deep', { tasks, endings });
    for (const size of [{}, { width: 400 }]) {
      const page = await at('/runs/deep?view=graph&by=none', size);
      const failed = page.locator('g.node.is-failed');
      await failed.waitFor();
      await expect.poll(() => page.locator('g.node').count()).toBe(40);
      const isShown = async () => {
        const [box, picture] = await Promise.all([failed.boundingBox(), page.locator('.map').boundingBox()]);
        const middle = [box!.x + box!.width / 2 - picture!.x, box!.y + box!.height / 2 - picture!.y] as const;
        return middle[0] > 0 && middle[0] < picture!.width && middle[1] > 0 && middle[1] < picture!.height;
      };
      await expect.poll(isShown).toBe(true);
      const texts = await page.locator('g.node text').allTextContents();
      expect(new Set(texts).size).toBe(40);
    }
  });

  it('a picture that does not come says what is missing, and then what to do', async () => {
    await small('slow');
    const page = await at('/sites');
    await page.clock.install();
    const come = await hold(page, /runs\/slow\/graph\/map/);
    await page.goto(`${origin}/runs/slow?view=graph`);
    await page.getByRole('status').filter({ hasText: 'Drawing the graph …' }).waitFor();
    await page.clock.runFor(11_000);
    const late = page.getByRole('alert').filter({ hasText: 'Drawing the graph: no answer for 10 s.' });
    await late.getByText('sitewright doctor').waitFor();
    await late.getByText('Tasks and Timeline show the run without it.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    come();
    await page.locator('g.node').nth(1).waitFor();
    await late.waitFor({ state: 'detached' });
  });

  it('cells and lines of nodes with long names stay apart', async () => {
    await small('long', { nodes: nodes.slice(2, 42) });
    const page = await at('/runs/long?view=timeline');
    await page.locator('.timeline .span').nth(79).waitFor();
    await page.locator('.timeline .name[title^=rack1]').nth(39).waitFor();
    for (const names of ['.grid.named .name', '.timeline .rows .line:not(.axis) .name']) {
      const texts = await page.locator(names).allInnerTexts();
      expect(new Set(texts).size).toBe(40);
      const isCut = (all: { scrollWidth: number; clientWidth: number }[]) =>
        all.some((one) => one.scrollWidth > one.clientWidth + 1);
      expect(await page.locator(names).evaluateAll(isCut)).toBe(false);
    }
  });

  it('a node that an update left as it was is shown as not touched', async () => {
    await rig.ask('POST', '/api/v1/sites', { name: 'dc1' });
    const times = { startedAt: '2026-05-01T10:00:00.000Z', endedAt: '2026-05-01T10:20:00.000Z' };
    await rig.store.runs.put({
      ...{ id: 'update1', workflowId: 'update_site:dc1', kind: 'update_site', site: 'dc1', ...times },
      ...{ sequence: 1, phase: 'finished', outcome: 'success', done: 2, total: 2 },
    });
    const report = { state: 'success' as const, group: 'all' };
    const of = { sequence: 1 };
    await rig.store.runs.putNodes('update1', [
      { ...of, node: 'r1', position: 0, report: { ...report, name: 'r1', attempts: 0 } },
      {
        ...{ ...of, node: 'r2', position: 1 },
        report: { ...report, name: 'r2', attempts: 2, started_at: times.startedAt, ended_at: times.endedAt },
      },
    ]);
    const page = await at('/runs/update1');
    const row = (name: string) => page.getByRole('region', { name: 'Nodes', exact: true }).getByRole('row', { name });
    await expect
      .poll(() => row('r1').getByRole('cell').allInnerTexts())
      .toEqual(expect.arrayContaining(['r1', 'not touched', 'all']));
    expect((await row('r1').innerText()).split(/\s+/)).not.toContain('0');
    await row('r2').getByText('success').waitFor();
    await page.getByLabel('State').selectOption('not touched');
    await row('r2').waitFor({ state: 'detached' });
    await row('r1').waitFor();
    // Nor is it one of the deployments of which the site tells how they went.
    await page.goto(`${origin}/sites/dc1`);
    await page.getByText('In 1 run, 0 % of deployments of nodes succeeded with the first attempt.').waitFor();
    const trends = page.getByRole('region', { name: 'Nodes in the last runs' }).getByRole('row');
    expect((await trends.allInnerTexts()).map((row) => row.split(/\s/)[0])).toEqual(['Name', 'r2']);
  });
});
