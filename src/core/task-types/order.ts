import { taskType } from './task-type.ts';

const placeInTheOrder = {
  over: ['agent'],
  parameters: {},
  limits: () => ({ timeoutSec: 60, killGraceSec: 0 }),
} as const;

export const group = taskType('group', {
  over: [],
  does: 'Also places the tasks listed in its `tasks` on its nodes, and sets how many of them may fail ([graphs](graphs.md)).',
  parameters: {},
});

export const stage = taskType('stage', {
  ...placeInTheOrder,
  does: 'A point in the order for which all nodes can wait. Always `skipped`.',
  examples: [{ parameters: {}, result: { outcome: 'skipped', changed: false, tries: [] } }],
});

export const skipped = taskType('skipped', {
  ...placeInTheOrder,
  does: 'Disables a task of a lower layer but keeps its place in the order. Always `skipped`.',
});

export const noop = taskType('noop', {
  ...placeInTheOrder,
  does: 'Does nothing when its turn comes. Always `skipped`.',
});

export const role = taskType('role', {
  over: [],
  does: 'The name of `group` in old graphs. Accepted in graphs, but not carried out.',
  parameters: {},
});
