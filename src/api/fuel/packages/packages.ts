import { installedSchema, packageRoutes, packageSchema } from '../../../core/contracts/fuel/packages.ts';
import type { InstalledPackage, PackageView } from '../../../ops/index.ts';
import { actorOf } from '../../requests/actor.ts';
import { type RouteGroup, serve } from '../../serve.ts';
import { shown } from '../../shown.ts';
import { isSet } from '../request-parts.ts';
import { ArchiveSlots, DEFAULT_ARCHIVE_INTAKE } from './archive-slots.ts';
import { readArchiveBodies, withReceivedArchive } from './receive-archive.ts';

const showPackage = shown(packageSchema);
const showInstalled = shown(installedSchema);

const viewPackage = ({ package: record, ...made }: PackageView) => showPackage({ ...record, ...made });
const viewInstalled = ({ package: record, ...made }: InstalledPackage) => showInstalled({ ...record, ...made });

/** Installed packages. */
export const servePackages: RouteGroup = async (
  app,
  { operations: { packages }, archives = DEFAULT_ARCHIVE_INTAKE },
) => {
  const slots = new ArchiveSlots(archives.atOnce);
  readArchiveBodies(app);
  serve(app, packageRoutes, {
    'GET /packages': async () => (await packages.list()).map(viewPackage),
    async 'POST /packages'(request, reply) {
      slots.take(reply);
      const [force, beside] = [isSet(request.query.force), isSet(request.query.beside)];
      const installed = await withReceivedArchive(request.body, archives.maxBytes, (file) =>
        packages.install(file, { force, beside }, actorOf(request)),
      );
      if (installed.created) void reply.code(201);
      return viewInstalled(installed);
    },
    'GET /packages/:id': async ({ params }) => viewPackage(await packages.get(params.id)),
    async 'GET /packages/:id/archive'({ params }, reply) {
      slots.take(reply);
      const { name, content } = await packages.archive(params.id);
      return reply
        .header('content-disposition', `attachment; filename="${name}"`)
        .type('application/octet-stream')
        .send(Buffer.from(content));
    },
    'DELETE /packages/:id': (request) => packages.remove(request.params.id, actorOf(request)),
    'POST /packages/sync': async (request) =>
      (await packages.sync(request.body.ids, actorOf(request))).map(viewPackage),
    async 'POST /plugins/sync'(request) {
      await packages.sync(request.body?.ids, actorOf(request));
      return {};
    },
  });
};
