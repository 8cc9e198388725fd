import { releaseMachine } from '../../maas/index.js';
import type { MaasTask, MaasTaskEnd, MaasTaskType } from './task-type.js';

async function release(task: MaasTask, erase: object): Promise<MaasTaskEnd> {
  const { maas, systemId, site, comment, options } = task;
  const outcome = await releaseMachine(maas, { systemId, site, comment, ...erase }, options);
  if (!outcome.ok) return { ok: false, message: `${outcome.failure.message}; ${outcome.failure.hint}` };
  const warnings = outcome.warnings.map(({ message }) => message);
  return { ok: true, changed: outcome.actions.length > 0, warnings };
}

/**
 * Gives the machine back with its disks erased: quickly (both ends of each disk, as a boot needs them), or wholly with
 * `secure_erase: true` where the disks can. Nothing of what was deployed starts again.
 */
export const eraseNode: MaasTaskType = {
  name: 'erase_node',
  needsMachine: true,
  run: (task) => {
    const isSecure = task.parameters.secure_erase === true;
    return release(task, { erase: true, ...(isSecure ? { secureErase: true } : { quickErase: true }) });
  },
};

/** Makes the machine bare again, as it was when it was discovered: released, Ready for the next deployment. */
export const moveToBootstrap: MaasTaskType = {
  name: 'move_to_bootstrap',
  needsMachine: true,
  run: (task) => release(task, {}),
};
