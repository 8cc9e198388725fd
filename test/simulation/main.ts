/**
 * Lives through seeds: `npm run simulate -- --seed 7` tells the story of one, `--seeds 1000` counts the violations of many.
 */
import { parseArgs } from 'node:util';
import { withoutThreads } from './world/seams.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    quiet: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    bundle: { type: 'string' },
  },
});

withoutThreads();
const [{ bundleOurWorkflows }, { loadWorkflows }, { ACTIVITY_NAMES }, { simulateSite }] = await Promise.all([
  import('../../worker/parts/workflow-bundle.ts'),
  import('./temporal/index.ts'),
  import('./world/installation.ts'),
  import('./world/site-world.ts'),
]);
const code = await loadWorkflows(values.bundle ?? (await bundleOurWorkflows({})).codePath, ACTIVITY_NAMES);

const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds ?? 100) : 1;
const started = performance.now();
const failed: number[] = [];
const total = { events: 0, turns: 0, replays: 0, changes: 0, simulatedMs: 0 };
const outcomes: Record<string, number> = {};
const digests: string[] = [];
for (let seed = first; seed < first + count; seed++) {
  const verdict = await simulateSite(seed, code);
  for (const key of ['events', 'turns', 'replays', 'changes', 'simulatedMs'] as const) total[key] += verdict[key];
  for (const outcome of verdict.outcomes) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  digests.push(verdict.digest);
  if (verdict.violation !== null) failed.push(seed);
  if (values.seed !== undefined && !values.quiet && !values.json) console.log(verdict.story.join('\n'));
  if (verdict.violation !== null && !values.json) console.log(`seed ${seed}: ${verdict.violation}`);
}
const seconds = (performance.now() - started) / 1000;
const hours = total.simulatedMs / 3_600_000;
if (values.json) console.log(JSON.stringify({ failed, digests, ...total, outcomes }));
else {
  console.log(
    `${count} seed${count === 1 ? '' : 's'}, ${failed.length} with a violation${failed.length === 0 ? '' : `: ${failed.join(', ')}`}`,
  );
  console.log(
    `${total.turns} workflow tasks, ${total.replays} replays, ${total.changes} changes of machines, ${total.events} events`,
  );
  console.log(
    `${Math.round(hours)} simulated hours in ${seconds.toFixed(1)} s: ${(count / seconds).toFixed(1)} seeds/s, ${Math.round((hours * 3600) / seconds)} times real time`,
  );
  console.log(Object.entries(outcomes).map(([name, times]) => `${name} ${times}`).join(', '));
}
process.exit(failed.length === 0 ? 0 : 1);
