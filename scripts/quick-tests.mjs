// Selects the test files of `npm run test:quick`: those nearest to the changes, for about a minute and a half.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Seconds of processor time to spend on tests: two processors for not quite a minute, without start-up. */
const BUDGET = 110;

/** Assumed seconds of a file that test/durations.json does not list. */
const UNKNOWN = { unit: 1, property: 2, other: 3 };

/** Seconds to load a file's modules. */
const LOAD = 0.5;

/** They check the whole project and are cheap. */
const ALWAYS = /^test\/(architecture|golden|unit\/docs)\//;

/** They use built packages and real daemons, and take minutes. */
const NEVER = /^test\/e2e\//;

/** Their workflows come from the bundle of test/global-setup.ts. */
const ON_TEMPORAL = /^test\/(workflow|api|cli|ui)\//;

/** What a browser loads, and the tests that load it in one: no import connects them. */
const PAGE_FILES = 'src/ui/assets/';
const PAGE_TESTS = /^test\/ui\//;

/**
 * @param {string} root
 * @param {(line: string) => void} say
 * @returns {string[]} never empty
 */
export function quickTests(root, say) {
  const { since, changed } = changes(root);
  const distances = distancesFrom(changed, root);
  const durations = new Map(Object.entries(JSON.parse(readFileSync(join(root, 'test/durations.json'), 'utf8'))));
  const seconds = (/** @type {string} */ file) => LOAD + (durations.get(file) ?? UNKNOWN[suiteOf(file)]);
  const related = [...distances]
    .filter(([file]) => file.endsWith('.test.ts') && !NEVER.test(file))
    .map(([file, distance]) => ({ file, distance, takes: seconds(file) }))
    .sort((one, other) => one.distance - other.distance || one.takes - other.takes);
  let left = BUDGET;
  const chosen = related.filter(({ takes }) => {
    if (takes > left) return false;
    left -= takes;
    return true;
  });
  const out = related.length - chosen.length;
  say(
    `${changed.length} files changed since ${since}: running ${chosen.length} test files, the nearest of ${related.length} that depend on them, without e2e` +
      `${out > 0 ? `; ${out} would take too long` : ''}. \`npm test\` runs everything.`,
  );
  return chosen.map(({ file }) => file);
}

/**
 * The changes since the branch left main, including uncommitted ones; on main itself, those of its last commit.
 * @param {string} root
 */
function changes(root) {
  const git = (/** @type {string[]} */ ...args) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const lines = (/** @type {string} */ text) => text.split('\n').filter(Boolean);
  const isClean = git('status', '--porcelain') === '';
  const head = git('rev-parse', 'HEAD');
  const left = ['main', 'origin/main'].flatMap((branch) => {
    try {
      return [git('merge-base', 'HEAD', branch)];
    } catch {
      return [];
    }
  })[0];
  const since = left === undefined || (left === head && isClean) ? 'HEAD~1' : left;
  const untracked = lines(git('ls-files', '--others', '--exclude-standard'));
  return { since: since.slice(0, 10), changed: [...lines(git('diff', '--name-only', since)), ...untracked] };
}

/**
 * The number of imports between each file and the nearest changed file.
 * @param {readonly string[]} changed
 * @param {string} root
 */
function distancesFrom(changed, root) {
  const code = ['src', 'packages', 'workflows', 'activities', 'worker', 'scripts', 'test']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, String(file))))
    .filter((file) => /\.(tsx?|mjs|js)$/.test(file) && !/^(?:test|packages\/[\w-]+\/test)\/data\//.test(file));
  /** @type {Map<string, string[]>} */
  const usedBy = new Map();
  for (const file of code) {
    for (const used of usesOf(file, root)) usedBy.set(used, [...(usedBy.get(used) ?? []), file]);
  }
  const distances = new Map(changed.filter((file) => existsSync(join(root, file))).map((file) => [file, 0]));
  if (changed.some((file) => file.startsWith(PAGE_FILES)))
    for (const file of code) if (PAGE_TESTS.test(file) && !distances.has(file)) distances.set(file, 1);
  // Iteration over a map includes entries added meanwhile: breadth first.
  for (const [file, distance] of distances) {
    for (const user of usedBy.get(file) ?? []) if (!distances.has(user)) distances.set(user, distance + 1);
  }
  for (const file of code) if (ALWAYS.test(file) && !distances.has(file)) distances.set(file, 1);
  return distances;
}

/**
 * The project files that a file names: imports, programs it starts, data files.
 * @param {string} file
 * @param {string} root
 */
function usesOf(file, root) {
  const text = readFileSync(join(root, file), 'utf8');
  const named = [
    ...[...text.matchAll(/['"`]([\w./-]+\.\w+)['"`]/g)].map(([, name]) => name ?? ''),
    ...[...text.matchAll(/'@sitewright\/([\w-]+)(\/[\w-]+)?'/g)].map(([, name, entry = '']) =>
      join('packages', name ?? '', exportsOf(join(root, 'packages', name ?? ''))[`.${entry}`] ?? ''),
    ),
  ];
  const paths = named.flatMap((name) => (name.startsWith('.') ? [normalize(join(dirname(file), name))] : [name]));
  const uses = paths
    .map((path) => path.replace(/\.js$/, '.ts'))
    .filter((path) => path.includes('/') && existsSync(join(root, path)));
  return new Set(ON_TEMPORAL.test(file) ? [...uses, 'test/global-setup.ts'] : uses);
}

/** @param {string} folder of a package @returns {Record<string, string>} */
const exportsOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).exports;

/** @param {string} file @returns {keyof typeof UNKNOWN} */
function suiteOf(file) {
  if (file.startsWith('packages/')) return 'unit';
  const suite = file.split('/')[1];
  return suite === 'unit' || suite === 'property' ? suite : 'other';
}
