import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore, type StoreError } from '../../../src/store/index.ts';
import { classifyPostgresError } from '../../../src/store/postgres/errors.ts';
import { type PostgresServer, startPostgres, whyNoPostgres } from '../../rig/postgres.ts';
import { failureOf } from './failures.ts';

const unavailable = await whyNoPostgres();

describe.skipIf(unavailable !== undefined)('The store on a PostgreSQL server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it('accepts a unix socket', async () => {
    const url = await server.createDatabase();
    const store = await openStore(server.socketUrl(new URL(url).pathname.slice(1)));
    expect(await store.status()).toMatchObject({ pending: [] });
    expect((await store.status()).location).not.toContain(server.password);
    await store.close();
  });

  it('never shows a password, whatever goes wrong', async () => {
    const wrong = 'wr0ng&s3cret';
    const calls: [kind: string, url: string, secret: string][] = [
      ['denied', server.url('postgres', encodeURIComponent(wrong)), wrong],
      ['unreachable', server.url('no_such_database'), server.password],
      ['unreachable', `postgres://u:s3cret@127.0.0.1:1/d`, 's3cret'],
      ['unreachable', `postgres://u:s3cret@host.invalid/d`, 's3cret'],
      ['unreachable', `postgres://u:s3cret@/d?host=/no/such/folder`, 's3cret'],
    ];
    for (const [kind, url, secret] of calls) {
      const error = await openStore(url).then(
        () => undefined,
        (thrown: StoreError) => thrown,
      );
      expect(error?.failure.kind, inspect(error)).toBe(kind);
      expect(error?.failure.hint).not.toBe('');
      for (const shown of [inspect(error, { depth: 9 }), JSON.stringify(error), error?.stack]) {
        expect(shown).not.toContain(secret);
        expect(shown).not.toContain(encodeURIComponent(secret));
      }
    }
  });

  it.each([
    ['overwritten', (file: string) => writeFileSync(file, Buffer.alloc(8192, 7))],
    ['missing', (file: string) => rmSync(file)],
  ])('reports a file of the server that is %s, with a step that can be typed', async (_how, damage) => {
    const whole = new URL(await server.createDatabase());
    const store = await openStore(whole.href);
    await store.sites.create({ name: 'dc1' });
    await store.close();
    await server.query('postgres', 'checkpoint');
    const name = whole.pathname.slice(1);
    const { rows } = await server.query(name, `select pg_relation_filepath('site') as file`);
    damage(join(server.folder, 'data', rows[0].file));
    // The server still has the page in memory: a restart would read it, as a copy of the database does.
    const url = await server.createDatabase(name).catch(() => whole.href);
    const damaged = await openStore(url);
    expect(await failureOf(damaged.sites.list())).toMatchObject({
      kind: 'corrupt',
      hint: expect.stringMatching(/run: createdb \S+ && psql/),
    });
    await damaged.close();
  });

  it('continues after the server has cut all its connections', async () => {
    const url = await server.createDatabase();
    const store = await openStore(url);
    const cutAll = () =>
      server.query(
        'postgres',
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'sitewright'`,
      );
    await store.sites.create({ name: 'dc1' });
    await cutAll();
    expect(await store.sites.list()).toHaveLength(1);
    await cutAll();
    await store.sites.create({ name: 'dc2' });
    expect(await store.sites.list()).toHaveLength(2);
    await store.close();
  });

  it('repeats a read whose connection breaks, and never a write that has started', async () => {
    const url = await server.createDatabase();
    const store = await openStore(url);
    await store.audit.append({ actor: 'a', action: 'b', target: 'c' });
    await store.sites.create({ name: 'dc1' });
    // The first row the server reads of the audit, and the first claim it stores, cost the connection.
    const database = new URL(url).pathname.slice(1);
    for (const statement of [
      'create sequence reads',
      'create sequence writes',
      `create function cut_first(attempt bigint) returns boolean language plpgsql as $$ begin
         if attempt = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return true; end $$`,
      `create function cut_first_write() returns trigger language plpgsql as $$ begin
         perform cut_first(nextval('writes')); return new; end $$`,
      'alter table audit_entry rename to audit_entry_rows',
      `create view audit_entry as select * from audit_entry_rows where cut_first(nextval('reads'))`,
      'create trigger cut before insert on site_claim for each row execute function cut_first_write()',
    ]) {
      await server.query(database, statement);
    }
    expect((await store.audit.list()).items).toHaveLength(1);
    const holder = { workflowId: 'w', runId: 'r', executionId: 'r' };
    expect(await failureOf(store.claims.claim({ site: 'dc1' }, holder))).toMatchObject({ kind: 'unreachable' });
    expect(await store.claims.holder({ site: 'dc1' })).toBeNull();
    expect(await store.claims.claim({ site: 'dc1' }, holder)).toEqual({ claimed: true });
    const attempts = 'select r.last_value as reads, w.last_value as writes from reads r, writes w';
    expect((await server.query(database, attempts)).rows).toEqual([{ reads: '2', writes: '2' }]);
    await store.close();
  });

  it('reports the missing privilege', async () => {
    const url = await server.createDatabase();
    await server.query('postgres', `create role guest login password 'guest-word'`);
    // Since PostgreSQL 15 as it comes.
    await server.query(new URL(url).pathname.slice(1), 'revoke create on schema public from public');
    const asGuest = url.replace(/\/\/[^@]*@/, '//guest:guest-word@');
    expect(await failureOf(openStore(asGuest))).toMatchObject({ kind: 'denied' });
  });

  it('repeats a transaction that lost a deadlock', async () => {
    const url = await server.createDatabase();
    const store = await openStore(url);
    await store.sites.create({ name: 'dc1' });
    // A server that makes the first attempt fail as a deadlock's loser would.
    const database = new URL(url).pathname.slice(1);
    await server.query(database, 'create sequence attempts');
    await server.query(
      database,
      `create function lose_once() returns trigger language plpgsql as $$ begin
         if nextval('attempts') = 1 then raise exception 'lost' using errcode = '40P01'; end if;
         return new; end $$`,
    );
    await server.query(
      database,
      'create trigger lose before insert on site_claim for each row execute function lose_once()',
    );
    expect(await store.claims.claim({ site: 'dc1' }, { workflowId: 'w', runId: 'r', executionId: 'r' })).toEqual({
      claimed: true,
    });
    const attempts = await server.query(database, 'select last_value from attempts');
    expect(attempts.rows).toEqual([{ last_value: '2' }]);
    await store.close();
  });
});

describe('classifyPostgresError', () => {
  const address = { shown: 'postgres://h/d', secrets: ['s3cret'] };

  it.each([
    ['40001', 'busy', 'transaction'],
    ['40P01', 'busy', 'transaction'],
    ['55P03', 'busy', 'transaction'],
    ['57014', 'busy', 'never'],
    ['28P01', 'denied', 'never'],
    ['28000', 'denied', 'never'],
    ['42501', 'denied', 'never'],
    ['3D000', 'unreachable', 'never'],
    ['25006', 'read-only', 'never'],
    ['53100', 'full', 'never'],
    ['53300', 'unreachable', 'connection'],
    ['57P01', 'unreachable', 'connection'],
    ['08006', 'unreachable', 'connection'],
    ['ECONNREFUSED', 'unreachable', 'connection'],
    ['ENOTFOUND', 'unreachable', 'connection'],
    ['EAI_AGAIN', 'unreachable', 'connection'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'unreachable', 'connection'],
    ['XX001', 'corrupt', 'never'],
    ['58P01', 'corrupt', 'never'],
    ['58030', 'corrupt', 'never'],
    ['23503', 'conflict', 'never'],
    ['42P01', 'defect', 'never'],
  ])('%s is %s, retried: %s', (code, kind, retry) => {
    const error = Object.assign(new Error('with s3cret in it'), { code });
    const classified = classifyPostgresError(error, address);
    expect(classified).toMatchObject({ failure: { kind }, retry });
    expect(classified.failure.hint).not.toBe('');
    expect(classified.failure.message).not.toContain('s3cret');
  });

  it.each(['Connection terminated unexpectedly', 'timeout exceeded when trying to connect', 'Query read timeout'])(
    'pg’s own "%s" is unreachable',
    (text) => {
      expect(classifyPostgresError(new Error(text), address)).toMatchObject({ failure: { kind: 'unreachable' } });
    },
  );

  it('reports each address of a host that refused', () => {
    const error = new AggregateError([new Error('::1 refused'), new Error('127.0.0.1 refused')]);
    const refused = Object.assign(error, { code: 'ECONNREFUSED' });
    expect(classifyPostgresError(refused, address).failure.message).toContain('::1 refused, 127.0.0.1 refused');
  });
});
