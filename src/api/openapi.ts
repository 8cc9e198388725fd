import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { Need } from '../core/access.ts';
import { describeAccess } from './openapi-access.ts';
import { tidyOpenapi } from './tidy-openapi.ts';

const TAGS = [
  { name: 'sites', description: 'Sites: machines, and the documents that describe them.' },
  { name: 'revisions', description: "Immutable sets of a site's documents." },
  { name: 'nodes', description: 'Machines of a site.' },
  { name: 'runs', description: 'Deployments and other runs: start, watch and control them.' },
  { name: 'releases', description: 'Releases, from which clusters are created.' },
  { name: 'clusters', description: 'Environments: nodes of a release, with settings.' },
  { name: 'inventory', description: 'Nodes of the inventory, with or without a cluster.' },
  { name: 'roles', description: 'Purposes of nodes.' },
  { name: 'plugins', description: 'Extensions of clusters.' },
  {
    name: 'graphs',
    description: 'Task graphs of releases, plugins and clusters: store, check, plan and draw them.',
  },
  { name: 'deployments', description: "Graph runs on clusters, in Fuel's format: start them, read their results." },
  { name: 'tags', description: 'What places tasks on nodes: of releases, clusters, roles and single nodes.' },
  { name: 'packages', description: 'Installed packages, which bring releases and plugins.' },
  { name: 'schedules', description: 'Runs at set times.' },
  { name: 'notices', description: 'Who is told what has happened.' },
  { name: 'access', description: 'Tokens and identity.' },
  { name: 'service', description: 'The service itself.' },
];

/** Describes all routes registered after it at `/openapi.json`, and shows the description at `/docs/api`. */
export async function describeRoutes(app: FastifyInstance, version: string, tokensOn: boolean): Promise<void> {
  const needs = new Map<string, Need>();
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const one of [method].flat()) needs.set(`${one} ${url.replace(/:(\w+)/g, '{$1}')}`, config?.access ?? 'admin');
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sitewright',
        version,
        description: 'Deploys bare-metal sites through MAAS, durably. Errors follow RFC 9457 (problem details).',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/', description: 'The API that serves this description.' }],
      tags: TAGS,
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => {
      const object = tidyOpenapi(jsonSchemaTransformObject(document));
      describeAccess(object, (method, path) => needs.get(`${method} ${path}`) ?? 'admin', tokensOn);
      return object as ReturnType<typeof jsonSchemaTransformObject>;
    },
  });
  await app.register(async (reference) => {
    reference.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'viewer' };
    });
    await reference.register(swaggerUi, { routePrefix: '/docs/api', logLevel: 'silent' });
  });
  app.get('/openapi.json', { schema: { hide: true }, config: { access: 'viewer' } }, async (_request, reply) =>
    reply.type('application/json').send(JSON.stringify(app.swagger())),
  );
}
