import { z } from 'zod';
import { diagnosticSchema } from '../../../core/contracts/problem.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { commaList, idParams, idsIn } from '../request-parts.js';

const findingSchema = diagnosticSchema
  .extend({
    nodes: z.array(z.int()).optional().describe('Ids of the nodes it is about.'),
    role: z.string().optional(),
    tags: z.array(z.string()).optional(),
  })
  .meta({ id: 'ClusterFinding' });

const checksSchema = z
  .strictObject({
    ok: z.boolean().describe('No error: a run may start.'),
    findings: z.array(findingSchema),
  })
  .meta({ id: 'ClusterChecks' });

/** What stands between a cluster and its next run. */
export const checkRoutes: RouteGroup = async (app, { operations }) => {
  app.get('/clusters/:id/checks', {
    schema: {
      operationId: 'checkCluster',
      summary: 'Tell what is wrong with a cluster before a run: nodes, roles, settings, limits, tags left over',
      tags: ['clusters'],
      params: idParams('cluster'),
      querystring: z.strictObject({ nodes: commaList('Ids of the nodes of the run') }),
      response: { 200: checksSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => {
      const findings = await operations.checks.check(request.params.id, idsIn(request.query.nodes, 'nodes'));
      return {
        ok: !findings.some(({ severity }) => severity === 'error'),
        findings: findings.map((one) => ({ ...one, nodes: [...(one.nodes ?? [])], tags: [...(one.tags ?? [])] })),
      };
    },
  });
};
