import { afterEach, expect, it } from 'vitest';
import { migrations } from '../../../src/store/migrations/migrator.ts';
import { builtProgram } from '../../rig/program.ts';
import { describeStore } from './backends.ts';
import { Child } from './processes/child.ts';

// Each test starts real processes, which load TypeScript first.
const PATIENT = 60_000;

describeStore('The store between processes', (backend) => {
  const children: Child[] = [];
  const start = (script: string, ...parameters: string[]): Child => {
    const child = new Child(builtProgram(`test/unit/store/processes/${script}.ts`), ...parameters);
    children.push(child);
    return child;
  };
  const allReady = async (these: readonly Child[]): Promise<void> => {
    for (const child of these) expect(await child.next()).toBe('ready');
  };
  afterEach(() => Promise.all(children.splice(0).map((child) => child.kill9())));

  it('is migrated once when several start at the same moment on an empty database', { timeout: PATIENT }, async () => {
    const url = await backend.newUrl('empty');
    const current = { schemaVersion: migrations.length, pending: [] };
    const starters = [1, 2, 3].map(() => start('open', url));
    await allReady(starters);
    for (const starter of starters) starter.go();
    for (const starter of starters) expect(await starter.next()).toEqual(current);
    const store = await backend.open(url);
    expect((await store.status()).applied.map((migration) => migration.version)).toEqual(
      migrations.map(({ version }) => version),
    );
    expect(await store.sites.list()).toHaveLength(3);
  });

  it('gives each site to exactly one process', { timeout: PATIENT }, async () => {
    const url = await backend.newUrl();
    const { sites, claims } = await backend.open(url);
    const names = Array.from({ length: 40 }, (_, n) => `dc${n}`);
    for (const name of names) await sites.create({ name });
    const rivals = [1, 2, 3].map(() => start('claim', url, ...names));
    await allReady(rivals);
    for (const rival of rivals) rival.go();
    const got: string[] = [];
    for (const rival of rivals) got.push(...(await rival.next<string[]>()));
    expect(got.sort()).toEqual(names.toSorted());
    expect(await Promise.all(names.map((site) => claims.holder({ site })))).not.toContain(null);
  });

  it('loses nothing acknowledged when one of two writers is killed', {
    timeout: PATIENT,
  }, async () => {
    const url = await backend.newUrl();
    const { sites, runs } = await backend.open(url);
    for (const name of ['victim', 'other']) await sites.create({ name });
    const other = start('write', url, 'other');
    await allReady([other]);
    other.go();
    // The last write answered, over several lives of the victim.
    for (const life of [1, 2, 3]) {
      const victim = start('write', url, 'victim');
      await allReady([victim]);
      const before = (await sites.get('victim')).latestRevision ?? 0;
      victim.go();
      let answered = 0;
      while (answered < 5 * life) answered = await victim.next<number>();
      await victim.kill9();

      const { latestRevision } = await sites.get('victim');
      expect(latestRevision).toBeGreaterThanOrEqual(before + answered);
      const { items } = await sites.listRevisions('victim', { limit: 1000 });
      expect(items.map((revision) => revision.number)).toEqual(
        Array.from({ length: latestRevision! }, (_, n) => latestRevision! - n),
      );
      // All nodes of a batch, or none.
      const states = new Set((await runs.listNodes('victim')).map(({ report }) => report.reason));
      expect(states.size).toBe(1);
    }
    let last = 0;
    while (last < 10) last = await other.next<number>();
    await other.kill9();
    expect((await sites.get('other')).latestRevision).toBeGreaterThanOrEqual(last);
    if (backend.dialect === 'sqlite') {
      expect(await backend.sql(url, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(await backend.sql(url, 'pragma foreign_key_check')).toEqual([]);
    }
  });
});
