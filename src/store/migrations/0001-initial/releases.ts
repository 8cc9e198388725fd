import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../backend.ts';

/** Packages, and their releases and plugins. */
export async function createReleases(db: Kysely<unknown>, types: ColumnTypes): Promise<void> {
  const { text, integer, bytes, serial } = types;
  await db.schema
    .createTable('package')
    .addColumn('id', serial)
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('version', text, (column) => column.notNull())
    .addColumn('package_version', text, (column) => column.notNull())
    .addColumn('kind', text, (column) => column.notNull())
    .addColumn('checksum', text, (column) => column.notNull())
    .addColumn('size', integer, (column) => column.notNull())
    .addColumn('metadata', text, (column) => column.notNull())
    .addColumn('installed_at', text, (column) => column.notNull())
    .addColumn('updated_at', text, (column) => column.notNull())
    .addUniqueConstraint('package_name', ['name', 'version'])
    .execute();
  // In its own table: archives can be megabytes, which lists of packages should not read.
  await db.schema
    .createTable('package_archive')
    .addColumn('package_id', integer, (column) => column.primaryKey().references('package.id').onDelete('cascade'))
    .addColumn('bytes', bytes, (column) => column.notNull())
    .execute();

  // No cascade: a package is removed with its releases and plugins, or not at all.
  await db.schema
    .createTable('release')
    .addColumn('id', serial)
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('version', text, (column) => column.notNull())
    .addColumn('operating_system', text, (column) => column.notNull())
    .addColumn('description', text, (column) => column.notNull())
    .addColumn('state', text, (column) => column.notNull())
    .addColumn('is_deployable', integer, (column) => column.notNull())
    .addColumn('roles_metadata', text, (column) => column.notNull())
    .addColumn('tags_metadata', text, (column) => column.notNull())
    .addColumn('metadata', text, (column) => column.notNull())
    .addColumn('package_id', integer, (column) => column.references('package.id'))
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('updated_at', text, (column) => column.notNull())
    .addUniqueConstraint('release_name', ['name', 'version'])
    .execute();
  await db.schema.createIndex('release_by_package').on('release').column('package_id').execute();

  await db.schema
    .createTable('plugin')
    .addColumn('id', serial)
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('version', text, (column) => column.notNull())
    .addColumn('title', text, (column) => column.notNull())
    .addColumn('package_version', text, (column) => column.notNull())
    .addColumn('metadata', text, (column) => column.notNull())
    .addColumn('package_id', integer, (column) => column.references('package.id'))
    .addColumn('created_at', text, (column) => column.notNull())
    .addColumn('updated_at', text, (column) => column.notNull())
    .addUniqueConstraint('plugin_name', ['name', 'version'])
    .execute();
  await db.schema.createIndex('plugin_by_package').on('plugin').column('package_id').execute();
}
