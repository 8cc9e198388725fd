import type { Kysely } from 'kysely';
import type { Migration } from './migration.ts';

interface Stored {
  readonly node: { id: number; roles: string; pending_roles: string; cluster_id: number | null; role_tags: string };
  readonly cluster: { id: number; release_id: number; attributes: string };
  readonly release: { id: number; roles_metadata: string };
  readonly cluster_plugin: { cluster_id: number; plugin_id: number };
  readonly plugin: { id: number; metadata: string };
}

type Roles = Readonly<Record<string, { readonly tags?: unknown } | null | undefined>>;

/**
 * By role the tags that it gave a node, to find later changes of the role. Nodes from before get those of their roles
 * as they are now, so that tags that users removed do not come back.
 */
export const roleTags: Migration = {
  version: 6,
  name: 'role-tags',
  breaking: false,
  async up(db, { text }) {
    await db.schema
      .alterTable('node')
      .addColumn('role_tags', text, (column) => column.notNull().defaultTo('{}'))
      .execute();
    const stored = db as Kysely<Stored>;
    for (const { id, release_id, attributes } of await stored.selectFrom('cluster').selectAll().execute()) {
      const release = await stored.selectFrom('release').selectAll().where('id', '=', release_id).executeTakeFirst();
      const plugins = await stored
        .selectFrom('plugin')
        .innerJoin('cluster_plugin', 'cluster_plugin.plugin_id', 'plugin.id')
        .select('plugin.metadata')
        .where('cluster_plugin.cluster_id', '=', id)
        .execute();
      const roles: Roles = {
        ...JSON.parse(release?.roles_metadata ?? '{}'),
        ...Object.assign({}, ...plugins.map(({ metadata }) => JSON.parse(metadata).roles_metadata)),
        ...JSON.parse(attributes).roles_metadata,
      };
      for (const node of await stored.selectFrom('node').selectAll().where('cluster_id', '=', id).execute()) {
        const own: readonly string[] = [...JSON.parse(node.roles), ...JSON.parse(node.pending_roles)];
        const tags = own.filter((role) => Object.hasOwn(roles, role)).map((role) => [role, tagsOf(role, roles)]);
        const role_tags = JSON.stringify(Object.fromEntries(tags));
        await stored.updateTable('node').set({ role_tags }).where('id', '=', node.id).execute();
      }
    }
  },
};

function tagsOf(role: string, roles: Roles): readonly string[] {
  const tags = roles[role]?.tags;
  const named = Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];
  return [...new Set([...named, role])];
}
