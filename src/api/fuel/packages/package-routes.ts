import { z } from 'zod';
import type { InstalledPackage, PackageOperations, PackageView } from '../../../ops/index.js';
import { actorOf } from '../../requests/actor.js';
import { problems, type RouteGroup } from '../../routes/route-group.js';
import { flagText, idParams, isSet } from '../request-parts.js';
import { installedSchema, packageListSchema, packageSchema, syncBody } from './package-schemas.js';
import { MAX_ARCHIVE_BYTES, readArchiveBodies, withReceivedArchive } from './receive-archive.js';

const tags = ['packages'];
const params = idParams('package');

/** Installed packages. */
export const packageRoutes: RouteGroup = async (app, { operations }) => {
  const use: PackageOperations = operations.packages;
  readArchiveBodies(app);

  app.get('/packages', {
    schema: {
      operationId: 'listPackages',
      summary: 'List installed packages',
      tags,
      response: { 200: packageListSchema, ...problems(503) },
    },
    handler: async () => (await use.list()).map(viewPackage),
  });

  app.post('/packages', {
    bodyLimit: MAX_ARCHIVE_BYTES,
    schema: {
      operationId: 'installPackage',
      summary: 'Install a package, or bring what is installed to it: the body is the archive',
      description:
        'All of it or nothing. 201 when it is new, 200 when it replaced what was there. An older version than the installed one needs force.',
      tags,
      querystring: z.strictObject({
        force: flagText.optional().describe('Go back to an older version, or take over what was made by hand.'),
      }),
      response: { 200: installedSchema, 201: installedSchema, ...problems(400, 409, 413, 415, 503) },
    },
    handler: async (request, reply) => {
      const force = isSet(request.query.force);
      const installed = await withReceivedArchive(request.body, MAX_ARCHIVE_BYTES, (file) =>
        use.install(file, { force }, actorOf(request)),
      );
      return reply.code(installed.created ? 201 : 200).send(viewInstalled(installed));
    },
  });

  app.get('/packages/:id', {
    schema: {
      operationId: 'getPackage',
      summary: 'Show an installed package',
      tags,
      params,
      response: { 200: packageSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => viewPackage(await use.get(request.params.id)),
  });

  app.get('/packages/:id/archive', {
    schema: {
      operationId: 'getPackageArchive',
      summary: 'Download the archive of an installed package',
      tags,
      params,
      response: {
        200: { description: 'The archive.', content: { 'application/gzip': { schema: z.string() } } },
        ...problems(400, 404, 503),
      },
    },
    handler: async (request, reply) => {
      const { name, content } = await use.archive(request.params.id);
      reply.header('content-type', 'application/gzip');
      reply.header('content-disposition', `attachment; filename="${name}"`);
      // The answer is bytes: what is checked against schemas is JSON.
      reply.serializer((bytes: unknown) => bytes as string);
      return reply.send(Buffer.from(content) as never);
    },
  });

  app.delete('/packages/:id', {
    schema: {
      operationId: 'removePackage',
      summary: 'Remove a package with its releases and plugin, which no cluster may use',
      tags,
      params,
      response: { 204: z.undefined().describe('It is gone.'), ...problems(400, 404, 409, 503) },
    },
    handler: async (request, reply) => {
      await use.remove(request.params.id, actorOf(request));
      return reply.code(204).send();
    },
  });

  app.post('/packages/sync', {
    schema: {
      operationId: 'syncPackages',
      summary: 'Read packages again, from the folder of packages or from what is stored, and bring everything to them',
      tags,
      body: syncBody,
      response: { 200: packageListSchema, ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => (await use.sync(request.body.ids, actorOf(request))).map(viewPackage),
  });

  app.post('/plugins/sync', {
    schema: {
      operationId: 'syncPlugins',
      summary: 'The same, as clients of the Fuel line ask for it',
      tags: ['plugins'],
      body: syncBody.nullable(),
      response: { 200: z.strictObject({}).describe('Done.'), ...problems(400, 404, 409, 413, 415, 503) },
    },
    handler: async (request) => {
      await use.sync(request.body?.ids, actorOf(request));
      return {};
    },
  });
};

const made = (all: readonly { readonly id: number; readonly name: string; readonly version: string }[]) =>
  all.map(({ id, name, version }) => ({ id, name, version }));

function viewPackage({ package: record, releases, plugins }: PackageView) {
  return {
    id: record.id,
    name: record.name,
    version: record.version,
    package_version: record.packageVersion,
    kind: record.kind,
    checksum: record.checksum,
    size: record.size,
    installed_at: record.installedAt,
    updated_at: record.updatedAt,
    releases: made(releases),
    plugins: made(plugins),
  };
}

const viewInstalled = ({ created, replaced, warnings, ...view }: InstalledPackage) => ({
  ...viewPackage(view),
  created,
  replaced,
  warnings: warnings.map(({ severity, code, message, hint, file, line, column, path, text }) => ({
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(file === undefined ? {} : { file }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(path === undefined ? {} : { path }),
    ...(text === undefined ? {} : { text }),
  })),
});
