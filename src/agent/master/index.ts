import { cobblerSync } from './cobbler-sync.js';
import { reboot } from './power-cycle.js';
import { eraseNode, moveToBootstrap } from './release-node.js';
import type { MaasTaskType } from './task-type.js';

export type { MaasTaskEnd, MaasTaskType } from './task-type.js';

/**
 * Task types that the orchestrator's host carries out through MAAS. To add one, add a file to this folder and an entry
 * here.
 */
const registered: readonly MaasTaskType[] = [cobblerSync, eraseNode, moveToBootstrap, reboot];

export const maasTaskTypes: ReadonlyMap<string, MaasTaskType> = new Map(registered.map((type) => [type.name, type]));
