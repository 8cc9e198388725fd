// `npm run life`: the tutorial examples/webstack/whole-life.md from its first command to its last, on machines that are containers,
// with a client that uses the service throughout. Its options are in the tutorial.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ensureInstalled } from './ensure-installed.ts';
import { underLoad } from './life/client.mjs';
import { readTutorial } from './life/document.mjs';
import { compareFacts, factsOf } from './life/facts.mjs';
import { Kills } from './life/kills.mjs';
import { root } from './life/processes.mjs';
import { Report } from './life/report.mjs';
import { STEPS } from './life/steps.mjs';
import { startSystem } from './life/system.mjs';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    keep: { type: 'boolean' },
    chaos: { type: 'boolean' },
    small: { type: 'boolean' },
    record: { type: 'boolean' },
  },
});
/** The others need the first. */
const chosen = flags.only === undefined ? [...STEPS.keys()] : [1, ...flags.only.split(',').map(Number)];

/** Machines of the tutorial that a small site does without; where the primary moves, and a replica dies then, there are three databases. */
const without = flags.small ? ['web-lb-2', 'web-app-3', ...(chosen.includes(4) ? [] : ['web-db-2'])] : [];

/** @type {(() => unknown)[]} what ends it all, newest last */
const ends = [];
const report = new Report();
const interrupted = new Promise((_, fail) => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => fail(new Error(`ended by ${signal}`)));
});
interrupted.catch(() => undefined);

/**
 * @param {import('./life/document.mjs').Chapter} chapter
 * @param {import('./life/system.mjs').System} system
 */
async function take({ number, blocks }, system) {
  const step = STEPS.get(number);
  const before = await step?.before?.(system);
  const commands = () => system.shell(blocks.join(''));
  // Nothing answers before the first step has ended.
  const requests = number === 1 ? await commands().then(() => undefined) : await underLoad(system.url, ends, commands);
  const tasks = await report.tasksOf(system);
  const { made, failed } = requests ?? { made: 0, failed: 0 };
  const outcome = (await step?.after(system, { before, answered: made - failed, failed, ran: tasks.ran })) ?? '';
  // Those of checks are not the step's.
  await report.tasksOf(system);
  return { outcome, tasks, ...(requests && { requests }) };
}

async function life() {
  await ensureInstalled();
  await promisify(execFile)('ab', ['-V']).catch(() => {
    throw new Error('ab is missing, which asks the service all the while: apt-get install apache2-utils');
  });
  const tutorial = readTutorial(join(root, 'examples/webstack/whole-life.md'));
  const kills = flags.chaos ? new Kills(report.say) : undefined;
  const { system } = await report.step('the machines and the system', async () => {
    const system = await startSystem(tutorial, report.say, ends, { kills, without });
    return { outcome: `in ${system.terminals.size} terminals`, system };
  });
  if (kills) {
    report.kills = kills.done;
    kills.start(system.folder);
    ends.push(() => kills.stop());
  }
  for (const chapter of tutorial.steps.filter(({ number }) => chosen.includes(number))) {
    kills?.during(String(chapter.number));
    await report
      .step(`${chapter.number}. ${chapter.title}`, () => take(chapter, system))
      .catch(async (error) => {
        await report.explain(system).catch(() => undefined);
        if (!flags.keep) throw error;
        console.error(error.message);
        await interrupted;
      });
  }
  await kills?.stop();
  await report.step('the end', async () => {
    const kind = [flags.small ? 'small' : 'full', ...(flags.only === undefined ? [] : chosen)].join('-');
    const file = join(root, `scripts/life/expected/${kind}.json`);
    return { outcome: await compareFacts(await factsOf(system, report.answered), file, flags.record === true) };
  });
  if (flags.keep) await interrupted;
}

try {
  await Promise.race([life(), interrupted]);
} catch (error) {
  const failed = /** @type {Error & { stdout?: string, stderr?: string }} */ (error);
  console.error(`${failed.message}\n${failed.stdout ?? ''}${failed.stderr ?? ''}`);
  process.exitCode = 1;
} finally {
  report.print();
  for (const end of ends.splice(0).reverse()) await end();
  // What an interrupted step has started ends with this process.
  process.exit();
}
