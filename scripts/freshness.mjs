// Whether the programs in dist/ are older than their sources. Every start in a checkout asks, so this is JavaScript: loading a
// TypeScript file costs more than the question.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** Written when dist/programs and dist/page are complete, with the key of their sources. */
export const stamp = `${root}dist/.built`;

/** What goes into the programs. */
export const SOURCES = [
  'activities',
  'worker',
  'workflows',
  'src',
  ...readdirSync(`${root}packages`).map((name) => `packages/${name}/src`),
  'scripts/build.ts',
  'scripts/docs-site',
  'package-lock.json',
];

/** Folders count too: their time tells that a file was removed. */
export function isOlderThanSources() {
  if (!existsSync(stamp)) return true;
  const { mtimeMs } = statSync(stamp);
  return SOURCES.some((path) => isNewer(root + path, mtimeMs));
}

/** @param {string} path @param {number} time @returns {boolean} */
function isNewer(path, time) {
  const found = statSync(path);
  if (found.mtimeMs > time) return true;
  if (!found.isDirectory()) return false;
  return readdirSync(path).some((name) => isNewer(`${path}/${name}`, time));
}
