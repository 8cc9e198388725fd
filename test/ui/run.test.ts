import { heartbeat } from '@temporalio/activity';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunTask, TaskEnd } from '../../activities/graph-contract.js';
import { type Environment, environment } from '../api/fuel-graphs-rig.js';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.js';
import { type TemporalRig, temporalRig } from '../rig/temporal.js';
import { closePages, describePage, launch, type OpenPage, openPage, type PageOptions, screenshot } from './browser.js';

const api = '/api/v1';

const shell = (id: string, more: object) => ({
  id,
  type: 'shell',
  version: '2.1.0',
  parameters: { cmd: 'true' },
  ...more,
});

const TASKS = [
  shell('packages', { role: ['/.*/'] }),
  shell('database', { role: ['controller'], requires: ['packages'] }),
  shell('compute-agent', {
    role: ['compute'],
    requires: ['packages'],
    'cross-depends': [{ name: 'database', role: 'controller' }],
  }),
  shell('verify', { role: ['/.*/'], requires: ['packages'], 'cross-depends': [{ name: 'compute-agent' }] }),
];

/** The end of a task whose agent says all the while that it is there. */
async function alive(end: Promise<TaskEnd>): Promise<TaskEnd> {
  const beat = setInterval(heartbeat, 1_000);
  return end.finally(() => clearInterval(beat));
}

describePage('the page of a run of graphs', () => {
  let browser: Browser;
  let rig: TemporalRig;
  let system: LivingCluster;
  let env: Environment;
  const opened: OpenPage[] = [];
  let endAll = (): void => undefined;

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), temporalRig({ namespace: 'own' })]);
  });
  beforeEach(async () => {
    system = await livingCluster(rig, { offlineWaitSeconds: 60 });
    await system.store.migrate();
    env = await environment(system.store, 'prod');
    await system.ask('POST', `${api}/clusters/${env.cluster}/deployment_graphs/custom`, { tasks: TASKS });
  });
  afterEach(async () => {
    const checked = closePages(opened);
    await checked.catch(() => undefined);
    for (const { workflow_id, id } of (await system.ask('GET', `${api}/runs`)).body.items) {
      const handle = rig.client.workflow.getHandle(workflow_id, id);
      await handle.terminate('the test is over').catch(() => undefined);
    }
    // A worker ends once its tasks do.
    endAll();
    await system.close();
    await checked;
  });
  afterAll(async () => {
    await browser.close();
    await rig.close();
  });

  const at = async (path: string, options?: PageOptions): Promise<Page> => {
    const one = await openPage(browser, `http://127.0.0.1:${system.port}${path}`, options);
    opened.push(one);
    return one.page;
  };
  const serve = (task: (request: RunTask) => Promise<TaskEnd>) =>
    system.serveNodes(`cluster-${env.cluster}`, env.nodes.map(String), task);

  /** A task that ends when the test says how. */
  function gates() {
    const waiting = new Map<string, (end: TaskEnd) => void>();
    endAll = () => {
      for (const end of waiting.values()) end({ outcome: 'ok' });
    };
    return {
      task: ({ task }: RunTask): Promise<TaskEnd> =>
        task === 'database'
          ? alive(new Promise((resolve) => waiting.set(task, resolve)))
          : Promise.resolve({ outcome: 'ok' }),
      end: (task: string, end: TaskEnd) => waiting.get(task)!(end),
      has: (task: string) => waiting.has(task),
    };
  }

  const start = async (page: Page) => {
    await page.goto(`http://127.0.0.1:${system.port}/clusters/${env.cluster}?type=custom`);
    await page.getByRole('button', { name: 'Run a graph' }).click();
    await page.getByLabel('Your name').fill('nina');
    await page.getByLabel('Reason').fill('new release');
    await page.getByRole('dialog').getByRole('button', { name: 'Run a graph' }).click();
    await page.waitForURL(/\/runs\//);
    return page.url().split('/runs/')[1]!.split('?')[0]!;
  };
  const act = async (page: Page, button: string, reason?: string) => {
    await page.getByRole('button', { name: button, exact: true }).first().click();
    const dialog = page.getByRole('dialog');
    if (reason !== undefined) await dialog.getByLabel('Reason').fill(reason);
    await dialog.getByRole('button', { name: button, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const drawn = (page: Page, task: string, look: string) =>
    page.locator(`g.node.is-${look}[data-task="${task}"]`).waitFor();

  test('is started from its cluster, watched live, paused with a reason, and repaired', async () => {
    const gate = gates();
    await serve(gate.task);
    const page = await at('/clusters');
    const run = await start(page);

    await drawn(page, 'packages', 'successful');
    await drawn(page, 'database', 'running');
    await page
      .getByRole('row', { name: /database/ })
      .getByText('running')
      .waitFor();
    await page.locator('.timeline .span.busy').first().waitFor();
    await screenshot(page, 'page-run-live');

    await act(page, 'Pause', 'power work in row 3');
    await page.getByText(/Paused since .* by nina: power work in row 3/).waitFor();
    const paused = (await system.ask('GET', `${api}/runs/${run}/status`)).body;
    expect(paused.paused).toMatchObject({ by: 'nina', reason: 'power work in row 3' });
    await act(page, 'Resume');
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();

    gate.end('database', { outcome: 'failed', message: 'exit code 2: <b>disk full</b>' });
    await drawn(page, 'database', 'failed');
    // What a node says is text, whatever it looks like.
    await page.getByText('exit code 2: <b>disk full</b>').first().waitFor();
    await screenshot(page, 'page-run-failed');
    expect(await page.locator('td.wide b').count()).toBe(0);

    // Filters are in the address, so that a link carries them.
    await page.getByLabel('Status').selectOption('failed');
    await page.waitForURL(/status=failed/);
    await page.getByRole('row', { name: /compute-agent/ }).waitFor({ state: 'detached' });
    await act(page, 'Retry', 'disk was cleaned');
    await page.getByText('No such task.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await drawn(page, 'database', 'running');
    gate.end('database', { outcome: 'ok' });
    await drawn(page, 'compute-agent', 'successful');
    await page.getByText('What people did').waitFor();
    await page.getByText('disk was cleaned').waitFor();
  });

  test('a task is skipped, its log says that there is none, and a stopped run offers to go on', async () => {
    const gate = gates();
    await serve(gate.task);
    const page = await at('/clusters');
    await start(page);
    await drawn(page, 'database', 'running');
    await page.getByLabel('Task', { exact: true }).fill('compute');
    await page.waitForURL(/task=compute/);
    await page
      .getByRole('row', { name: /compute-agent/ })
      .getByRole('button', { name: 'Skip' })
      .click();
    await page.getByRole('dialog').getByLabel('Reason').fill('not needed here');
    await page.getByRole('dialog').getByRole('button', { name: 'Skip' }).click();
    await page.getByText('not needed here').waitFor();
    await page.getByRole('link', { name: 'compute-agent' }).click();
    await page
      .getByRole('region', { name: /Log of compute-agent/ })
      .getByRole('alert')
      .waitFor();
    await page.getByRole('button', { name: 'Close' }).click();

    await act(page, 'Stop', 'enough');
    await page.getByText('Stopping: what runs ends').waitFor();
    endAll();
    await page.getByRole('button', { name: 'Retry from failure' }).waitFor();
    await page.getByRole('heading', { level: 1 }).getByText('stopped').waitFor();

    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByLabel('Outcome').selectOption('stopped');
    await page.waitForURL(/outcome=stopped/);
    await page.getByRole('cell', { name: 'nina' }).waitFor();
    await page.getByLabel('Outcome').selectOption('success');
    await page.getByText('No such run.').waitFor();
  });
});
