import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import LongestFirst from './test/longest-first.ts';
import Measures from './test/measures.ts';
import { emptyHome, seeNothingOutside } from './test/nothing-outside.ts';

seeNothingOutside();

/**
 * A file that works with servers and processes waits for them three quarters of its time; what people wait for works half of it.
 * Each process loads the modules for about three seconds of its processor. Vitest itself would take one on two cores, and runs
 * projects with different numbers one after the other.
 */
const FILES_AT_ONCE = { onServers: 8, simulated: 4 };

// Modules of packages are compiled once, for all processes and runs.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('./node_modules/.cache/sitewright/compiled', import.meta.url));

/** What people wait for. */
const SIMULATED = { env: { HOME: emptyHome() }, maxWorkers: FILES_AT_ONCE.simulated };

/** After what people wait for: projects with another number of files at once run in a group of their own. */
const AFTERWARDS = { sequence: { groupOrder: 1 } };

const UNIT = {
  globalSetup: ['test/unit-setup.ts'],
  // A test that needs longer than this is stuck: nothing here waits for a clock. Enough for a machine that others use too.
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

/** Tests of tests, each night: `.ci/nightly tests`. `.ci/run` has `npm run simulate`. */
const NIGHTLY = ['test/unit/simulation/seeds.test.ts'];

/** What `npm test` leaves to `.ci/run`, with the reason: each costs as much as a suite, or needs what few machines have. */
const LARGE = [
  'test/unit/agent/puppet.test.ts', // Puppet
  'test/unit/store/processes.test.ts', // a PostgreSQL and a process for each writer
  'test/unit/platform/temporal/{dev-server,foreign-pages}.test.ts', // servers of their own
  'test/unit/deploy/chart.test.ts', // helm and the schemas of Kubernetes
  'test/unit/scripts/release.test.ts', // clones of the repository
  'test/unit/scripts/workflow-bundle.test.ts',
  'test/models/**/*.test.ts',
];

const ON_TEMPORAL = {
  // One server and one workflow bundle for all.
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
    maxWorkers: FILES_AT_ONCE.onServers,
    // The SDK takes a trace at each promise of a workflow, a sixth of a test's time with ten lines; test/stack-traces.ts gives the tests theirs.
    execArgv: ['--stack-trace-limit=2'],
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/measured-file.ts', 'test/default-ports.ts', 'test/property-seed.ts', 'test/stack-traces.ts'],
    reporters: ['default', new Measures()],
    // A module is compiled once, for all projects and until it changes: in vitest's cache.
    fsModuleCache: true,
    // Vitest's own limit is a second.
    expect: { poll: { timeout: 50_000 } },
    // Not one for each suite: files share processes within a project only, and a process loads modules for two seconds.
    projects: [
      {
        extends: true,
        test: {
          ...UNIT,
          ...SIMULATED,
          name: 'unit',
          include: ['test/{unit,property,golden,architecture,replay}/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...LARGE, ...NIGHTLY],
        },
      },
      // Workflows, API and page on the simulated Temporal of `packages/temporal-simulator`, in the process of each file.
      {
        extends: true,
        test: { ...ON_TEMPORAL, ...SIMULATED, name: 'system', include: ['test/{workflow,api,ui}/**/*.test.ts'] },
      },
      // From here on, `.ci/run`.
      { extends: true, test: { ...UNIT, ...AFTERWARDS, name: 'large', include: LARGE } },
      { extends: true, test: { ...UNIT, ...AFTERWARDS, name: 'nightly', include: NIGHTLY } },
      // The same on a real server, and what is about servers: test/temporal.
      {
        extends: true,
        test: {
          ...ON_TEMPORAL,
          ...AFTERWARDS,
          name: 'server',
          include: ['test/{temporal,workflow,api,ui}/**/*.test.ts'],
        },
      },
      // Whole systems with their processes, machines, kills and hours of users: `npm run test:journeys`.
      { extends: true, test: { ...ON_TEMPORAL, ...AFTERWARDS, name: 'journeys', include: ['test/e2e/**/*.test.ts'] } },
    ],
  },
});
