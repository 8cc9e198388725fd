// `npm run demo`: installs what the demo needs, then runs it. `npm run demo -- --keep` leaves everything running.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ensureInstalled, SetupError } from './ensure-installed.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const flags = process.argv.slice(2);
const unknown = flags.filter((flag) => flag !== '--keep');

if (unknown.length > 0) {
  console.error(
    `Unknown: ${unknown.join(' ')}. The only option is --keep, which leaves everything running until Ctrl-C.`,
  );
  process.exit(2);
}
try {
  await ensureInstalled({ report: (/** @type {string} */ line) => console.error(line) });
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(error.message);
  process.exit(1);
}
const demo = join(root, 'dist/src/cli/processes/demo.js');
if (!existsSync(demo)) {
  console.error('dist/ is not built. Run `npm run build`; its output says what is wrong.');
  process.exit(1);
}
const { runDemo } = await import(pathToFileURL(demo).href);
try {
  process.exitCode = await runDemo({ root, keep: flags.includes('--keep') });
} catch (error) {
  console.error(`The demo cannot continue: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
