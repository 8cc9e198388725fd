import { setTimeout as delay } from 'node:timers/promises';
import { given } from '../../core/data/given.ts';
import { reboot as type } from '../../core/task-types/machines.ts';
import { type MaasCall, maasTaskType } from './task-type.ts';

const POLL_MS = 2_000;

/**
 * Restarts a node through its power supply, when its own `reboot` did not work or the node does not answer. The node's
 * boot id shows whether it came up.
 */
export const reboot = maasTaskType(type, {
  run: async ({ timeout }, task) => {
    const { systemId, hostname, comment, options } = task;
    const { machines } = task.maas.client;
    const { signal } = options;
    const end = performance.now() + timeout * 1000;
    // An earlier process switched it off already: doing so again would be a second restart.
    if (task.reached !== 'off') {
      await task.mayChange();
      await machines.powerOff(systemId, { stopMode: 'hard', comment }, signal);
      if (!(await becomes(task, 'off', end))) return { ok: false, message: `${hostname} did not power off in time` };
      task.reach('off');
    }
    await task.mayChange();
    await machines.powerOn(systemId, comment, signal);
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
