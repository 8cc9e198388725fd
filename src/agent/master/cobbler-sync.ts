import type { MaasTaskType } from './task-type.js';

/** MAAS writes its DHCP and DNS itself: all that is left of a sync is that it answers. */
export const cobblerSync: MaasTaskType = {
  name: 'cobbler_sync',
  needsMachine: false,
  run: async ({ maas, options }) => {
    await maas.client.username(options.signal);
    return { ok: true, changed: false, warnings: [] };
  },
};
