/**
 * Types of tasks about a node that the orchestrator's host carries out, through MAAS: the node itself cannot, and need
 * not be there. They go to the queue of the agent `master`.
 */
export const ON_MASTER: ReadonlySet<string> = new Set(['cobbler_sync', 'erase_node', 'move_to_bootstrap']);
