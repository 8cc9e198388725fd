import { cobblerSync } from './cobbler-sync.ts';
import { reboot } from './power-cycle.ts';
import { eraseNode, moveToBootstrap } from './release-node.ts';
import type { MaasWork } from './task-type.ts';

export type { MaasCall, MaasWork, MaasWorkEnd } from './task-type.ts';

/**
 * Task types that the orchestrator's host carries out through MAAS. To add one, add a file to this folder and an entry
 * here.
 */
const registered: readonly MaasWork[] = [cobblerSync, eraseNode, moveToBootstrap, reboot];

export const maasTaskTypes: ReadonlyMap<string, MaasWork> = new Map(registered.map((type) => [type.name, type]));
