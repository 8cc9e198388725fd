// Makes a rehearsal of a task graph: the same tasks in the same order on the same nodes, under the same conditions, but
// each only waits for a while in place of its work.
//
//   node rehearse.mjs TASKS.json [--speed 1000]
//
// TASKS.json is a list of tasks as `sitewright graph download --format json` saves it; the rehearsal goes to standard
// output. A task waits for its recorded limit (`timeout`) divided by the speed.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** Tasks of these types do nothing anyway: they order and group others. */
const WITHOUT_WORK = new Set(['stage', 'group', 'skipped', 'noop']);
/** Seconds, of types whose tasks have no recorded limit. */
const LIMIT = 300;

function rehearsed(task, speed) {
  if (WITHOUT_WORK.has(task.type)) return task;
  const { timeout = LIMIT, puppet_manifest, path, cmd, src, strategy } = task.parameters ?? {};
  const limit = typeof timeout === 'number' ? timeout : LIMIT;
  const what = [puppet_manifest, path, src, cmd].find((one) => typeof one === 'string') ?? '';
  const words = `${task.type} ${what.split('\n')[0]}`.trim().replaceAll("'", "'\\''");
  return {
    ...task,
    type: 'shell',
    parameters: {
      cmd: `echo '${words}'\nsleep ${Math.max(limit / speed, 0.01).toFixed(3)}`,
      timeout: limit,
      retries: 0,
      ...(strategy === undefined ? {} : { strategy }),
    },
  };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { speed: { type: 'string', default: '1000' } },
});
const speed = Number(values.speed);
if (positionals.length !== 1 || !(speed > 0)) {
  console.error('usage: node rehearse.mjs TASKS.json [--speed 1000]');
  process.exit(2);
}
const tasks = JSON.parse(readFileSync(positionals[0], 'utf8'));
console.log(
  JSON.stringify(
    tasks.map((task) => rehearsed(task, speed)),
    null,
    2,
  ),
);
