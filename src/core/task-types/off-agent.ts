/** Types without work. `order`: only places and orders other tasks. `nothing`: ends as soon as its turn comes. */
const KINDS: Readonly<Record<string, 'order' | 'nothing'>> = {
  group: 'order',
  noop: 'nothing',
  skipped: 'order',
  stage: 'order',
};

/** Types that MAAS runs, from the orchestrator's host: the node itself cannot, and may be offline. */
const MAAS_TYPES: ReadonlySet<string> = new Set(['cobbler_sync', 'erase_node', 'move_to_bootstrap']);

/**
 * Task types for workflows. A type that is not listed here has work that an agent does. This file is separate
 * from the other descriptions to keep their documentation out of the workflow bundle.
 */
export const kindOfType = (type: string): 'work' | 'order' | 'nothing' =>
  Object.hasOwn(KINDS, type) ? KINDS[type]! : 'work';

/** Whether tasks of the type have work. Tasks without work never become activities. */
export const hasWork = (type: string | undefined): boolean => type === undefined || kindOfType(type) === 'work';

/** Whether tasks of the type go to the agent `master`, whichever node they are for. */
export const goesToMaster = (type: string): boolean => MAAS_TYPES.has(type);
