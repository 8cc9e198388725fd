// Starts the command line: its bundle, which a package brings along and a checkout makes when its sources have changed.
import { existsSync } from 'node:fs';

const main = new URL('../dist/programs/main.js', import.meta.url);
const build = new URL('../scripts/build.ts', import.meta.url);

if (existsSync(build)) {
  const { isOlderThanSources } = await import('../scripts/freshness.mjs');
  if (isOlderThanSources()) {
    const { buildPrograms, BuildError } = await import('../scripts/build.ts');
    try {
      await buildPrograms();
    } catch (error) {
      if (!(error instanceof BuildError)) throw error;
      console.error(error.message);
      process.exit(2);
    }
  }
}
if (existsSync(main)) await import(main.href);
else {
  console.error('Sitewright is incomplete: dist/programs is missing. Install it again.');
  process.exitCode = 2;
}
