import { extensionRoutes } from '../../../core/contracts/fuel/extensions.ts';
import {
  assignmentListSchema,
  ownedTagSchema,
  TAGS_OF,
  tagChangeListSchema,
  tagRoutes,
  tagSchema,
} from '../../../core/contracts/fuel/tags.ts';
import type { Operations, TagOwner } from '../../../ops/index.ts';
import { actorOf } from '../../requests/actor.ts';
import { requireRole } from '../../requests/require-role.ts';
import { type Asked, type Handlers, type RouteGroup, serve } from '../../serve.ts';
import { shown } from '../../shown.ts';
import { nodesIn, ownerIn, tagNameIn, tagNamesIn, uploadIn } from './tag-query.ts';

const view = shown(tagSchema);
const viewOwned = shown(ownedTagSchema);
const viewChanges = shown(tagChangeListSchema);
const viewAssignments = shown(assignmentListSchema);

/** Tags of a release or cluster, by path. */
const ownedBy = (kind: 'release' | 'cluster', tags: Operations['tags']): Handlers<(typeof TAGS_OF)[typeof kind]> => ({
  'GET /tags': async ({ params: { id } }) => (await tags.list({ kind, id })).map(view),
  'POST /tags': async (request) =>
    view(await tags.create({ kind, id: request.params.id }, request.body, actorOf(request))),
  'GET /tags/:name': async ({ params: { id, name } }) => view(await tags.get({ kind, id }, name)),
  async 'PUT /tags/:name'(request) {
    const { id, name } = request.params;
    return view(await tags.update({ kind, id }, name, request.body, actorOf(request)));
  },
  'DELETE /tags/:name': (request) =>
    tags.delete({ kind, id: request.params.id }, request.params.name, actorOf(request)),
});

/** Tags: by path, by query as the specification has them, and which nodes have them. */
export const serveTags: RouteGroup = async (app, { operations: { tags } }) => {
  const assignmentsOf = async (nodes: readonly number[]) =>
    viewAssignments((await Promise.all([...new Set(nodes)].map((id) => tags.ofNode(id)))).flat());

  /** The owner that a change names in its query: a tag of a release or plugin is part of a package. */
  const changedOwner = (request: Asked<(typeof tagRoutes)['POST /tags']>): TagOwner => {
    const owner = ownerIn(request.query);
    if (owner.kind !== 'cluster') requireRole(request, 'admin');
    return owner;
  };

  serve(app, TAGS_OF.release, ownedBy('release', tags), '/releases/:id');
  serve(app, TAGS_OF.cluster, ownedBy('cluster', tags), '/clusters/:id');

  serve(app, tagRoutes, {
    'GET /plugins/:id/tags': async ({ params: { id } }) => (await tags.list({ kind: 'plugin', id })).map(view),
    'GET /clusters/:id/tag_assignments': async ({ params }) => viewAssignments(await tags.assignments(params.id)),
    'GET /clusters/:id/tag_changes': async ({ params }) => viewChanges(await tags.changes(params.id)),
    'POST /clusters/:id/tag_changes': async (request) =>
      viewChanges(await tags.applyChanges(request.params.id, actorOf(request))),
    'GET /nodes/:id/tags': async ({ params }) => viewAssignments(await tags.ofNode(params.id)),
    async 'POST /nodes/:id/tags'(request) {
      await tags.assign([request.params.id], request.body.tags, actorOf(request));
      return assignmentsOf([request.params.id]);
    },
    async 'DELETE /nodes/:id/tags'(request) {
      await tags.unassign([request.params.id], request.body.tags, actorOf(request));
      return assignmentsOf([request.params.id]);
    },
    async 'GET /tags'({ query }) {
      const owner = ownerIn(query);
      return query.tag_name === undefined
        ? (await tags.list(owner)).map(viewOwned)
        : [viewOwned(await tags.get(owner, tagNameIn(query)))];
    },
    async 'POST /tags'(request, reply) {
      const { query } = request;
      if (query.node_id !== undefined) {
        const nodes = nodesIn(query);
        await tags.assign(nodes, tagNamesIn(query), actorOf(request));
        return assignmentsOf(nodes);
      }
      const tag = await tags.create(changedOwner(request), uploadIn(query), actorOf(request));
      void reply.code(201);
      return viewOwned(tag);
    },
    async 'PUT /tags'(request) {
      const { query } = request;
      if (query.node_id !== undefined) {
        const nodes = nodesIn(query);
        await tags.assign(nodes, tagNamesIn(query), actorOf(request));
        return assignmentsOf(nodes);
      }
      const owner = changedOwner(request);
      const upload = uploadIn(query);
      return viewOwned(await tags.update(owner, upload.name, upload, actorOf(request)));
    },
    async 'DELETE /tags'(request) {
      const { query } = request;
      if (query.node_id !== undefined) await tags.unassign(nodesIn(query), tagNamesIn(query), actorOf(request));
      else await tags.delete(changedOwner(request), tagNameIn(query), actorOf(request));
    },
    async 'POST /tags/assign'(request) {
      await tags.assign(request.body.nodes, request.body.tags, actorOf(request));
      return assignmentsOf(request.body.nodes);
    },
    async 'POST /tags/unassign'(request) {
      await tags.unassign(request.body.nodes, request.body.tags, actorOf(request));
      return assignmentsOf(request.body.nodes);
    },
  });
};

export const serveExtensions: RouteGroup = async (app, { operations: { tags, inventory } }) =>
  serve(app, extensionRoutes, {
    'GET /extensions': async () =>
      (await tags.extensions()).map(({ name, version = null, description }) => ({
        name,
        version,
        description: description ?? 'Decides which tags nodes get with their roles.',
        provides: ['tags'],
      })),
    async 'GET /clusters/:id/extensions'({ params }) {
      await inventory.clusters.get(params.id);
      return (await tags.extensions()).map(({ name }) => name);
    },
  });
