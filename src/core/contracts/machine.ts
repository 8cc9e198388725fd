import { z } from 'zod';
import { HEALTHS } from '../machine-health.ts';
import { nameText } from './primitives.ts';
import { tagged } from './route.ts';
import type { Wire } from './wire.ts';

const machineSchema = z.strictObject({
  id: z.int().describe('In the inventory.'),
  name: z.string(),
  site: z.string().nullable(),
  cluster: z.int().nullable(),
  rack: z.string().nullable().describe('As its documents say; else the label `rack` of the node.'),
  health: z.enum(HEALTHS),
  reason: z.string().optional(),
  run: z.string().optional().describe('The open run that has it.'),
});

const machineListSchema = z
  .strictObject({ items: z.array(machineSchema) })
  .meta({ id: 'MachineList', description: 'Machines with one health each, by site, rack and name.' });

const machinesQuery = z.strictObject({ site: nameText(63).optional().describe('Only machines of this site.') });

export type Machine = Wire<typeof machineSchema>;

export const machineRoutes = tagged('nodes', {
  'GET /machines': {
    id: 'listMachines',
    access: 'viewer',
    summary: 'List machines with their health, from the store: MAAS is not asked',
    query: machinesQuery,
    answers: { 200: machineListSchema },
  },
});
