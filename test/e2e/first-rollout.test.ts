import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lookUntil } from '../rig/look-again.ts';
import { newcomer } from '../rig/newcomer.ts';
import { NewcomersClone } from '../rig/newcomers-clone.ts';
import { launch, openPage, screenshot } from '../ui/browser.ts';

/*
 * docs/start/first-rollout.md, block after block. What machines went through is read where Sitewright does not write it: in the folders of the
 * agents, and in the list of changes of the simulated MAAS.
 */
const { upOptions, settings, blocks } = newcomer.rollout;
const BROKEN = ['n037', 'n077', 'n117'];
/** For both runs: of 20 machines that may be out of service, these are. */
const PLACES = 20 - BROKEN.length;

let clone: NewcomersClone;
let up: string;
beforeAll(async () => {
  clone = await NewcomersClone.make();
  up = await clone.up(upOptions, settings);
});
afterAll(() => clone?.close());

/** The command of a block, repeated as a reader does who waits for something. */
const repeat = (block: string, wanted: RegExp): Promise<string> =>
  lookUntil(
    () => clone.shell(block),
    (said) => wanted.test(said),
  );

/** Of the cluster. */
const newestRun = async (): Promise<{ readonly id: string; readonly number: number }> =>
  JSON.parse(await clone.shell('bin/sitewright run list --cluster exporters --limit 1 -f json'))[0];

/** The newest run of the cluster, as the page shows it. Only to renew the pictures. */
async function picture(name: string, once: RegExp): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  await repeat(status!, once);
  const [, origin, token] = /Web page +(http:\/\/[^/]+)\/#(\S+)/.exec(up)!;
  const browser = await launch();
  const { page, close } = await openPage(browser, `${origin}/#${token}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.goto(`${origin}/runs/${(await newestRun()).id}`);
  await page.getByRole('status').filter({ hasText: 'Rollout of exporter' }).waitFor();
  await screenshot(page, name);
  await close();
  await browser.close();
}

interface Span {
  readonly who: 'ann' | 'ben';
  readonly from: number;
  readonly to: number;
}

/** Of each node in the newest run of the cluster, from its first task to its last. */
async function spansOfTasks(): Promise<readonly Span[]> {
  const tasks = JSON.parse(await clone.shell(`bin/sitewright history show ${(await newestRun()).number} -f json`)) as {
    readonly node_id: string;
    readonly status: string;
    readonly time_start: string | null;
    readonly time_end: string | null;
  }[];
  const spans = new Map<string, { from: number; to: number }>();
  for (const { node_id, status, time_start, time_end } of tasks) {
    if (time_start === null || status === 'failed') continue;
    const { from, to } = spans.get(node_id) ?? { from: Number.POSITIVE_INFINITY, to: 0 };
    const [start, done] = [Date.parse(time_start), time_end === null ? 0 : Date.parse(time_end)];
    spans.set(node_id, { from: Math.min(from, start), to: Math.max(to, done) });
  }
  return [...spans.values()].map((span) => ({ who: 'ann', ...span }));
}

/** From the moment at which a deployed machine is released until it is deployed again. */
async function spansOfMachines(since: number): Promise<readonly Span[]> {
  const [, controls] = /controls +(http\S+)/.exec(up)!;
  const effects = (await (await fetch(`${controls}/effects`)).json()) as {
    readonly at: string;
    readonly hostname: string;
    readonly from: number | null;
    readonly to: number | null;
  }[];
  const DEPLOYED = 6;
  const open = new Map<string, number>();
  const spans: Span[] = [];
  for (const { at, hostname, from, to } of effects.filter((one) => Date.parse(one.at) > since)) {
    if (from === DEPLOYED) open.set(hostname, Date.parse(at));
    if (to !== DEPLOYED || !open.has(hostname)) continue;
    spans.push({ who: 'ben', from: open.get(hostname)!, to: Date.parse(at) });
    open.delete(hostname);
  }
  expect([...open.keys()]).toEqual([]);
  return spans;
}

/** The most at a time, and the most of both people at a time when both had some. */
function mostAtATime(spans: readonly Span[]): { readonly all: number; readonly shared: number } {
  const moments = spans.map(({ from }) => spans.filter((one) => one.from <= from && from < one.to));
  const sizes = (of: readonly (readonly Span[])[]): number => Math.max(0, ...of.map(({ length }) => length));
  return { all: sizes(moments), shared: sizes(moments.filter((at) => new Set(at.map(({ who }) => who)).size === 2)) };
}

const [machines, faulty, status, abort, fixed, freeze, held, override, both, waits, end, ...more] =
  blocks as readonly string[];

it('a version with a fault stops at the first machine', async () => {
  expect(await clone.shell(machines!)).toMatch(/deploy_site of fleet: success$/m);
  await clone.shell(faulty!);
  const stopped = await repeat(status!, /held: no node is well yet/);
  expect(stopped).toMatch(/failed serve@n001: ended with exit code 127: .*ehco: command not found/);
  const agents = join(clone.folder, 'master', 'fleet', 'nodes');
  expect(readdirSync(agents).filter((node) => readdirSync(join(agents, node)).includes('runs'))).toEqual(['n001']);
  await picture('first-rollout-held', /held/);
  await clone.shell(abort!);
});

it('a freeze holds the next version, and an override is recorded', async () => {
  expect(await clone.shell(fixed!)).toMatch(/cluster exporters moved[\s\S]*n117 is in maintenance[\s\S]*started run/);
  await clone.shell(freeze!);
  await repeat(held!, /wait.* freeze from 2026-01-01 to 2099-12-31 \(stocktaking\)/);
  const before = await spansOfTasks();
  expect(await clone.shell(override!)).toMatch(
    /limits overridden: its disk is dying[\s\S]*override_limits: its disk is dying/,
  );
  expect(await spansOfTasks()).toEqual(before);
});

it('it goes through in waves, and two people share the limit, while three machines are broken and one dies', async () => {
  expect(more).toEqual([]);
  const thawedAt = Date.now();
  await clone.shell(both!);
  expect(await clone.shell(waits!)).toMatch(/^fleet: [\s\S]*^cluster 1: /m);
  await repeat(status!, /at most 10% of the machines of the site out of service \(n001.*run \d+\)/);
  await picture('first-rollout-waves', /machines wait[\s\S]*wave 7 of/);
  const ended = await clone.shell(end!);
  expect(ended).toMatch(/redeploy_nodes of fleet: success$/m);
  expect(ended).toMatch(/312 success, 1 failed, 1 blocked[\s\S]*failed install@n150: n150 did not start it/);
  for (const node of BROKEN) expect(ended).toContain(`node ${node} is left out: it has been in maintenance`);

  const tasks = await spansOfTasks();
  expect(tasks).toHaveLength(156);
  const most = mostAtATime([...tasks, ...(await spansOfMachines(thawedAt))]);
  expect(most.all).toBeLessThanOrEqual(PLACES);
  expect(most.all).toBeGreaterThan(PLACES / 2);
  expect(most.shared).toBeGreaterThan(1);
});
