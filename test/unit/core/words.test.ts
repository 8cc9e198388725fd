import { expect, it } from 'vitest';
import { OUTCOMES, STATES } from '../../../src/core/outcomes.ts';
import * as words from '../../../src/core/words.ts';

it('every status of a task is ranked from worst to best', () => {
  expect([...words.TASK_STATUSES_WORST_FIRST].sort()).toEqual([...words.TASK_STATUSES].sort());
});

it('only statuses of nodes, clusters, releases and builds have words outside the two closed lists', () => {
  const known: readonly string[] = [...OUTCOMES, ...STATES];
  const lists = Object.entries<unknown>(words).filter(
    (entry): entry is [string, readonly string[]] =>
      Array.isArray(entry[1]) && /(STATES|STATUSES|OUTCOMES)/.test(entry[0]),
  );
  const foreign = lists.filter(([, list]) => list.some((word) => !known.includes(word))).map(([name]) => name);
  expect(foreign.sort()).toEqual(['CLUSTER_STATUSES', 'NODE_STATUSES', 'RELEASE_STATES', 'WORKER_VERSION_STATUSES']);
});
