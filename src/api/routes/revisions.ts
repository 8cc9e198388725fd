import { revisionPageSchema, revisionRoutes, revisionSchema } from '../../core/contracts/revisions.ts';
import { actorOf } from '../requests/actor.ts';
import { given, isTrue } from '../requests/given.ts';
import { readYamlBodies } from '../requests/read-bodies.ts';
import { type RouteGroup, serve } from '../serve.ts';
import { shown } from '../shown.ts';

const view = shown(revisionSchema);
const viewPage = shown(revisionPageSchema);

export const serveRevisions: RouteGroup = async (app, { operations: { sites } }) => {
  readYamlBodies(app);
  serve(app, revisionRoutes, {
    async 'POST /sites/:site/revisions'(request, reply) {
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
      const shown = revision === null ? null : view(revision);
      if (created && shown) {
        const site = encodeURIComponent(shown.site);
        void reply.code(201).header('location', `/api/v1/sites/${site}/revisions/${shown.number}`);
      }
      return { ...check, revision: shown, created };
    },
    'POST /documents/check': ({ body }) => sites.check(body.files),
    'GET /sites/:site/revisions': async ({ params, query }) => viewPage(await sites.revisions(params.site, query)),
    'GET /sites/:site/revisions/:ref': async ({ params }) => view(await sites.revision(params.site, params.ref)),
    async 'GET /sites/:site/revisions/:ref/files'({ params }) {
      const { number, hash, files } = await sites.revision(params.site, params.ref);
      return { revision: number, hash, files };
    },
    async 'GET /sites/:site/revisions/:ref/rendered'({ params }) {
      const { record, documents } = await sites.rendered(params.site, params.ref);
      return { revision: record.number, hash: record.hash, documents };
    },
    'GET /sites/:site/revisions/:ref/strategy': ({ params }) => sites.strategy(params.site, params.ref),
    'GET /sites/:site/revisions/:ref/difference': async ({ params: { site, ref }, query }) => ({
      site,
      ...(await sites.difference(site, ref, query.since ?? 'last-good')),
    }),
  });
};
