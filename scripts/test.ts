// `npm test`: installs what the tests need, then runs them. Arguments are passed to vitest:
//   npm test -- test/unit/platform/settings    only these tests
//   npm test -- test/workflow/                 one suite
//   npm run test:journeys                      whole systems, which take longest
//   npm run test:quick                         tests that the changes can affect: vitest --changed
import { execFileSync, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { explainMissing, findTemporalBinary } from '../src/platform/temporal/find-server.ts';
import { buildPrograms } from './build.ts';
import { ensureInstalled, SetupError } from './ensure-installed.ts';
import { root } from './freshness.mjs';

const BUT_JOURNEYS = ['--project=unit', '--project=system'];

const say = (line: string): void => console.error(line);

try {
  await ensureInstalled({ report: say });
  await buildPrograms();
  const found = await findTemporalBinary({ report: say });
  if (found.status === 'missing') throw new SetupError(explainMissing(found));
  // Processes that the tests start must find the same binary.
  const env = { ...process.env, TEMPORAL_CLI: found.path };
  process.exitCode = await runVitest(argumentsOf(process.argv.slice(2)), env);
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

/** Without files or a project: all but the journeys. */
function argumentsOf(given: readonly string[]): readonly string[] {
  const [first, ...others] = given;
  if (first === '--quick') return [...BUT_JOURNEYS, `--changed=${start()}`, '--passWithNoTests', ...others];
  const isChoice = given.some((one) => !one.startsWith('-') || one.startsWith('--project'));
  return isChoice ? given : [...BUT_JOURNEYS, ...given];
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
