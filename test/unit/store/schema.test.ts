import { expect, it } from 'vitest';
import type { Migration } from '../../../src/store/index.ts';
import { migrations } from '../../../src/store/migrations/migrator.ts';
import { tables } from '../../../src/store/tables.ts';
import { describeStore, type TestBackend } from './backends.ts';

it('numbers migrations by their place, and names each once', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
});

// Drift: a released migration must not change. After adding one, check the difference and update with `-u`.
describeStore('The schema', (backend) => {
  it('is the recorded schema', async () => {
    const url = await backend.newUrl('empty');
    await backend.open(url);
    const lines: string[] = [];
    for (const query of CATALOGUE[backend.dialect]) {
      for (const row of await backend.sql(url, query)) lines.push(Object.values(row).join(' '));
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`golden/schema.${backend.dialect}.golden.txt`);
  });

  it('has the columns that are declared, and null only where that is declared', async () => {
    const url = await backend.newUrl('empty');
    await backend.open(url);
    const declared = Object.entries(tables).flatMap(([table, columns]) =>
      Object.entries(columns).map(([column, { settings }]) =>
        [snakeCase(table), snakeCase(column), settings.isNullable ? 'null' : 'not null'].join(' '),
      ),
    );
    const rows = await backend.sql(url, COLUMNS[backend.dialect]);
    expect(declared.sort()).toEqual(rows.map((row) => Object.values(row).join(' ')).sort());
  });

  // Two releases run side by side during an upgrade: the earlier one reads and writes the schema of the later.
  it('is only extended by migrations that are not breaking', async () => {
    const url = await backend.newUrl('empty');
    let before: Shape | undefined;
    for (const { version, name, breaking } of migrations) {
      await (await backend.open(url, { knownMigrations: migrations.slice(0, version), migrations: 'apply' })).close();
      const after = await shapeOf(backend, url);
      if (before !== undefined && !breaking)
        expect({ name, broken: brokenBy(before, after) }).toEqual({ name, broken: [] });
      before = after;
    }
  });

  it.each<readonly [string, Migration['up'], readonly string[]]>([
    ['a column is dropped', async (db) => db.schema.alterTable('site').dropColumn('source').execute(), ['site.source']],
    [
      'a column is renamed',
      async (db) => db.schema.alterTable('run').renameColumn('failure', 'problem').execute(),
      ['run.failure'],
    ],
    [
      'a table is dropped',
      async (db) => db.schema.dropTable('node_maintenance').execute(),
      ['by', 'locked_machine', 'node', 'reason', 'since', 'site'].map((name) => `node_maintenance.${name}`),
    ],
    [
      'nothing is lost',
      async (db, { text }) => {
        await db.schema
          .alterTable('site')
          .addColumn('a', text, (column) => column.notNull().defaultTo(''))
          .execute();
        await db.schema.alterTable('site').addColumn('b', text).execute();
      },
      [],
    ],
    [
      'values may not repeat any more',
      async (db) => db.schema.createIndex('one_commit').unique().on('revision').column('commit_id').execute(),
      ['one_commit'],
    ],
  ])('reports what an earlier release would miss if %s', async (_what, up, broken) => {
    const url = await backend.newUrl();
    const before = await shapeOf(backend, url);
    const planted = { version: migrations.length + 1, name: 'planted', breaking: false, up };
    await backend.open(url, { knownMigrations: [...migrations, planted] });
    expect(brokenBy(before, await shapeOf(backend, url))).toEqual(broken);
  });
});

/** The needs of an earlier release: tables with their columns, and which values may repeat. */
interface Shape {
  /** By `table.column`: its type, and whether a row needs a value for it. */
  readonly columns: ReadonlyMap<string, string>;
  /** By name: the table of an index without duplicates. */
  readonly unique: ReadonlyMap<string, string>;
}

async function shapeOf({ dialect, sql }: TestBackend, url: string): Promise<Shape> {
  const [columns, unique] = [await sql(url, TYPES[dialect]), await sql(url, UNIQUE[dialect])];
  return {
    columns: new Map(columns.map(({ place, ...kind }) => [String(place), Object.values(kind).join(' ')])),
    unique: new Map(unique.map(({ name, place }) => [String(name), String(place)])),
  };
}

/** Columns and tables that an earlier release would read or write in vain. */
function brokenBy(before: Shape, after: Shape): string[] {
  const tables = new Set([...before.columns.keys()].map(tableOf));
  const changed = [...before.columns].filter(([place, kind]) => after.columns.get(place) !== kind);
  const needed = [...after.columns].filter(
    ([place, kind]) => !before.columns.has(place) && tables.has(tableOf(place)) && kind.endsWith('needed'),
  );
  const unique = [...after.unique].filter(([name, table]) => !before.unique.has(name) && tables.has(table));
  return [...changed, ...needed, ...unique].map(([name]) => name).sort();
}

const tableOf = (place: string): string => place.split('.')[0] ?? '';

const TYPES = {
  sqlite: `select t.name || '.' || c.name as place, c.type,
      case when c."notnull" and c.dflt_value is null then 'needed' else 'optional' end as need
    from sqlite_master t join pragma_table_info(t.name) c where t.type = 'table' and t.name not like 'sqlite_%'`,
  postgres: `select table_name || '.' || column_name as place, data_type,
      case when is_nullable = 'NO' and column_default is null then 'needed' else 'optional' end as need
    from information_schema.columns where table_schema = 'public'`,
};

const UNIQUE = {
  sqlite: `select name, tbl_name as place from sqlite_master where type = 'index' and lower(sql) like 'create unique%'`,
  postgres: `select indexname as name, tablename as place from pg_indexes
    where schemaname = 'public' and indexdef like 'CREATE UNIQUE%'`,
};

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const COLUMNS = {
  sqlite: `select t.name, c.name as column_name, case when c."notnull" or c.pk then 'not null' else 'null' end as nullable
    from sqlite_master t join pragma_table_info(t.name) c where t.type = 'table' and t.name not like 'sqlite_%'`,
  postgres: `select table_name, column_name, case is_nullable when 'NO' then 'not null' else 'null' end as nullable
    from information_schema.columns where table_schema = 'public'`,
};

const CATALOGUE = {
  sqlite: [`select sql from sqlite_master where sql is not null order by type desc, name`],
  postgres: [
    `select table_name, column_name, data_type, coalesce('collate ' || collation_name, '-') as collation,
       case is_nullable when 'NO' then 'not null' else 'null' end, coalesce('default ' || column_default, '-')
     from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position`,
    // From PostgreSQL 18 on, columns that are not null are constraints, too: the query above has them.
    `select conrelid::regclass::text, conname, pg_get_constraintdef(oid)
     from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n' order by 1, 2`,
    `select indexdef from pg_indexes where schemaname = 'public' order by indexname`,
  ],
};
