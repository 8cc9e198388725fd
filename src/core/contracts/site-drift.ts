import { z } from 'zod';
import { OUT_OF_SERVICE } from '../node-system.ts';
import { maintenanceSchema, siteParams, timestamp } from './primitives.ts';
import { tagged } from './route.ts';
import type { Wire } from './wire.ts';

const siteDriftSchema = z
  .strictObject({
    site: z.string(),
    checked_at: timestamp,
    nodes: z.array(
      z.strictObject({
        node: z.string(),
        state: z
          .enum(['same', 'drifted', 'missing', 'unrecorded', ...OUT_OF_SERVICE])
          .describe(
            '`missing`: MAAS no longer lists its machine. `unrecorded`: it was deployed before this was recorded; its next deployment records it. The last three have nothing to compare: their deployment failed, they were released and not deployed again, or never deployed.',
          ),
        reason: z.string().optional().describe('Why it does not serve.'),
        system_id: z.string().nullable(),
        deployed_at: timestamp.nullable(),
        run: z.string().nullable().describe('The run that deployed it.'),
        revision: z.int().nullable().describe('The revision it was deployed with.'),
        maintenance: maintenanceSchema.optional().describe('People work on it: it may differ for that reason.'),
        differences: z.array(
          z.strictObject({
            what: z.string().describe('`system`, `owner`, `tag gpu`, `interface eth0` …'),
            deployed: z.string().nullable(),
            now: z.string().nullable(),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'SiteDrift', description: 'Differences between MAAS and the deployment, by node.' });

export type SiteDrift = Wire<typeof siteDriftSchema>;

export const siteDriftRoutes = tagged('nodes', {
  'GET /sites/:site/drift': {
    id: 'getSiteDrift',
    access: 'viewer',
    summary: 'Compare the machines in MAAS with their deployment',
    params: siteParams,
    answers: { 200: siteDriftSchema },
  },
});
