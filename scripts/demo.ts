// `npm run demo`: installs what the demo needs, then runs it. `npm run demo -- --keep` leaves everything running.
import { join } from 'node:path';
import { buildPrograms } from './build.ts';
import { ensureInstalled, SetupError } from './ensure-installed.ts';
import { root } from './freshness.mjs';

const flags = process.argv.slice(2);
const unknown = flags.filter((flag) => flag !== '--keep');

if (unknown.length > 0) {
  console.error(
    `Unknown: ${unknown.join(' ')}. The only option is --keep, which leaves everything running until Ctrl-C.`,
  );
  process.exit(2);
}
try {
  await ensureInstalled();
  await buildPrograms();
  const { runDemo } = await import(join(root, 'dist/programs/demo.js'));
  process.exitCode = await runDemo({ root, keep: flags.includes('--keep') });
} catch (error) {
  const { message } = error as Error;
  console.error(error instanceof SetupError ? message : `The demo cannot continue: ${message}`);
  process.exitCode = 1;
}
