// `npm run demo`: installs what is missing in a clone, then runs `sitewright demo`. `npm run demo -- --keep` leaves everything running.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { findTemporalBinary } from '../src/platform/temporal/find-server.ts';
import { buildPrograms } from './build.ts';
import { ensureInstalled, SetupError } from './ensure-installed.ts';
import { root } from './freshness.mjs';

try {
  const installed = ensureInstalled();
  // A server that has to be built is built beside the installation. Who waits for it here finds it again in the cache.
  const server = findTemporalBinary({ report: (line) => console.error(`  ${line}`), installed });
  await installed;
  await buildPrograms();
  await server;
} catch (error) {
  const { message } = error as Error;
  console.error(error instanceof SetupError ? message : `The demo cannot continue: ${message}`);
  process.exit(1);
}
process.argv.splice(2, 0, 'demo');
await import(pathToFileURL(join(root, 'dist/programs/main.js')).href);
