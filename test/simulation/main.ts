/**
 * Lives through seeds: `npm run simulate -- --seed 7` tells the story of one and stops where something happens that must not;
 * `--seeds 1000` counts the violations of many, on all cores. `--seed 7 --shrink` leaves out what the violation does not need.
 * `--known` lives through the seeds that have failed before.
 */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { withoutThreads } from '../../worker/parts/rehearsals/seams.ts';
import { coverageSvg, coverageText, unreachedText, type World } from './coverage.ts';
import { KNOWN_SEEDS } from './known-seeds.ts';
import { shrunk } from './shrink.ts';
import { loadWithSmallLimits, withSmallLimits } from './world/small-limits.ts';
import type { Verdict } from './world/verdict.ts';

const { values } = parseArgs({
  options: {
    /** Tell the story of this one. */
    seed: { type: 'string' },
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    /** Live through those that have failed before. */
    known: { type: 'boolean', default: false },
    /** Only these seeds. */
    only: { type: 'string' },
    /** Only seeds that have much of these, such as `reset,maas lock`. */
    much: { type: 'string' },
    /** `site` or `cluster`; default: both in turn. */
    world: { type: 'string' },
    processes: { type: 'string', default: String(availableParallelism()) },
    /** Workflow code that takes the place of ours. */
    bundle: { type: 'string' },
    /** End with the first violation. */
    first: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    /** Parts of the script that are left out, such as `person 3,weather turnLost`. */
    without: { type: 'string' },
    /** Leave out of the story of `--seed` all that its violation does not need. */
    shrink: { type: 'boolean', default: false },
    /** Show which event was reached in which state, and which never was. */
    coverage: { type: 'boolean', default: false },
    /** Print the pairs of state and event that were not reached, and nothing else. */
    unreached: { type: 'boolean', default: false },
    /** The same as a picture, in this file. */
    svg: { type: 'string' },
  },
});

type Sum = { [Key in 'events' | 'turns' | 'replays' | 'changes' | 'simulatedMs']: number } & {
  failed: { seed: number; violation: string }[];
  digests: string[];
  outcomes: Record<string, number>;
  actions: Record<string, number>;
  reached: Record<World, Record<string, number>>;
};

const NUMBERS = ['events', 'turns', 'replays', 'changes', 'simulatedMs'] as const;

const nothing = (): Sum => ({
  ...{ events: 0, turns: 0, replays: 0, changes: 0, simulatedMs: 0 },
  ...{ failed: [], digests: [], outcomes: {}, actions: {}, reached: { site: {}, cluster: {} } },
});

function add(sum: Sum, more: Sum): Sum {
  for (const key of NUMBERS) sum[key] += more[key];
  sum.failed.push(...more.failed);
  sum.digests.push(...more.digests);
  addCounts(sum.outcomes, more.outcomes);
  addCounts(sum.actions, more.actions);
  for (const world of ['site', 'cluster'] as const) addCounts(sum.reached[world], more.reached[world]);
  return sum;
}

function addCounts(sum: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, times] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + times;
}

function sumOf(verdict: Verdict, world: World): Sum {
  const { seed, violation, digest, outcomes, actions, reached } = verdict;
  const counts = Object.fromEntries(NUMBERS.map((key) => [key, verdict[key]])) as Pick<Sum, (typeof NUMBERS)[number]>;
  const ends: Record<string, number> = {};
  for (const outcome of outcomes) ends[outcome] = (ends[outcome] ?? 0) + 1;
  const failed = violation === null ? [] : [{ seed, violation }];
  return {
    ...counts,
    failed,
    digests: [digest],
    outcomes: ends,
    actions: { ...actions },
    reached: { ...nothing().reached, [world]: { ...reached } },
  };
}

/** Lives through the seeds in this process. */
async function here(seeds: readonly number[], tell: (verdict: Verdict) => void = () => undefined): Promise<Sum> {
  withoutThreads();
  loadWithSmallLimits();
  const [
    { bundleOurWorkflows },
    { loadWorkflows },
    { ACTIVITY_NAMES },
    { simulateSite },
    { simulateCluster },
    { mixOf },
  ] = await Promise.all([
    import('../../worker/parts/workflow-bundle.ts'),
    import('@sitewright/temporal-simulator'),
    import('../../worker/parts/rehearsals/installation.ts'),
    import('./world/site-world.ts'),
    import('./world/cluster-world.ts'),
    import('./world/mix.ts'),
  ]);
  const path = values.bundle ?? (await bundleOurWorkflows({})).codePath;
  const code = await loadWorkflows(path, ACTIVITY_NAMES, withSmallLimits);
  const sum = nothing();
  const much = values.much?.split(',') ?? [];
  for (const seed of seeds) {
    const isSite = values.world === undefined ? seed % 2 === 1 : values.world === 'site';
    const world = isSite ? 'site' : 'cluster';
    const mix = mixOf(world, seed);
    if (!much.every((kind) => mix.factor(kind) > 1)) continue;
    const live = (without: readonly string[]) => (isSite ? simulateSite : simulateCluster)(seed, code, without);
    const without = values.without?.split(',') ?? [];
    const verdict = values.shrink ? await shrunk(live, without) : await live(without);
    tell(verdict);
    add(sum, sumOf(verdict, world));
    if (values.first && verdict.violation !== null) break;
  }
  return sum;
}

/** The same in processes of their own, a piece of the seeds each. */
async function spread(from: number, count: number, processes: number): Promise<Sum> {
  const piece = Math.ceil(count / processes);
  const sums = await Promise.all(
    Array.from({ length: processes }, async (_, at) => {
      const first = from + at * piece;
      const size = Math.min(piece, from + count - first);
      if (size <= 0) return nothing();
      const more = (['bundle', 'world', 'much'] as const).flatMap((name) =>
        values[name] === undefined ? [] : [`--${name}`, values[name]],
      );
      const child = spawn(
        process.execPath,
        [import.meta.filename, '--json', '--processes', '1', '--from', `${first}`, '--seeds', `${size}`, ...more],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const said = await text(child.stdout);
      if (said === '') throw new Error('a process of the simulation has ended without an answer');
      return JSON.parse(said) as Sum;
    }),
  );
  return sums.reduce(add, nothing());
}

const from = Number(values.seed ?? values.from);
const seeds = values.known
  ? KNOWN_SEEDS.map(({ seed }) => seed)
  : values.only !== undefined
    ? values.only.split(',').map(Number)
    : Array.from({ length: values.seed === undefined ? Number(values.seeds) : 1 }, (_, at) => from + at);
const count = seeds.length;
const processes =
  values.known || values.only !== undefined ? 1 : Math.min(Number(values.processes), Math.ceil(count / 10));
const started = performance.now();
const told = values.seed === undefined || values.json ? undefined : (one: Verdict) => console.log(one.story.join('\n'));
const sum = processes > 1 ? await spread(from, count, processes) : await here(seeds, told);
const seconds = (performance.now() - started) / 1000;

if (values.json) console.log(JSON.stringify(sum));
else if (values.unreached) console.log(unreachedText(sum.reached));
else {
  const inOrder = (of: Record<string, number>): string =>
    Object.entries(of)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, times]) => `${name} ${times}`)
      .join(', ');
  const hours = sum.simulatedMs / 3_600_000;
  for (const { seed, violation } of sum.failed) console.log(`seed ${seed}: ${violation}`);
  if (values.coverage) console.log(coverageText(sum.reached));
  if (values.svg !== undefined) await writeFile(values.svg, coverageSvg(sum.reached, count));
  console.log(
    [
      `${count} seeds${values.known ? ' that have failed before' : ` from ${from}`}: ${sum.failed.length} with a violation`,
      `runs: ${inOrder(sum.outcomes)}`,
      `people and faults: ${inOrder(sum.actions)}`,
      `${sum.turns} workflow tasks, ${sum.replays} replays, ${sum.changes} changes of machines, ${sum.events} events`,
      `${Math.round(hours)} simulated hours in ${seconds.toFixed(1)} s: ${(count / seconds).toFixed(1)} seeds a second, ${Math.round((hours * 3600) / seconds)} times real time`,
    ].join('\n'),
  );
}
// Timers of processes that were killed in the simulation keep nothing alive; the sandbox of workflows does.
// A pipe takes a long story in pieces: the last has the violation.
process.stdout.write('', () => process.exit(sum.failed.length === 0 ? 0 : 1));
