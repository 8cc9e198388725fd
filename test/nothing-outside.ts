import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../src/platform/temporal/find-server.ts';

/** Variables of ours that are for tests. */
const FOR_TESTS =
  /^SITEWRIGHT_(TEST_\w+|CACHE|MEASURES|BUILD_TEMPORAL_SERVER|OTEL_COLLECTOR|STAND_INS)$|^TEMPORAL_CLI$/;
/** Settings, addresses and folders of whoever runs the tests. */
const OF_THE_USER = /^(SITEWRIGHT|SW_SECRET|TEMPORAL|XDG|GIT|PG)[A-Z_]*$|^(all|ftp|https?|no)_proxy$/i;

/**
 * Takes from this process, and so from the test processes that it starts, what differs from user to user: variables that programs
 * read, and the mask of new files. `.ci/elsewhere` runs the tests where all of that is set.
 */
export function seeNothingOutside(): void {
  process.env.SITEWRIGHT_CACHE ??= cacheFolder();
  for (const name of Object.keys(process.env))
    if (OF_THE_USER.test(name) && !FOR_TESTS.test(name)) delete process.env[name];
  process.umask(0o022);
}

/** A home with nothing in it, for the tests that need no tool of the user's: npm's settings, Maven's repository. */
export function emptyHome(): string {
  const home = fileURLToPath(new URL('../node_modules/.cache/sitewright/home', import.meta.url));
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  return home;
}
