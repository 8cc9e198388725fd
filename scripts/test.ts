// `npm test`: installs what the tests need, then runs them. Arguments are passed to vitest:
//   npm test -- test/unit/platform/settings    only these tests
//   npm test -- test/workflow/                 one suite
//   npm test -- --project=server test/workflow/   the same on a real Temporal server
//   npm test -- --project=large                tests that need Puppet, Java, helm or servers of their own
//   npm run test:journeys                      whole systems, which take longest
//   npm run test:quick                         tests that the changes can affect: vitest --changed
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.ts';
import { MEASURES, type Measures, secondsOfEndedPrograms } from '../test/measures.ts';
import { buildPrograms } from './build.ts';
import { ensureInstalled, SetupError } from './ensure-installed.ts';
import { root } from './freshness.mjs';

const FOR_PEOPLE = ['--project=unit', '--project=system'];

const say = (line: string): void => console.error(line);

try {
  await ensureInstalled({ report: say });
  await buildPrograms();
  const given = argumentsOf(process.argv.slice(2));
  const started = Date.now();
  process.exitCode = await runVitest(given, await environmentOf(given));
  sumUp((Date.now() - started) / 1000);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}

/** Where the branch left main; on main, the last commit. Vitest adds what is not committed. */
function start(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
  const left = git('merge-base', 'HEAD', 'main');
  return left === git('rev-parse', 'HEAD') ? 'HEAD~1' : left;
}

/** Tests on a real server, and the processes that they start, find the same binary. */
async function environmentOf(given: readonly string[]): Promise<NodeJS.ProcessEnv> {
  if (given.every((one) => FOR_PEOPLE.includes(one) || !one.startsWith('--project'))) return process.env;
  const found = await findTemporalBinary({ report: say });
  if (found.status === 'missing') throw new SetupError(explainMissing(found));
  return { ...process.env, TEMPORAL_CLI: found.path };
}

/** Adds to the measures of the run what all processes cost: those of vitest, and the servers and browsers that ended with them. */
function sumUp(seconds: number): void {
  const path = process.env.SITEWRIGHT_MEASURES ?? join(root, MEASURES);
  if (!existsSync(path)) return;
  const processorSeconds = Math.round(secondsOfEndedPrograms() * 10) / 10;
  const measures = JSON.parse(readFileSync(path, 'utf8')) as Measures;
  writeFileSync(path, `${JSON.stringify({ ...measures, processorSeconds }, undefined, 2)}\n`);
  say(`${Math.round(seconds)} s, ${Math.round(processorSeconds)} processor seconds`);
}

/** Without files or a project: all that people wait for. A file runs in the project that it is in; on a real server with `--project=server`. */
function argumentsOf(given: readonly string[]): readonly string[] {
  const [first, ...others] = given;
  if (first === '--quick') return [...FOR_PEOPLE, `--changed=${start()}`, '--passWithNoTests', ...others];
  if (given.some((one) => one.startsWith('--project'))) return given;
  const files = given.filter((one) => !one.startsWith('-'));
  const named = [
    ...(files.some((file) => file.includes('test/e2e')) ? ['--project=journeys'] : []),
    ...(files.some((file) => file.includes('test/temporal')) ? ['--project=server'] : []),
    ...(files.some((file) => /test.(unit|models)/.test(file)) ? ['--project=large'] : []),
  ];
  return [...FOR_PEOPLE, ...named, ...given];
}

function runVitest(given: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const folder = dirname(createRequire(join(root, 'package.json')).resolve('vitest/package.json'));
  const args = [join(folder, 'vitest.mjs'), 'run', ...given];
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
  // Ctrl-C also reaches vitest, which stops its servers; only wait for it.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', (code) => done(code ?? 1));
  });
}
