import { expect, it } from 'vitest';
import { migrations } from '../../../src/store/migrations/index.js';
import { tables } from '../../../src/store/tables.js';
import { describeStore } from './backends.js';

it('numbers migrations by their place, and names each once', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, index) => index + 1));
  expect(new Set(migrations.map(({ name }) => name)).size).toBe(migrations.length);
});

// Drift: a released migration must not change. After adding one, look at the difference and update with `-u`.
describeStore('The schema', (backend) => {
  it('is the one on record', async () => {
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
});

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
    `select conrelid::regclass::text, conname, pg_get_constraintdef(oid)
     from pg_constraint where connamespace = 'public'::regnamespace order by 1, 2`,
    `select indexdef from pg_indexes where schemaname = 'public' order by indexname`,
  ],
};
