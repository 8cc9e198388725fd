// Run it after `npm install` (`npm run lock:complete`). It adds optional packages of other platforms to
// package-lock.json that the registry in use does not offer. npm omits those silently, and then `npm ci` refuses the
// lock file on every machine ("Missing: … from lock file").
import { readFileSync, writeFileSync } from 'node:fs';

const path = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8'));
const added = completeLock(lock);
if (added.length > 0) {
  const [root, ...rest] = Object.keys(lock.packages);
  const sorted = [root ?? '', ...rest.sort((a, b) => a.localeCompare(b, 'en'))];
  lock.packages = Object.fromEntries(sorted.map((key) => [key, lock.packages[key]]));
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
}
console.error(added.length === 0 ? 'The lock file is complete.' : `Added ${added.join(', ')}.`);

/**
 * An added entry has no checksum, since the package cannot be fetched here. npm on that platform takes the exact
 * version from its registry.
 *
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
