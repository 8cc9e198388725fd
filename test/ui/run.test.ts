import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heartbeat } from '@temporalio/activity';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RunTask, TaskEnd } from '../../activities/graph-contract.ts';
import { TaskLogs } from '../../src/agent/output/task-logs.ts';
import { runCli } from '../../src/cli/shell/run-cli.ts';
import { environmentSecrets } from '../../src/platform/secrets/secret-provider.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { runLookups } from '../../src/runs/run-lookups.ts';
import { describeBy, startedLookup } from '../../src/runs/started-lookup.ts';
import { type RunningAgents, startAgents } from '../../worker/parts/agent.ts';
import { storeOrderBook } from '../../worker/parts/gateway-orders.ts';
import { signingGate } from '../../worker/parts/start-gate.ts';
import { storeOrders } from '../../worker/parts/store-orders.ts';
import { type Environment, environment } from '../api/fuel-graphs-rig.ts';
import { obeysTemporal } from '../rig/agent-orders.ts';
import { type LivingCluster, livingCluster } from '../rig/living-cluster.ts';
import { supervisorProgram } from '../rig/program.ts';
import { onServer, type TemporalRig, temporalRig } from '../rig/temporal.ts';
import { recordingTerminal } from '../unit/cli/recording-terminal.ts';
import {
  closePages,
  describePage,
  focused,
  launch,
  type OpenPage,
  openPage,
  type PageOptions,
  screenshot,
} from './browser.ts';
import { storeGraphRun } from './stored-runs.ts';

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

/** The end of a task whose agent sends heartbeats throughout. */
async function heartbeating(end: Promise<TaskEnd>): Promise<TaskEnd> {
  const beat = setInterval(heartbeat, 1_000);
  return end.finally(() => clearInterval(beat));
}

describePage('the page of a run of graphs', () => {
  let browser: Browser;
  let rig: TemporalRig;
  let system: LivingCluster;
  let env: Environment;
  let folder: string;
  let logs: TaskLogs;
  let agents: RunningAgents | undefined;
  const opened: OpenPage[] = [];
  let endAll = (): void => undefined;

  beforeAll(async () => {
    [browser, rig] = await Promise.all([launch(), temporalRig({ namespace: 'own' })]);
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sitewright-page-run-'));
    logs = new TaskLogs({ folder: join(folder, 'logs') });
    system = await livingCluster(rig, { offlineWaitSeconds: 60, taskLogs: logs });
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
    await agents?.stop();
    agents = undefined;
    await system.close();
    rmSync(folder, { recursive: true, force: true });
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

  /** A task that the test ends. */
  function gates() {
    const waiting = new Map<string, (end: TaskEnd) => void>();
    endAll = () => {
      for (const end of waiting.values()) end({ outcome: 'success' });
    };
    return {
      task: ({ task }: RunTask): Promise<TaskEnd> =>
        task === 'database'
          ? heartbeating(new Promise((resolve) => waiting.set(task, resolve)))
          : Promise.resolve({ outcome: 'success' }),
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
  /** One of the views of the run: tasks, graph, timeline. */
  const look = (page: Page, view: string) =>
    page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: view }).click();
  /** Page, lists and command line agree about a run that failures hold. */
  async function agreesOnHeldRun(page: Page, run: string) {
    const sitewright = async (...args: string[]) => {
      const terminal = recordingTerminal({ env: { SITEWRIGHT_API: `http://127.0.0.1:${system.port}` }, cwd: folder });
      await runCli(['run', ...args], terminal);
      return terminal.said.out;
    };
    await page.getByRole('heading', { level: 1 }).locator('.warn', { hasText: 'custom: held' }).waitFor();
    const buttons = page.getByRole('group', { name: 'Tasks by status' }).getByRole('button');
    const shown = ['1 failed', '3 blocked', '2 success'];
    await expect.poll(async () => (await buttons.allInnerTexts()).map((text) => text.trim())).toEqual(shown);
    await page.getByText('3 / 6 tasks, 1 failed, 3 blocked').waitFor();
    const status = await sitewright('status', run);
    expect(status).toContain('custom: held, 3 of 6 tasks');
    const stated = /^tasks: (.*)$/m.exec(status)?.[1]?.split(', ');
    expect(stated?.toSorted()).toEqual(shown.toSorted());
    expect(await sitewright('report', run)).toContain(`tasks: ${stated!.join(', ')}`);
    expect(JSON.parse(await sitewright('list', '-f', 'json'))[0]).toMatchObject({
      ...{
        title: 'custom on cluster prod',
        state: 'custom: held',
        done: 3,
        total: 6,
        failed_tasks: 1,
        failed_nodes: 1,
      },
    });
    const list = await at('/runs');
    await list.getByRole('row', { name: /custom on cluster prod custom: held 3 \/ 6 tasks, 1 failed/ }).waitFor();
    // The other node only lost tasks with it.
    await page.getByText(/^2 nodes, 1 failing$/).waitFor();
  }
  const drawn = (page: Page, task: string, look: string) =>
    page.locator(`g.node.is-${look}[data-task="${task}"]`).waitFor();

  it('a run of graphs is started from its cluster, watched live, paused with a reason, and repaired', async () => {
    const gate = gates();
    await serve(gate.task);
    const tasks = TASKS.map(({ id, type }) => ({ id, type }));
    const earlier = { id: 'earlier', tasks, nodes: env.nodes.map(String), startedAt: '2026-01-01T10:00:00.000Z' };
    await storeGraphRun(system.store, env, { ...earlier, type: 'custom', seconds: 900 });
    const page = await at('/clusters');
    const run = await start(page);
    // The earlier one took an hour.
    await page.getByText(/about 59 min \d+ s left \(from 1 earlier run\)/).waitFor();

    const task = page.getByRole('row', { name: /database/ });
    await task.getByText('running').waitFor();
    await look(page, 'Timeline');
    await page.locator('.timeline .span.busy').first().waitFor();
    await look(page, 'Graph');
    await drawn(page, 'packages', 'success');
    await drawn(page, 'database', 'running');
    await screenshot(page, 'page-run-live');

    await act(page, 'Pause', 'power work in row 3');
    await page.getByText(/Paused .* by nina: power work in row 3/).waitFor();
    const paused = (await system.ask('GET', `${api}/runs/${run}/status`)).body;
    expect(paused.paused).toMatchObject({ by: 'nina', reason: 'power work in row 3' });
    await act(page, 'Resume');
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();

    gate.end('database', { outcome: 'failed', message: 'exit code 2: <b>disk full</b>' });
    // The same picture, in other colours.
    await drawn(page, 'database', 'failed');
    await drawn(page, 'compute-agent', 'blocked');
    // A task that is selected in it is shown among the tasks.
    await page.locator('g.node[data-task="database"]').press('Enter');
    await page.waitForURL(/task=database/);
    await page.getByRole('row', { name: /compute-agent/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show all' }).click();
    await agreesOnHeldRun(page, run);
    // Text from a node is shown as text, whatever it looks like.
    await page.getByText('exit code 2: <b>disk full</b>').first().waitFor();
    await screenshot(page, 'page-run-failed');
    expect(await page.locator('td.wide b').count()).toBe(0);

    // Filters are in the address, so that a link carries them.
    await page.getByRole('group', { name: 'Tasks by status' }).getByRole('button', { name: '1 failed' }).click();
    await page.waitForURL(/status=failed/);
    await expect.poll(() => page.getByRole('combobox', { name: /^Status/ }).inputValue()).toBe('failed');
    await page.getByRole('row', { name: /compute-agent/ }).waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: 'Select database on prod-1' }).check();
    await act(page, 'Retry selected', 'disk was cleaned');
    await page.getByText('No tasks match.').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await task.getByText('running').waitFor();
    gate.end('database', { outcome: 'success' });
    await look(page, 'Graph');
    await drawn(page, 'compute-agent', 'success');
    await page.getByText('Operator actions').waitFor();
    await page.getByText('disk was cleaned').waitFor();
  });

  it('a task is skipped with a reason, its log page reports that there is none, and a stopped run continues from its failure', async () => {
    const gate = gates();
    await serve(gate.task);
    const page = await at('/clusters');
    const run = await start(page);
    await page
      .getByRole('row', { name: /database/ })
      .getByText('running')
      .waitFor();
    const filter = page.getByLabel('Task', { exact: true });
    await filter.pressSequentially('compute');
    await page.waitForURL(/task=compute/);
    // Typing continues where it was.
    expect(await page.evaluate('document.activeElement.type')).toBe('search');
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
      .getByText('Nothing printed yet.')
      .waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => focused(page)).toBe('compute-agent');

    await act(page, 'Stop', 'enough');
    await page.getByText('Stopping: running work finishes').waitFor();
    endAll();
    await page.getByRole('button', { name: 'Retry from failure' }).waitFor();
    await page.getByRole('heading', { level: 1 }).getByText('stopped').waitFor();

    await act(page, 'Retry from failure', 'now it may');
    await page.waitForURL((url) => url.pathname.startsWith('/runs/') && !url.pathname.includes(run));
    await page.getByText(/“now it may”/).waitFor();
    endAll();
    await page.getByRole('heading', { level: 1 }).getByText('success').waitFor();

    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Runs' }).click();
    await page.getByLabel('Outcome').selectOption('stopped');
    await page.waitForURL(/outcome=stopped/);
    await page.getByRole('cell', { name: 'success' }).waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'nina' }).waitFor();
    await page.getByLabel('Outcome').selectOption('failed');
    await page.getByText('No runs match.').waitFor();
  });

  onServer('the output of a real task is shown live, and each attempt has its own log', async () => {
    const [started, warn, go] = [join(folder, 'started'), join(folder, 'warn'), join(folder, 'go')];
    const cmd = `echo try; if [ -e ${started} ]; then echo better; exit 0; fi; touch ${started}; until [ -e ${warn} ]; do sleep 0.05; done; echo 'warned <i>' >&2; until [ -e ${go} ]; do sleep 0.05; done; echo 'gone <b>wrong</b>'; exit 3`;
    const tasks = [shell('migrate@v2', { role: ['controller'], parameters: { cmd, timeout: 600, retries: 0 } })];
    await system.ask('PUT', `${api}/clusters/${env.cluster}/deployment_graphs/custom`, { tasks });
    const secrets = environmentSecrets();
    const gate = signingGate(system.store, runLookups(rig.client), startedLookup(describeBy(rig.client)));
    const orders = storeOrders({
      store: system.store,
      orders: storeOrderBook(system.store, gate),
      logs,
      secrets,
      sources: { read: () => Promise.reject(new Error('none')) },
      alarms: () => Promise.reject(new Error('there was no reason for an alarm')),
    });
    const { address, namespace } = rig;
    agents = await startAgents(
      {
        temporal: { address, namespace, task_queue: 'unused' } as never,
        agent: { state_dir: join(folder, 'agents'), keep_days: 14 } as never,
      },
      env.nodes.map((node) => ({ site: `cluster-${env.cluster}`, node: String(node) })),
      createLogger({ level: 'silent', format: 'json' }, 'agent'),
      {
        ordersOf: (node) => ({ orders: orders(node), control: obeysTemporal }),
        version: '1',
        agent: { supervisorCommand: supervisorProgram() },
      },
    );
    const page = await at('/clusters');
    const id = await start(page);
    await page.getByRole('link', { name: 'migrate@v2' }).click();
    const log = page.getByRole('region', { name: 'Log of migrate@v2 on prod-1' });
    const attempt = log.getByRole('link', { name: 'Show in Temporal' });
    expect(await attempt.getAttribute('href')).toMatch(/\/runs\/.+\/nodes\/.+\/temporal\?task=migrate%40v2$/);
    const output = log.getByLabel('Output', { exact: true });
    await expect.poll(() => output.textContent()).toBe('try\n');
    expect(existsSync(started)).toBe(true);
    writeFileSync(warn, '');
    // Both streams, in order; lines of stderr are marked by text, not only by their colour.
    await expect.poll(() => output.textContent()).toBe('try\n[stderr] warned <i>\n');
    expect(await output.locator('.bad').textContent()).toBe('[stderr] warned <i>\n');
    const whole = await at(`/runs/${id}?view=log`);
    const line = (text: string | RegExp) =>
      whole.getByRole('list', { name: 'Log of the run' }).getByRole('listitem').filter({ hasText: text });
    await line(/^\s*\d\d:\d\d:\d\d\.\d{3}\s*migrate@v2 on prod-1\s*try$/).waitFor();
    await line('[stderr] warned').waitFor();
    await log.getByLabel('Stream').selectOption('stderr');
    await expect.poll(() => output.textContent()).toBe('warned <i>\n');
    await log.getByLabel('Stream').selectOption('stdout');
    await expect.poll(() => output.textContent()).toBe('try\n');
    await log.getByLabel('Stream').selectOption('all');
    writeFileSync(go, '');
    await expect.poll(() => output.textContent()).toBe('try\n[stderr] warned <i>\ngone <b>wrong</b>\n');
    await log.getByText('Ended: failed').waitFor();
    // The log of the run follows by itself, and its address contains the search.
    await line('gone <b>wrong</b>').waitFor();
    await line('ended: failed').waitFor();
    expect(await line('ended: ok').count()).toBe(0);
    await whole.getByLabel('Search the log').fill('WRONG');
    await whole.waitForURL(/find=WRONG/);
    await line('try').waitFor({ state: 'detached' });
    await expect.poll(() => line('').count()).toBe(1);
    await line('wrong').getByRole('link', { name: 'migrate@v2 on prod-1' }).click();
    await whole.getByRole('region', { name: 'Log of migrate@v2 on prod-1' }).waitFor();

    await act(page, 'Retry', 'once more');
    // The log continues with the new try by itself; the failed one is still there.
    await expect.poll(() => output.textContent()).toBe('try\nbetter\n');
    await log.getByText('Ended: success').waitFor();
    await whole.getByLabel('Search the log').fill('');
    await line('ended: success').waitFor();
    await log.getByLabel('Try').selectOption('1');
    await expect.poll(() => output.textContent()).toBe('try\n[stderr] warned <i>\ngone <b>wrong</b>\n');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      log.getByRole('link', { name: 'Download' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^migrate@v2@\d+\.log$/);
    await log.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('heading', { level: 1 }).getByText('success').waitFor();
  });
});
