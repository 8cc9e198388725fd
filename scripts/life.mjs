// `npm run life`: the tutorial docs/whole-life.md from its first command to its last, on machines that are containers,
// with a client that uses the service all the while. What it has for options, the tutorial says.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ensureInstalled } from './ensure-installed.mjs';
import { underLoad } from './life/client.mjs';
import { readTutorial } from './life/document.mjs';
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

async function life() {
  await ensureInstalled();
  await promisify(execFile)('ab', ['-V']).catch(() => {
    throw new Error('ab is missing, which asks the service all the while: apt-get install apache2-utils');
  });
  const tutorial = readTutorial(join(root, 'docs/whole-life.md'));
  const system = await report.step('the machines and the system', async () => ({
    value: await startSystem(tutorial, report.say, ends, { chaos: flags.chaos === true, without }),
    said: `in ${tutorial.terminals.size} terminals`,
  }));
  const kills = new Kills(system.folder, report.say);
  report.kills = kills.done;
  if (flags.chaos) {
    kills.start();
    ends.push(() => kills.stop());
  }
  for (const { number, title, blocks } of tutorial.steps) {
    const step = STEPS.get(number);
    if (step === undefined || !chosen.includes(number)) continue;
    kills.during(String(number));
    const work = async () => {
      const before = await step.before?.(system);
      const commands = () => system.shell(blocks.join(''));
      // Nothing answers before the first step has ended.
      const load = number === 1 ? await commands().then(() => null) : await underLoad(system.url, ends, commands);
      const tasks = await report.tasksOf(system);
      const answered = load === null ? 0 : load.made - load.failed;
      const said = await step.after(system, { before, answered, ran: tasks.ran });
      await report.tasksOf(system);
      const requests = load === null ? '' : `; ${load.made} requests, ${load.failed} failed`;
      return { value: null, said: `${said}; ${tasks.said}${requests}` };
    };
    await report.step(`${number}. ${title}`, work).catch(async (error) => {
      await report.explain(system).catch(() => undefined);
      if (!flags.keep) throw error;
      console.error(error.message);
      await interrupted;
    });
  }
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
}
