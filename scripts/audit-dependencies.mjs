// Compares the packages of the lock file with a dated record of advisories, test/data/advisories.json, and checks what the
// lock file itself shows; where the registry
// answers, asks `npm audit` as well. Exit code 1 for a vulnerable package. Plain Node: CI runs it first.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {{ id: string, package: string, below: string, from?: string, title: string, seen?: boolean }} Advisory
 * @typedef {{ checked_at: string, source: string, advisories: Advisory[] }} Record
 * @typedef {{ name: string, version: string }} Locked
 */

/** @param {string} path */
const read = (path) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));

/** @param {string} version @returns {number[]} */
const numbers = (version) => (version.split('-')[0] ?? '').split('.').map(Number);

/** @param {string} one @param {string} other */
export function isBelow(one, other) {
  const [a, b] = [numbers(one), numbers(other)];
  for (let at = 0; at < 3; at++) if ((a[at] ?? 0) !== (b[at] ?? 0)) return (a[at] ?? 0) < (b[at] ?? 0);
  return one.includes('-') && !other.includes('-');
}

/** The packages of this repository, and npm's links to them. @param {string} path @param {{ resolved?: string, link?: boolean }} entry */
const isOwn = (path, { resolved, link }) =>
  path.startsWith('packages/') || (link === true && resolved !== undefined && resolved.startsWith('packages/'));

/** @param {{ packages: { [path: string]: { version?: string, resolved?: string, link?: boolean } } }} lock @returns {Locked[]} */
export const lockedPackages = ({ packages }) =>
  Object.entries(packages).flatMap(([path, entry]) => {
    const { version } = entry;
    const name = path.split('node_modules/').at(-1) ?? '';
    return name === '' || version === undefined || isOwn(path, entry) ? [] : [{ name, version }];
  });

/** @param {readonly Locked[]} locked @param {readonly Advisory[]} advisories @returns {string[]} */
export const vulnerable = (locked, advisories) =>
  locked.flatMap(({ name, version }) =>
    advisories
      .filter((one) => one.package === name && isBelow(version, one.below) && !isBelow(version, one.from ?? '0.0.0'))
      .map(({ id, title, below }) => `${name} ${version}: ${id}, ${title}; fixed in ${below}`),
  );

/**
 * What the lock file itself shows: packages that nothing verifies, that come from elsewhere than a registry, or that may run
 * a script when they are installed. Optional packages of other platforms, which a mirror may lack, have no checksum here.
 * @param {{ packages: { [path: string]: { integrity?: string, resolved?: string, optional?: boolean, hasInstallScript?: boolean, link?: boolean } } }} lock
 * @param {{ [name: string]: boolean }} allowScripts
 * @returns {string[]}
 */
export const unsound = ({ packages }, allowScripts) =>
  Object.entries(packages).flatMap(([path, entry]) => {
    const { integrity, resolved, optional, hasInstallScript, link } = entry;
    if (path === '' || (isOwn(path, entry) && !hasInstallScript)) return [];
    const name = path.split('node_modules/').at(-1) ?? '';
    return [
      ...(integrity === undefined && !optional ? [`${path} has no checksum`] : []),
      ...(link || (resolved !== undefined && !resolved.startsWith('https://'))
        ? [`${path} is not from a registry`]
        : []),
      ...(hasInstallScript && !allowScripts[name] ? [`${path} has an install script that is not allowed`] : []),
    ];
  });

/** The registry's answer; undefined if it has none. @returns {string[] | undefined} */
function askRegistry() {
  const { stdout } = spawnSync('npm', ['audit', '--json', '--omit=dev'], { encoding: 'utf8', timeout: 60_000 });
  try {
    const { vulnerabilities } = JSON.parse(stdout);
    return vulnerabilities === undefined ? undefined : Object.keys(vulnerabilities).map((name) => `${name}: npm audit`);
  } catch {
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  /** @type {Record} */
  const record = read('test/data/advisories.json');
  const lock = read('package-lock.json');
  const locked = lockedPackages(lock);
  const asked = askRegistry();
  const found = [
    ...vulnerable(locked, record.advisories),
    ...unsound(lock, read('package.json').allowScripts),
    ...(asked ?? []),
  ];
  console.log(`${locked.length} locked packages, ${record.advisories.length} advisories recorded ${record.checked_at}`);
  console.log(
    asked === undefined ? 'the registry does not answer npm audit: the record alone decides' : 'npm audit was asked',
  );
  for (const line of found) console.log(line);
  process.exitCode = found.length === 0 ? 0 : 1;
}
