import { siteListSchema, siteRoutes, siteSchema, webhookRoutes } from '../../core/contracts/sites.ts';
import { RequestError } from '../problems/transport-problem.ts';
import { actorOf } from '../requests/actor.ts';
import { given } from '../requests/given.ts';
import { type RouteGroup, serve } from '../serve.ts';
import { shown } from '../shown.ts';

const view = shown(siteSchema);
const viewList = shown(siteListSchema);

export const serveSites: RouteGroup = async (app, { operations: { sites } }) =>
  serve(app, siteRoutes, {
    async 'POST /sites'(request, reply) {
      const site = await sites.create(request.body, actorOf(request));
      void reply.header('location', `/api/v1/sites/${encodeURIComponent(site.name)}`);
      return view(site);
    },
    'GET /sites': async () => viewList({ items: await sites.list() }),
    'GET /sites/:site': async ({ params }) => view(await sites.get(params.site)),
    async 'PUT /sites/:site/source'(request) {
      const { webhook_secret, hold_before, ...source } = request.body;
      const followed = given({ ...source, webhookSecret: webhook_secret, holdBefore: hold_before });
      return view(await sites.follow(request.params.site, followed, actorOf(request)));
    },
    'DELETE /sites/:site/source': async (request) =>
      view(await sites.follow(request.params.site, null, actorOf(request))),
    'DELETE /sites/:site': async (request) => sites.delete(request.params.site, actorOf(request)),
  });

export const serveWebhooks: RouteGroup = async (app, { operations: { pushes } }) => {
  // The signature is of the bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => body);
  serve(app, webhookRoutes, {
    async 'POST /sites/:site/source/webhook'({ params, headers, body }) {
      const header = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
      const answer = await pushes.receive(params.site, {
        body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
        signature: header('x-hub-signature-256'),
        token: header('x-gitlab-token'),
      });
      if (answer.kind === 'started') return { run: answer.run };
      if (answer.kind === 'ignored') return { run: null };
      throw new RequestError({
        code: 'unauthenticated',
        message: 'the request is not signed with the webhook secret of this site',
        hint: "Set the secret with 'sitewright site follow SITE URL --webhook-secret SECRET', and configure its value at the host of the repository.",
      });
    },
  });
};
