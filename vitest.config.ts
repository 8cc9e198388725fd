import { defineConfig } from 'vitest/config';
import LongestFirst from './test/longest-first.ts';

/**
 * Four times the two cores that are counted on: a file that works with servers and processes waits for them three quarters
 * of its time.
 * Vitest itself would take one on two cores. The same everywhere, since it wants projects with different numbers to run
 * one after the other.
 */
const FILES_AT_ONCE = 8;

const ON_TEMPORAL = {
  // One dev server and one workflow bundle for all.
  globalSetup: ['test/global-setup.ts'],
  // A task that the server gives to a worker at the moment at which it stops is lost, and tried again after a minute:
  // their limit is above that.
  testTimeout: 300_000,
  hookTimeout: 240_000,
};

export default defineConfig({
  test: {
    // Each process loads the modules once, not once for each file. Files must not change what others see, so they restore
    // what they change of the process (environment, folder, streams).
    isolate: false,
    // Native runtimes of the SDK end with their process, not with a thread.
    pool: 'forks',
    maxWorkers: FILES_AT_ONCE,
    // The SDK takes a trace at each promise of a workflow, a sixth of a test's time with ten lines; test/stack-traces.ts gives the tests theirs.
    execArgv: ['--stack-trace-limit=2'],
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/property-seed.ts', 'test/stack-traces.ts'],
    // A module is compiled once, for all projects and until it changes: in vitest's cache.
    fsModuleCache: true,
    // A shared machine has bad moments. `.ci/run` lists each test that needed it.
    retry: process.env.CI ? 1 : 0,
    // Vitest's own limit is a second.
    expect: { poll: { timeout: 50_000 } },
    // Not one for each suite: files share processes within a project only, and a process loads modules for two seconds.
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            'test/{unit,property,models,golden,architecture,replay}/**/*.test.ts',
            'packages/*/test/**/*.test.ts',
          ],
          globalSetup: ['test/unit-setup.ts'],
          // A test that needs longer than this is stuck: nothing here waits for a clock. Enough for a machine that others use too.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      { extends: true, test: { ...ON_TEMPORAL, name: 'system', include: ['test/{workflow,api,cli,ui}/**/*.test.ts'] } },
      // Whole systems with their processes, machines, kills and hours of users: `npm run test:journeys`.
      { extends: true, test: { ...ON_TEMPORAL, name: 'journeys', include: ['test/e2e/**/*.test.ts'] } },
    ],
  },
});
