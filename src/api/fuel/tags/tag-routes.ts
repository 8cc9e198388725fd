import { z } from 'zod';
import type { TagOperations, TagView } from '../../../ops/index.js';
import type { TagAssignment } from '../../../store/index.js';
import { actorOf } from '../../requests/actor.js';
import { given, problems, type RouteGroup } from '../../routes/route-group.js';
import { idParams, namedParams } from '../request-parts.js';
import { nodesIn, ownerIn, tagNameIn, tagNamesIn, uploadIn } from './tag-query.js';
import {
  assignBody,
  assignmentListSchema,
  ownedTagListSchema,
  ownedTagSchema,
  tagBody,
  tagListSchema,
  tagNamesBody,
  tagQuery,
  tagSchema,
} from './tag-schemas.js';

const OWNERS = [
  ['release', 'releases', 'Release'],
  ['cluster', 'clusters', 'Cluster'],
] as const;

const gone = z.undefined().describe('It is gone.');
const tags = ['tags'];

/** Tags of releases and clusters, by path; those of plugins can be read. */
export const tagRoutes: RouteGroup = async (app, { operations }) => {
  const use: TagOperations = operations.tags;
  for (const [kind, path, id] of OWNERS) {
    const params = idParams(kind);
    const named = namedParams(kind, 'tag');

    app.get(`/${path}/:id/tags`, {
      schema: {
        operationId: `list${id}Tags`,
        summary:
          kind === 'cluster'
            ? 'List the tags of a cluster, with those of its release and plugins'
            : 'List the tags of a release',
        tags,
        params,
        response: { 200: tagListSchema, ...problems(400, 404, 503) },
      },
      handler: async (request) => (await use.list({ kind, id: request.params.id })).map(plain),
    });

    app.post(`/${path}/:id/tags`, {
      schema: {
        operationId: `create${id}Tag`,
        summary: `Create a tag of a ${kind}`,
        tags,
        params,
        body: tagBody,
        response: { 201: tagSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request, reply) =>
        reply
          .code(201)
          .send(plain(await use.create({ kind, id: request.params.id }, given(request.body), actorOf(request)))),
    });

    app.get(`/${path}/:id/tags/:name`, {
      schema: {
        operationId: `get${id}Tag`,
        summary: `Show a tag of a ${kind}`,
        tags,
        params: named,
        response: { 200: tagSchema, ...problems(400, 404, 503) },
      },
      handler: async (request) => plain(await use.get({ kind, id: request.params.id }, request.params.name)),
    });

    app.put(`/${path}/:id/tags/:name`, {
      schema: {
        operationId: `replace${id}Tag`,
        summary: `Change a tag that a user made for a ${kind}`,
        tags,
        params: named,
        body: tagBody,
        response: { 200: tagSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request) => {
        const { id: owner, name } = request.params;
        return plain(await use.update({ kind, id: owner }, name, given(request.body), actorOf(request)));
      },
    });

    app.delete(`/${path}/:id/tags/:name`, {
      schema: {
        operationId: `delete${id}Tag`,
        summary: `Delete a tag that a user made for a ${kind}, and take it from all nodes`,
        tags,
        params: named,
        response: { 204: gone, ...problems(400, 404, 409, 503) },
      },
      handler: async (request, reply) => {
        await use.delete({ kind, id: request.params.id }, request.params.name, actorOf(request));
        return reply.code(204).send();
      },
    });
  }

  const plugin = idParams('plugin');
  app.get('/plugins/:id/tags', {
    schema: {
      operationId: 'listPluginTags',
      summary: 'List the tags a plugin brings',
      tags,
      params: plugin,
      response: { 200: tagListSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => (await use.list({ kind: 'plugin', id: request.params.id })).map(plain),
  });
};

/** Which nodes have which tags. */
export const tagAssignmentRoutes: RouteGroup = async (app, { operations }) => {
  const use: TagOperations = operations.tags;
  const node = idParams('node');

  app.get('/clusters/:id/tag_assignments', {
    schema: {
      operationId: 'listTagAssignments',
      summary: 'List which nodes of a cluster have which tags, and from whom',
      tags,
      params: idParams('cluster'),
      response: { 200: assignmentListSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => (await use.assignments(request.params.id)).map(viewAssignment),
  });

  app.get('/nodes/:id/tags', {
    schema: {
      operationId: 'listNodeTags',
      summary: 'List the tags of a node, and from whom it has them',
      tags,
      params: node,
      response: { 200: assignmentListSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => (await use.ofNode(request.params.id)).map(viewAssignment),
  });

  for (const [method, operationId, summary, act] of [
    ['POST', 'assignNodeTags', 'Assign tags to a node; what it has stays', 'assign'],
    ['DELETE', 'unassignNodeTags', 'Take tags from a node', 'unassign'],
  ] as const) {
    app.route({
      method,
      url: '/nodes/:id/tags',
      schema: {
        operationId,
        summary,
        tags,
        params: node,
        body: tagNamesBody,
        response: { 200: assignmentListSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request) => {
        const { id } = request.params;
        await use[act]([id], request.body.tags, actorOf(request));
        return (await use.ofNode(id)).map(viewAssignment);
      },
    });
  }
};

/** The forms of the specification: everything in the query, at `/tags`. */
export const tagQueryRoutes: RouteGroup = async (app, { operations }) => {
  const use: TagOperations = operations.tags;

  app.get('/tags', {
    schema: {
      operationId: 'queryTags',
      summary: 'List tags of a release, cluster or plugin, or show one',
      tags,
      querystring: tagQuery,
      response: { 200: ownedTagListSchema, ...problems(400, 404, 503) },
    },
    handler: async (request) => {
      const owner = ownerIn(request.query);
      const one = request.query.tag_name;
      return one === undefined
        ? (await use.list(owner)).map(viewOwned)
        : [viewOwned(await use.get(owner, tagNameIn(request.query)))];
    },
  });

  app.post('/tags', {
    schema: {
      operationId: 'createTagByQuery',
      summary:
        'Create a tag: ?cluster_id=1&tag_name=swift&meta={"has_primary":true}; or assign some: ?node_id=1&tags=mysql',
      tags,
      querystring: tagQuery,
      response: { 200: assignmentListSchema, 201: ownedTagSchema, ...problems(400, 404, 409, 503) },
    },
    handler: async (request, reply) => {
      if (request.query.node_id !== undefined) {
        const nodes = nodesIn(request.query);
        await use.assign(nodes, tagNamesIn(request.query), actorOf(request));
        return reply.code(200).send(await assignmentsOf(use, nodes));
      }
      const tag = await use.create(ownerIn(request.query), uploadIn(request.query), actorOf(request));
      return reply.code(201).send(viewOwned(tag));
    },
  });

  app.put('/tags', {
    schema: {
      operationId: 'changeTagByQuery',
      summary: 'Change the metadata of a tag, or assign tags to nodes',
      tags,
      querystring: tagQuery,
      response: { 200: z.union([ownedTagSchema, assignmentListSchema]), ...problems(400, 404, 409, 503) },
    },
    handler: async (request) => {
      if (request.query.node_id !== undefined) {
        const nodes = nodesIn(request.query);
        await use.assign(nodes, tagNamesIn(request.query), actorOf(request));
        return assignmentsOf(use, nodes);
      }
      const upload = uploadIn(request.query);
      return viewOwned(await use.update(ownerIn(request.query), upload.name, upload, actorOf(request)));
    },
  });

  app.delete('/tags', {
    schema: {
      operationId: 'deleteTagByQuery',
      summary: 'Delete a tag a user made, or take tags from nodes',
      tags,
      querystring: tagQuery,
      response: { 204: gone, ...problems(400, 404, 409, 503) },
    },
    handler: async (request, reply) => {
      if (request.query.node_id !== undefined)
        await use.unassign(nodesIn(request.query), tagNamesIn(request.query), actorOf(request));
      else await use.delete(ownerIn(request.query), tagNameIn(request.query), actorOf(request));
      return reply.code(204).send();
    },
  });

  for (const [path, act] of [
    ['assign', 'assign'],
    ['unassign', 'unassign'],
  ] as const) {
    app.post(`/tags/${path}`, {
      schema: {
        operationId: `${act}Tags`,
        summary: act === 'assign' ? 'Assign tags to several nodes, all or none' : 'Take tags from several nodes',
        tags,
        body: assignBody,
        response: { 200: assignmentListSchema, ...problems(400, 404, 409, 413, 415, 503) },
      },
      handler: async (request) => {
        await use[act](request.body.nodes, request.body.tags, actorOf(request));
        return assignmentsOf(use, request.body.nodes);
      },
    });
  }
};

const assignmentsOf = async (use: TagOperations, nodes: readonly number[]) =>
  (await Promise.all([...new Set(nodes)].map((id) => use.ofNode(id)))).flat().map(viewAssignment);

const plain = ({ name, meta }: TagView) => ({ name, meta });

const viewOwned = ({ id, name, meta, owner, readOnly }: TagView) => ({ id, name, meta, owner, read_only: readOnly });

const viewAssignment = ({ nodeId, tag, source, role }: TagAssignment) => ({ node_id: nodeId, tag, source, role });
