// Run it after `npm install` (`npm run lock:complete`). It adds optional packages of other platforms to
// package-lock.json that the registry in use does not offer. npm omits those silently, and then `npm ci` refuses the
// lock file on every machine ("Missing: … from lock file"). Entries without a checksum get the one that the registry
// states for that version: else npm would install there whatever its registry hands out.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const added = completeLock(lock);
const checked = completeChecksums(lock);
if (added.length > 0 || checked.length > 0) {
  const [root, ...rest] = Object.keys(lock.packages);
  const sorted = [root ?? '', ...rest.sort((a, b) => a.localeCompare(b, 'en'))];
  lock.packages = Object.fromEntries(sorted.map((key) => [key, lock.packages[key]]));
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
}
if (added.length > 0) console.error(`Added ${added.join(', ')}.`);
if (checked.length > 0) console.error(`Added the checksum of ${checked.join(', ')}.`);
if (added.length === 0 && checked.length === 0) console.error('The lock file is complete.');

/**
 * A mirror may lack the package itself, but its metadata has the checksum.
 *
 * @param {{ packages: Record<string, any> }} lock
 * @returns {string[]} the packages with a new checksum
 */
function completeChecksums(lock) {
  const names = [];
  for (const [key, entry] of Object.entries(lock.packages)) {
    const at = key.lastIndexOf('node_modules/');
    if (at === -1 || entry.link || entry.integrity !== undefined) continue;
    const wanted = `${entry.name ?? key.slice(at + 'node_modules/'.length)}@${entry.version}`;
    const integrity = execFileSync('npm', ['view', wanted, 'dist.integrity'], { encoding: 'utf8' }).trim();
    if (!integrity.startsWith('sha512-')) throw new Error(`the registry states no checksum for ${wanted}`);
    const { version, ...rest } = entry;
    lock.packages[key] = { version, integrity, ...rest };
    names.push(wanted);
  }
  return names;
}

/**
 * @param {{ packages: Record<string, any> }} lock
 * @returns {string[]} the names added
 */
function completeLock(lock) {
  const names = [];
  for (const entry of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const key = `node_modules/${name}`;
      if (lock.packages[key] !== undefined) continue;
      if (!/^\d+\.\d+\.\d+$/.test(version))
        throw new Error(`${name}@${version} is not an exact version; add it manually`);
      lock.packages[key] = { version, ...platformOf(name), ...(entry.dev ? { dev: true } : {}), optional: true };
      names.push(name);
    }
  }
  return names;
}

/**
 * Packages for one platform have it in their names: `core-linux-arm-gnueabihf`, `cli-win32-x64`.
 *
 * @param {string} name
 */
function platformOf(name) {
  const words = name.split(/[-/]/);
  const os = words.find((word) =>
    ['android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'win32'].includes(word),
  );
  const cpu = words.find((word) =>
    ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64'].includes(word),
  );
  if (os === undefined || cpu === undefined) throw new Error(`${name} does not name its platform; add it manually`);
  const musl = words.includes('musl');
  const libc = os === 'linux' ? { libc: [musl ? 'musl' : 'glibc'] } : {};
  return { cpu: [cpu], ...libc, os: [os] };
}
