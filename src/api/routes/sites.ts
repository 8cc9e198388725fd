import { z } from 'zod';
import { siteParams } from '../../core/contracts/primitives.js';
import { newSiteBody, siteListSchema, siteSchema } from '../../core/contracts/site.js';
import { actorOf } from '../requests/actor.js';
import { viewSite } from '../views/site.js';
import { given, problems, type RouteGroup } from './route-group.js';

const tags = ['sites'];

export const siteRoutes: RouteGroup = async (app, { operations: { sites } }) => {
  app.post('/sites', {
    schema: {
      operationId: 'createSite',
      summary: 'Create a site',
      tags,
      body: newSiteBody,
      response: { 201: siteSchema, ...problems(400, 409, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      const site = await sites.create(given(request.body), actorOf(request));
      return reply
        .code(201)
        .header('location', `/api/v1/sites/${encodeURIComponent(site.name)}`)
        .send(viewSite(site));
    },
  });

  app.get('/sites', {
    schema: {
      operationId: 'listSites',
      summary: 'List all sites, by name',
      tags,
      response: { 200: siteListSchema, ...problems(503) },
    },
    handler: async () => ({ items: (await sites.list()).map(viewSite) }),
  });

  app.get('/sites/:site', {
    schema: {
      operationId: 'getSite',
      summary: 'Show a site',
      tags,
      params: siteParams,
      response: { 200: siteSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => viewSite(await sites.get(request.params.site)),
  });

  app.delete('/sites/:site', {
    schema: {
      operationId: 'deleteSite',
      summary: 'Delete a site with its revisions; its runs and audit entries stay',
      tags,
      params: siteParams,
      response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 409, 503) },
    },
    handler: async (request, reply) => {
      await sites.delete(request.params.site, actorOf(request));
      return reply.code(204).send();
    },
  });
};
