import { cobblerSync as type } from '../../core/task-types/machines.ts';
import { maasTaskType } from './task-type.ts';

/** MAAS manages DHCP and DNS itself, so a sync only checks that it answers. */
export const cobblerSync = maasTaskType(type, {
  needsMachine: false,
  run: async (_, { maas, options }) => {
    await maas.client.username(options.signal);
    return { ok: true, changed: false, warnings: [] };
  },
});
