import { setTimeout as delay } from 'node:timers/promises';
import { releaseMachine } from '@sitewright/maas';
import { given } from '../../core/data/given.ts';
import * as machines from '../../core/task-types/machines.ts';
import { type MaasCall, type MaasWork, type MaasWorkEnd, maasTaskType } from './task-type.ts';

/** MAAS manages DHCP and DNS itself, so a sync only checks that it answers. */
const cobblerSync = maasTaskType(machines.cobblerSync, {
  needsMachine: false,
  run: async (_, { maas, options }) => {
    await maas.client.username(options.signal);
    return { ok: true, changed: false, warnings: [] };
  },
});

async function release(task: MaasCall, erase: object): Promise<MaasWorkEnd> {
  const { maas, systemId, site, comment, options } = task;
  const outcome = await releaseMachine(maas, { systemId, site, comment, ...erase }, options);
  if (!outcome.ok) return { ok: false, message: `${outcome.failure.message}; ${outcome.failure.hint}` };
  await task.released(outcome);
  const warnings = outcome.warnings.map(({ message }) => message);
  return { ok: true, changed: outcome.actions.length > 0, warnings };
}

/** Releases the machine and erases its disks. */
const eraseNode = maasTaskType(machines.eraseNode, {
  run: ({ secure_erase }, task) =>
    release(task, { erase: true, ...(secure_erase ? { secureErase: true } : { quickErase: true }) }),
});

/** Releases the machine: it is bare again, as when it was discovered. */
const moveToBootstrap = maasTaskType(machines.moveToBootstrap, { run: (_, task) => release(task, {}) });

const POLL_MS = 2_000;

/**
 * Restarts a node through its power supply, when its own `reboot` did not work or the node does not answer. The node's
 * boot id shows whether it came up.
 */
const reboot = maasTaskType(machines.reboot, {
  run: async ({ timeout }, task) => {
    const { systemId, hostname, comment, options } = task;
    const maas = task.maas.client.machines;
    const { signal } = options;
    const end = performance.now() + timeout * 1000;
    // An earlier process switched it off already: doing so again would be a second restart.
    if (task.reached !== 'off') {
      await task.mayChange();
      await maas.powerOff(systemId, { stopMode: 'hard', comment }, signal);
      if (!(await becomes(task, 'off', end))) return { ok: false, message: `${hostname} did not power off in time` };
      task.reach('off');
    }
    await task.mayChange();
    await maas.powerOn(systemId, comment, signal);
    if (!(await becomes(task, 'on', end))) return { ok: false, message: `${hostname} did not power on again in time` };
    return { ok: true, changed: true, warnings: [] };
  },
});

async function becomes({ maas, systemId, options }: MaasCall, wanted: 'on' | 'off', end: number): Promise<boolean> {
  for (;;) {
    if ((await maas.client.machines.queryPower(systemId, options.signal)) === wanted) return true;
    if (performance.now() >= end) return false;
    await delay(POLL_MS, undefined, given({ signal: options.signal }));
  }
}

export type { MaasCall, MaasWork, MaasWorkEnd } from './task-type.ts';

/**
 * Task types that the orchestrator's host carries out through MAAS. To add one, add a file to this folder and an entry
 * here.
 */
const registered: readonly MaasWork[] = [cobblerSync, eraseNode, moveToBootstrap, reboot];

export const maasTaskTypes: ReadonlyMap<string, MaasWork> = new Map(registered.map((type) => [type.name, type]));
