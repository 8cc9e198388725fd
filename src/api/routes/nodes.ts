import { nodeHistoryPageSchema, nodeStatusesSchema, nodesStatusQuery } from '../../core/contracts/node-in-run.js';
import { pageQuery, revisionParams, siteNodeParams, siteParams } from '../../core/contracts/primitives.js';
import { selectBody, selectedSchema } from '../../core/contracts/strategy.js';
import { viewNodeHistoryPage } from '../views/run.js';
import { given, problems, type RouteGroup } from './route-group.js';

const tags = ['nodes'];

export const nodeRoutes: RouteGroup = async (app, { operations: { nodes } }) => {
  app.post('/sites/:site/revisions/:ref/select', {
    schema: {
      operationId: 'selectNodes',
      summary: 'Name the nodes of a revision that selectors select',
      tags,
      params: revisionParams,
      body: selectBody,
      response: { 200: selectedSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => {
      const { site, ref } = request.params;
      return nodes.select(site, ref, request.body.selectors.map(given));
    },
  });

  app.get('/sites/:site/nodes/status', {
    schema: {
      operationId: 'getNodeStatuses',
      summary: "Show a site's nodes as MAAS knows them now, or as it knew them last",
      tags,
      params: siteParams,
      querystring: nodesStatusQuery,
      response: { 200: nodeStatusesSchema, ...problems(400, 404, 409, 503) },
    },
    handler: async (request) => nodes.status(request.params.site, request.query.revision),
  });

  app.get('/sites/:site/nodes/:node/history', {
    schema: {
      operationId: 'getNodeHistory',
      summary: 'Show what runs did to a node, newest first',
      tags,
      params: siteNodeParams,
      querystring: pageQuery,
      response: { 200: nodeHistoryPageSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => {
      const { site, node } = request.params;
      return viewNodeHistoryPage(await nodes.history(site, node, request.query));
    },
  });
};
