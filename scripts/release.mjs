// Makes a release: `npm run release -- VERSION`, on a clean checkout whose CI is green. Sets the version everywhere, gives the
// unreleased changes their heading, commits, makes the artifacts in release/ (`npm run artifacts`), and tags. If an artifact cannot
// be made, nothing has changed. Pushes nothing. `--check` only reports obstacles.
// What a version promises: docs/explain/stability.md.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { check: { type: 'boolean' }, folder: { type: 'string', default: process.cwd() }, date: { type: 'string' } },
});
const [version = ''] = positionals;
const { folder } = values;

/** @param {string[]} args */
const git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();
/** @param {string} path */
const read = (path) => readFileSync(join(folder, path), 'utf8');

const HISTORIES = 'test/replay/histories';
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-rc\.(\d+))?$/;

/** @type {{ version: string }} */
const { version: current } = JSON.parse(read('package.json'));
const problems = whatStandsInTheWay();
if (problems.length > 0) {
  console.error(`${problems.map((problem) => `- ${problem}`).join('\n')}\nNothing was changed.`);
  process.exit(1);
}
if (values.check) {
  console.log(`${version} can be released.`);
  process.exit(0);
}
const files = setVersion();
git('add', ...files);
git('commit', '--quiet', '--message', `Release ${version}`);
try {
  execFileSync('npm', ['run', '--silent', 'artifacts'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
} catch {
  git('reset', '--quiet', '--hard', 'HEAD~1');
  console.error('The artifacts cannot be made: see above. The commit was taken back; nothing was changed.');
  process.exit(1);
}
git(
  'tag',
  '--annotate',
  '--cleanup=verbatim',
  `v${version}`,
  '--message',
  `${version}\n\n${changesOf(read('CHANGELOG.md'), version)}`,
);
console.log(`Released ${version}: commit ${git('rev-parse', '--short', 'HEAD')}, tag v${version}.

Next:
  git push && git push origin v${version}
and publish what is in release/.
Changes from now on go below "Unreleased"; histories recorded from now on are named after the next version.`);

/** @returns {string[]} all problems together */
function whatStandsInTheWay() {
  const found = [];
  const [next, last] = [version, current].map(parsed);
  if (next === undefined) found.push(`'${version}' is not a version: write three numbers, e.g. 1.0.0 or 1.0.0-rc.1`);
  else if (last !== undefined && compare(next, last) <= 0) found.push(`${version} is not later than ${current}`);
  if (git('status', '--porcelain') !== '') found.push('there are uncommitted changes: commit them first');
  if (git('tag', '--list', `v${version}`) !== '') found.push(`the tag v${version} exists`);
  const changes = changesOf(read('CHANGELOG.md'), 'Unreleased');
  if (changes === '') found.push('CHANGELOG.md has no unreleased changes');
  return [...found, ...changedHistories(), ...laterHistories(next)];
}

/** Histories that a release recorded are its promise to the runs that it began: they never change. */
function changedHistories() {
  return git('tag', '--list', 'v*')
    .split('\n')
    .filter((tag) => tag !== '')
    .flatMap((tag) => {
      const own = ['ls-tree', '-r', '--name-only', tag, '--', HISTORIES];
      const recorded = git(...own)
        .split('\n')
        .filter((name) => name !== '');
      if (recorded.length === 0) return [];
      const changed = git('diff', '--name-only', tag, 'HEAD', '--', ...recorded);
      return changed === '' ? [] : changed.split('\n').map((name) => `${name} was recorded for ${tag}, and differs`);
    });
}

/** @param {number[] | undefined} next */
function laterHistories(next) {
  if (next === undefined) return [];
  return readdirSync(join(folder, HISTORIES)).flatMap((name) => {
    const named = parsed(/--v(.+)\.json$/.exec(name)?.[1] ?? '');
    if (named === undefined) return [`${HISTORIES}/${name} does not end with the version that recorded it`];
    return compare(named, next) > 0 ? [`${HISTORIES}/${name} is named after a later version than ${version}`] : [];
  });
}

/** @returns {string[]} the files that were changed */
function setVersion() {
  const { date = new Date().toISOString().slice(0, 10) } = values;
  const edits = /** @type {const} */ ({
    'docker-compose.yml': [`\${SITEWRIGHT_VERSION:-${current}}`, `\${SITEWRIGHT_VERSION:-${version}}`, 1],
    // Of the chart, and of the program in it.
    'deploy/helm/sitewright/Chart.yaml': [`ersion: ${current}`, `ersion: ${version}`, 2],
    'README.md': [current, version, occurrences(read('README.md'), current)],
    'CHANGELOG.md': ['## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`, 1],
  });
  for (const [file, [from, to, times]] of Object.entries(edits)) {
    let text = read(file);
    let at = 0;
    for (let time = 0; time < times; time += 1) {
      at = text.indexOf(from, at);
      if (at < 0) throw new Error(`${file} has no '${from.trim()}'`);
      text = text.slice(0, at) + to + text.slice(at + from.length);
      at += to.length;
    }
    writeFileSync(join(folder, file), text);
  }
  return [...Object.keys(edits), ...setVersionOfPackages()];
}

/** Of the packages in this repository, and of all in the lock file. @returns {string[]} the files that were changed */
function setVersionOfPackages() {
  /** @param {string} path @param {(content: any) => void} change */
  const rewrite = (path, change) => {
    const content = JSON.parse(read(path));
    change(content);
    writeFileSync(join(folder, path), `${JSON.stringify(content, null, 2)}\n`);
    return path;
  };
  /** @param {{ version: string, dependencies?: Record<string, string>, devDependencies?: Record<string, string> }} about */
  const renew = (about) => {
    about.version = version;
    for (const dependencies of [about.dependencies ?? {}, about.devDependencies ?? {}])
      for (const name of Object.keys(dependencies)) if (name.startsWith('@sitewright/')) dependencies[name] = version;
  };
  const packages = readdirSync(join(folder, 'packages')).map((name) => `packages/${name}`);
  return [
    ...['.', ...packages].map((name) => rewrite(join(name, 'package.json'), renew)),
    rewrite('package-lock.json', (lock) => {
      lock.version = version;
      for (const path of ['', ...packages]) renew(lock.packages[path]);
    }),
  ];
}

/**
 * @param {string} changelog
 * @param {string} heading
 * @returns {string} the text below a heading of a version, without the heading
 */
function changesOf(changelog, heading) {
  const from = changelog.indexOf(`## [${heading}]`);
  if (from < 0) return '';
  const body = changelog.slice(changelog.indexOf('\n', from) + 1);
  const end = body.search(/^## \[/m);
  return (end < 0 ? body : body.slice(0, end)).trim();
}

/** @param {string} text @param {string} part */
function occurrences(text, part) {
  return text.split(part).length - 1;
}

/** A candidate comes before its release. @param {string} text @returns {number[] | undefined} */
function parsed(text) {
  return VERSION.exec(text)
    ?.slice(1)
    .map((part) => (part === undefined ? Number.POSITIVE_INFINITY : Number(part)));
}

/**
 * @param {readonly number[]} a
 * @param {readonly number[]} b
 */
function compare(a, b) {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? 0 : Math.sign((a[at] ?? 0) - (b[at] ?? 0));
}
