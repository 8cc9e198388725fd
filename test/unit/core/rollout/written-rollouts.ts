import fc from 'fast-check';

const first = fc.oneof(
  fc.integer({ min: 1, max: 6 }),
  fc.integer({ min: 1, max: 100 }).map((percent) => `${percent}%`),
);

const then = fc.oneof(
  fc.constantFrom('double' as const, 'all' as const),
  first.map((add) => ({ add })),
  first.map((by) => ({ by })),
);

const stop_at = fc.oneof(
  fc.integer({ min: 1, max: 4 }).map((failed) => ({ failed })),
  fc.integer({ min: 1, max: 100 }).map((percent) => ({ percent })),
);

const soak = fc.integer({ min: 1, max: 60 }).map((seconds) => `${seconds}s`);

/** The first is asked once, the second for each node. */
const checks = fc.constantFrom(['wave'], ['nodes'], ['wave', 'nodes']);

/** As people write them. */
export const writtenRollouts = fc.record({ first, then, soak, stop_at, checks }, { requiredKeys: [] });
