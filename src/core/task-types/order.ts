import { taskType } from './task-type.js';

const placeInTheOrder = {
  over: ['agent', 'ssh'],
  parameters: {},
  limits: () => ({ timeoutSec: 60, killGraceSec: 0 }),
} as const;

export const group = taskType('group', {
  kind: 'order',
  over: [],
  does: 'Places the tasks of its `tasks` on its nodes, too, and says how many of them may fail ([graphs](graphs.md)).',
  parameters: {},
});

export const stage = taskType('stage', {
  ...placeInTheOrder,
  kind: 'order',
  does: 'A point in the order that all nodes can wait for. Always `skipped`.',
  examples: [{ parameters: {}, result: { outcome: 'skipped', changed: false, tries: [] } }],
});

export const skipped = taskType('skipped', {
  ...placeInTheOrder,
  kind: 'order',
  does: 'Switches a task of a lower layer off, and keeps its place in the order. Always `skipped`.',
});

export const noop = taskType('noop', {
  ...placeInTheOrder,
  kind: 'nothing',
  does: 'Takes its turn, and does nothing. Always `skipped`.',
});

export const role = taskType('role', {
  over: [],
  does: 'A name that old graphs have for `group`. Accepted in graphs; nothing carries it out.',
  parameters: {},
});
