import { releaseMachine } from '@sitewright/maas';
import * as machines from '../../core/task-types/machines.ts';
import { type MaasCall, type MaasWorkEnd, maasTaskType } from './task-type.ts';

async function release(task: MaasCall, erase: object): Promise<MaasWorkEnd> {
  const { maas, systemId, site, comment, options } = task;
  const outcome = await releaseMachine(maas, { systemId, site, comment, ...erase }, options);
  if (!outcome.ok) return { ok: false, message: `${outcome.failure.message}; ${outcome.failure.hint}` };
  await task.released(outcome);
  const warnings = outcome.warnings.map(({ message }) => message);
  return { ok: true, changed: outcome.actions.length > 0, warnings };
}

/** Releases the machine and erases its disks. */
export const eraseNode = maasTaskType(machines.eraseNode, {
  run: ({ secure_erase }, task) =>
    release(task, { erase: true, ...(secure_erase ? { secureErase: true } : { quickErase: true }) }),
});

/** Releases the machine: it is bare again, as when it was discovered. */
export const moveToBootstrap = maasTaskType(machines.moveToBootstrap, { run: (_, task) => release(task, {}) });
