// Gives an old machine the Node.js that Sitewright needs. Its entry points come through here, so this file has no
// dependencies and runs on any Node.js with modules; everything behind it may assume Node.js 24.
//   node bin/node-24.mjs SCRIPT [ARG...]
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** From here on, types are stripped and SQLite is built in without a warning. */
const LEAST = [24, 15];

/**
 * Whether this Node.js is new enough for a script. If not, a Node.js of our own, fetched once, has run the script instead, and this
 * process ends as that one did.
 *
 * @param {string} script its path
 * @param {readonly string[]} args
 */
export async function isInNode24(script, args) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) return true;
  // Only here: each start comes through this file.
  const { runInOwnNode } = await import('./own-node.mjs');
  await runInOwnNode(script, args, LEAST.join('.'));
  return false;
}

const [, self, script, ...args] = process.argv;
if (self !== undefined && resolve(self) === fileURLToPath(import.meta.url)) {
  if (script === undefined) throw new Error('usage: node bin/node-24.mjs SCRIPT [ARG...]');
  if (await isInNode24(resolve(script), args)) {
    process.argv.splice(1, 2, resolve(script));
    await import(pathToFileURL(resolve(script)).href);
  }
}
