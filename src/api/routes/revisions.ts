import { pageQuery, revisionParams, siteParams } from '../../core/contracts/primitives.js';
import {
  checkQuery,
  commitSchema,
  documentCheckSchema,
  documentsBody,
  newRevisionBody,
  newRevisionQuery,
  revisionFilesSchema,
  revisionPageSchema,
  revisionSchema,
} from '../../core/contracts/revision.js';
import { differenceQuery, siteDifferenceSchema, strategySchema } from '../../core/contracts/strategy.js';
import { viewStrategy } from '../../ops/index.js';
import { actorOf } from '../requests/actor.js';
import { readYamlBodies } from '../requests/read-bodies.js';
import { viewRevision, viewRevisionPage } from '../views/site.js';
import { given, isTrue, problems, type RouteGroup } from './route-group.js';

const tags = ['revisions'];

/** Documents of a site of thousands of machines, in one request. */
const DOCUMENTS_LIMIT = 32 * 1024 * 1024;

export const revisionRoutes: RouteGroup = async (app, { operations: { sites } }) => {
  readYamlBodies(app);

  app.post('/sites/:site/revisions', {
    bodyLimit: DOCUMENTS_LIMIT,
    schema: {
      operationId: 'commitRevision',
      summary: "Commit documents as the site's next revision",
      description:
        'All problems are told at once, with their places. Documents with errors are not stored, unless forced.',
      tags,
      params: siteParams,
      querystring: newRevisionQuery,
      body: newRevisionBody,
      response: {
        201: commitSchema.describe('Stored.'),
        200: commitSchema.describe('Nothing was stored: a dry run, or the same as the latest revision.'),
        ...problems(400, 404, 413, 415, 503),
      },
    },
    handler: async (request, reply) => {
      const { force, dry_run, message, author } = request.query;
      const { body } = request;
      const { revision, created, ...check } = await sites.commit(
        request.params.site,
        given({
          files: body.files,
          message: body.message ?? message,
          author: actorOf(request, body.author ?? author),
          force: body.force ?? isTrue(force),
          dry_run: body.dry_run ?? isTrue(dry_run),
        }),
      );
      const shown = revision === null ? null : viewRevision(revision);
      if (created && shown) {
        const site = encodeURIComponent(shown.site);
        void reply.code(201).header('location', `/api/v1/sites/${site}/revisions/${shown.number}`);
      }
      return { ...check, revision: shown, created };
    },
  });

  app.post('/documents/check', {
    bodyLimit: DOCUMENTS_LIMIT,
    schema: {
      operationId: 'checkDocuments',
      summary: 'Check documents without a site; nothing is stored',
      tags,
      querystring: checkQuery,
      body: documentsBody,
      response: { 200: documentCheckSchema, ...problems(400, 413, 415) },
    },
    handler: async (request) => sites.check(request.body.files),
  });

  app.get('/sites/:site/revisions', {
    schema: {
      operationId: 'listRevisions',
      summary: "List a site's revisions, newest first",
      tags,
      params: siteParams,
      querystring: pageQuery,
      response: { 200: revisionPageSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => viewRevisionPage(await sites.revisions(request.params.site, request.query)),
  });

  app.get('/sites/:site/revisions/:ref', {
    schema: {
      operationId: 'getRevision',
      summary: 'Show a revision, without its files',
      tags,
      params: revisionParams,
      response: { 200: revisionSchema, ...problems(400, 404, 409, 503) },
    },
    handler: async (request) => viewRevision(await sites.revision(request.params.site, request.params.ref)),
  });

  app.get('/sites/:site/revisions/:ref/files', {
    schema: {
      operationId: 'getRevisionFiles',
      summary: 'Read the files of a revision, as they were committed',
      tags,
      params: revisionParams,
      response: { 200: revisionFilesSchema, ...problems(400, 404, 409, 503) },
    },
    handler: async (request) => {
      const { number, hash, files } = await sites.revision(request.params.site, request.params.ref);
      return { revision: number, hash, files };
    },
  });

  app.get('/sites/:site/revisions/:ref/strategy', {
    schema: {
      operationId: 'getStrategy',
      summary: "Show a revision's deployment groups with their nodes, order and thresholds",
      tags,
      params: revisionParams,
      response: { 200: strategySchema, ...problems(400, 404, 409, 503) },
    },
    handler: async (request) => viewStrategy((await sites.documents(request.params.site, request.params.ref)).site),
  });

  app.get('/sites/:site/revisions/:ref/difference', {
    schema: {
      operationId: 'compareRevisions',
      summary: 'Show what a revision wants that was not deployed, or not in another revision',
      tags,
      params: revisionParams,
      querystring: differenceQuery,
      response: { 200: siteDifferenceSchema, ...problems(400, 404, 503) },
    },
    handler: async ({ params: { site, ref }, query: { since = 'last-good' } }) => ({
      site,
      ...(await sites.difference(site, ref, since)),
    }),
  });
};
