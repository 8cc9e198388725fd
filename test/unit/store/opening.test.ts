import { execFileSync } from 'node:child_process';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import type { Migration } from '../../../src/store/index.ts';
import { migrations } from '../../../src/store/migrations/migrator.ts';
import { sourceProgram } from '../../rig/program.ts';
import { describeStore } from './backends.ts';
import { failureOf } from './failures.ts';
import { Child } from './processes/child.ts';

const next = (breaking: boolean, up?: Migration['up']): Migration => ({
  version: migrations.length + 1,
  name: 'next-release',
  breaking,
  up: up ?? (async (db, { text }) => db.schema.createTable('next_release').addColumn('a', text).execute()),
});

/** From source: in a bundle, modules that load lazily would load immediately. */
const OPEN_WITHOUT = sourceProgram('test/unit/store/processes/open-without.ts');

const latest = migrations.length;

/** A promise to wait for in one place and to resolve in another. */
function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describeStore('Opening a store', (backend) => {
  const children: Child[] = [];
  afterEach(() => Promise.all(children.splice(0).map((child) => child.kill9())));

  it('opening creates the schema of an empty database, and changes nothing the second time', async () => {
    const url = await backend.newUrl('empty');
    const store = await backend.open(url);
    const status = await store.status();
    expect(status).toMatchObject({
      dialect: backend.dialect,
      schemaVersion: latest,
      knownVersion: latest,
      pending: [],
    });
    expect(status.applied.map(({ version, name }) => ({ version, name }))).toEqual(
      migrations.map(({ version, name }) => ({ version, name })),
    );
    expect(await store.migrate()).toEqual([]);
    expect(await (await backend.open(url)).status()).toEqual(status);
  });

  it('works with a database that a later release has extended', async () => {
    const url = await backend.newUrl();
    const old = await backend.open(url);
    await old.sites.create({ name: 'before' });
    const later = await backend.open(url, {
      knownMigrations: [
        ...migrations,
        next(false, async (db, { text }) => {
          await db.schema.createTable('next_release').addColumn('a', text).execute();
          for (const { name } of await db.introspection.getTables())
            await db.schema.alterTable(name).addColumn('next_release', text).execute();
        }),
      ],
    });
    // One that kept running, and one that starts again.
    const again = await backend.open(url);
    expect(await again.status()).toMatchObject({ schemaVersion: latest + 1, knownVersion: latest, pending: [] });
    expect(await again.migrate()).toEqual([]);
    await old.sites.create({ name: 'during' });
    const run = { sequence: 0, workflowId: 'w', temporalRunId: 'r', kind: 'deploy_site', site: 'during' } as const;
    await again.runs.put({ id: 'r', ...run, phase: 'starting', startedAt: new Date(0).toISOString(), parameters: {} });
    for (const store of [old, again, later]) {
      expect((await store.sites.list()).map(({ name }) => name).sort()).toEqual(['before', 'during']);
      expect(await store.runs.get('r')).toMatchObject(run);
    }
  });

  it('refuses a database with a breaking newer schema, with the next step, and does not change it', async () => {
    const url = await backend.newUrl();
    const options = { knownMigrations: [...migrations, next(true)], migrations: 'apply' } as const;
    const newer = await backend.open(url, options);
    const before = await newer.status();
    const failure = await failureOf(backend.open(url));
    expect(failure).toMatchObject({ kind: 'schema-too-new', found: latest + 1, known: latest });
    expect(failure.hint).toMatch(/update this program/i);
    // Also when requested manually, and when only reading.
    const blind = await backend.open(url, { migrations: 'ignore' });
    expect(await failureOf(blind.migrate())).toMatchObject({ kind: 'schema-too-new' });
    expect(await failureOf(backend.open(url, { readOnly: true }))).toMatchObject({ kind: 'schema-too-new' });
    expect(await newer.status()).toEqual(before);
  });

  it('applies missing migrations to existing data', async () => {
    const url = await backend.newUrl();
    await (await backend.open(url)).sites.create({ name: 'dc1' });
    const store = await backend.open(url, { knownMigrations: [...migrations, next(false)] });
    expect(await store.status()).toMatchObject({ schemaVersion: latest + 1, pending: [] });
    expect(await store.sites.list()).toHaveLength(1);
  });

  it('leaves a breaking migration of a shared database to the operator', async () => {
    const url = await backend.newUrl();
    const knownMigrations = [...migrations, next(true)];
    if (backend.dialect === 'postgres') {
      const failure = await failureOf(backend.open(url, { knownMigrations }));
      expect(failure).toMatchObject({ kind: 'schema-behind', found: latest, known: latest + 1 });
      expect(failure.hint).toMatch(/stop every .* db migrate/i);
    } else {
      expect(await (await backend.open(url, { knownMigrations })).status()).toMatchObject({ pending: [] });
    }
    const blind = await backend.open(url, { knownMigrations, migrations: 'ignore' });
    if (backend.dialect === 'postgres') {
      expect(await failureOf(blind.migrate(true))).toMatchObject({ kind: 'schema-behind', found: latest });
      expect(await blind.migrate()).toHaveLength(1);
    }
    expect(await blind.migrate(true)).toEqual([]);
    // An empty one breaks nothing.
    const fresh = await backend.open(await backend.newUrl('empty'), { knownMigrations });
    expect(await fresh.status()).toMatchObject({ schemaVersion: latest + 1 });
  });

  it('can require the schema, or ignore it and be migrated manually', async () => {
    const url = await backend.newUrl('empty');
    const failure = await failureOf(backend.open(url, { migrations: 'require' }));
    expect(failure).toMatchObject({ kind: 'schema-behind', found: 0, known: latest });
    const store = await backend.open(url, { migrations: 'ignore' });
    expect(await store.status()).toMatchObject({ schemaVersion: 0, applied: [] });
    expect((await store.migrate()).map(({ version }) => version)).toEqual(migrations.map(({ version }) => version));
    expect(await store.status()).toMatchObject({ schemaVersion: latest, pending: [] });
  });

  it('rolls back a failed migration, with its number', async () => {
    const url = await backend.newUrl();
    const half = next(false, async (db, { text }) => {
      await db.schema.createTable('half').addColumn('a', text).execute();
      await db.schema.alterTable('no_such_table').addColumn('a', text).execute();
    });
    const failure = await failureOf(backend.open(url, { knownMigrations: [...migrations, half] }));
    expect(failure.kind).toBe('defect');
    expect(await (await backend.open(url)).status()).toMatchObject({ schemaVersion: latest });
    // The table has vanished too, or this could not make it.
    const whole = next(false, async (db, { text }) => db.schema.createTable('half').addColumn('a', text).execute());
    await backend.open(url, { knownMigrations: [...migrations, whole] });
  });

  it('writes the number of a migration before its change', async () => {
    const url = await backend.newUrl();
    let seen: unknown;
    const looking = next(true, async (db) => {
      const query = db.$extendTables<{ sitewright_migration: { version: number; breaking: number } }>();
      seen = await query
        .selectFrom('sitewright_migration')
        .select(['version', 'breaking'])
        .orderBy('version')
        .execute();
    });
    await backend.open(url, { knownMigrations: [...migrations, looking], migrations: 'apply' });
    expect(seen).toContainEqual({ version: latest + 1, breaking: 1 });
  });

  it('lets a second process wait for the one that migrates', async () => {
    const url = await backend.newUrl();
    const [started, finish] = [signal(), signal()];
    let runs = 0;
    const slow = next(false, async (db, { text }) => {
      runs++;
      await db.schema.createTable('slow').addColumn('a', text).execute();
      started.resolve();
      await finish.promise;
    });
    const knownMigrations = [...migrations, slow];
    const first = backend.open(url, { knownMigrations });
    await started.promise;
    const second = backend.open(url, { knownMigrations });
    await waiting(url);
    finish.resolve();
    for (const store of await Promise.all([first, second])) {
      expect(await store.status()).toMatchObject({ schemaVersion: latest + 1, pending: [] });
    }
    expect(runs).toBe(1);
  });

  /** Returns once the second starter waits for the first one's lock. */
  const waiting = async (url: string): Promise<void> => {
    // SQLite does not show who waits; its second starter tries at its first turn, and then repeatedly.
    for (let turns = 0; turns < 5; turns++) await turn();
    if (backend.dialect === 'sqlite') return;
    const blocked = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    while ((await backend.sql(url, blocked)).length === 0) await turn();
  };

  it('refuses a database that no release has made, with the way to start with an empty one', async () => {
    const url = await backend.newUrl('empty');
    const earlier = ['sites-and-runs', 'graphs-and-clusters'].map(
      (name, index): Migration => ({ ...next(index === 1), version: index + 1, name, up: async () => {} }),
    );
    await backend.open(url, { knownMigrations: earlier, migrations: 'apply' });
    const failure = await failureOf(backend.open(url));
    expect(failure).toMatchObject({ kind: 'schema-foreign' });
    expect(failure.message).toContain('migration 1 "sites-and-runs"');
    if (backend.dialect === 'postgres') {
      expect(failure.hint).toContain('createdb');
      return;
    }
    execFileSync('sh', ['-c', /mkdir .*/.exec(failure.hint)?.[0] ?? 'exit 1']);
    expect(await (await backend.open(url)).status()).toMatchObject({ schemaVersion: latest, pending: [] });
  });

  it('changes nothing when opened read-only', async () => {
    const url = await backend.newUrl();
    await (await backend.open(url)).sites.create({ name: 'dc1' });
    const store = await backend.open(url, { readOnly: true });
    expect(await store.sites.list()).toHaveLength(1);
    for (const failure of await Promise.all(
      [
        store.sites.create({ name: 'dc2' }),
        store.sites.delete('dc1'),
        store.claims.claim({ site: 'dc1' }, { workflowId: 'w', runId: 'r', executionId: 'r' }),
        store.audit.append({ actor: 'a', action: 'b', target: 'c' }),
      ].map(failureOf),
    )) {
      expect(failure).toMatchObject({ kind: 'read-only' });
    }
  });

  it('finishes running work when it closes, refuses more, and may be closed twice', async () => {
    const url = await backend.newUrl();
    const store = await backend.open(url);
    const underWay = Promise.all(['a', 'b', 'c'].map((name) => store.sites.create({ name })));
    await Promise.all([store.close(), store.close()]);
    expect(await underWay).toHaveLength(3);
    expect(await failureOf(store.sites.list())).toMatchObject({ kind: 'closed' });
    expect(await failureOf(store.sites.create({ name: 'd' }))).toMatchObject({ kind: 'closed' });
    expect(await (await backend.open(url)).sites.list()).toHaveLength(3);
  });

  it('loads only the driver it needs', async () => {
    const url = await backend.newUrl();
    const child = new Child(OPEN_WITHOUT, backend.dialect === 'sqlite' ? 'pg' : 'node:sqlite', url);
    children.push(child);
    expect(await child.next()).toEqual({ opened: backend.dialect });
  });
});
