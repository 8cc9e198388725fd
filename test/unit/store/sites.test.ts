import { expect, it } from 'vitest';
import { loadSite, type ResolvedSite } from '../../../src/documents/index.ts';
import { parseRevisionReference, type RevisionRecord, type Store } from '../../../src/store/index.ts';
import { describeStore } from './backends.ts';
import { failureOf } from './failures.ts';

const SITE = `schema: drydock/BaremetalNode/v1
metadata: {schema: metadata/Document/v1, name: n1.example.org}
data: {metadata: {rack: r1, tags: [a], owner_data: {k: v}, boot_mac: '52:54:00:00:00:01'}}
---
schema: shipyard/DeploymentConfiguration/v1
metadata: {schema: metadata/Document/v1, name: deployment-configuration}
data: {armada: {manifest: full-site}}
`;
const resolved: ResolvedSite = loadSite([{ name: 'site.yaml', text: SITE }]).site!;

const file = (text: string, name = 'site.yaml') => ({ files: [{ name, text }], resolved });

describeStore('SiteStore', (backend) => {
  it('creates, reads, lists by name in byte order, and deletes', async () => {
    const { sites } = await backend.fresh();
    for (const name of ['b', 'a-1', 'a.1', 'a_1', 'a1', '0']) await sites.create({ name });
    expect((await sites.list()).map((site) => site.name)).toEqual(['0', 'a-1', 'a.1', 'a1', 'a_1', 'b']);
    const site = await sites.get('b');
    expect(site).toMatchObject({ name: 'b', cluster: null, latestRevision: null, lastGoodRevision: null });
    expect(site.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    await sites.delete('b');
    expect(await failureOf(sites.get('b'))).toMatchObject({ kind: 'not-found', what: 'site', id: 'b' });
    expect(await failureOf(sites.delete('b'))).toMatchObject({ kind: 'not-found' });
  });

  it('accepts names by the pattern alone', async () => {
    const { sites } = await backend.fresh();
    const longest = 'a'.repeat(63);
    await sites.create({ name: longest });
    for (const name of [
      '',
      'A',
      '-a',
      '.a',
      '_a',
      'a b',
      'a/b',
      `${longest}a`,
      'é',
      'a\n',
      "a'; drop table site; --",
    ]) {
      const failure = await failureOf(sites.create({ name }));
      expect(failure, name).toMatchObject({ kind: 'invalid', problems: [{ path: 'name' }] });
      expect(await failureOf(sites.get(name)), name).toMatchObject({ kind: 'not-found' });
    }
    expect(await sites.list()).toHaveLength(1);
  });

  it('reports all problems of a call together', async () => {
    const { sites } = await backend.fresh();
    const failure = await failureOf(sites.create({ name: 'NO', cluster: '' }));
    expect(failure).toMatchObject({ kind: 'invalid', problems: [{ path: 'name' }, { path: 'cluster' }] });
  });

  it('refuses a name in use, also for concurrent requests', async () => {
    const url = await backend.newUrl();
    const stores = await Promise.all([1, 2, 3].map(() => backend.open(url)));
    const attempts = await Promise.allSettled(stores.map((store) => store.sites.create({ name: 'dc1' })));
    expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(1);
    expect(await failureOf(stores[0]!.sites.create({ name: 'dc1' }))).toMatchObject({ kind: 'conflict' });
  });

  it('numbers revisions from 1 and returns their files unchanged', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    const texts = ['a: 1\n', 'näme: ☃ 🚀\r\n', "'; drop table revision; --", 'nul \0 and lone \ud800', ''];
    for (const [index, text] of texts.entries()) {
      const { revision, created } = await sites.addRevision('dc1', file(text, `${index} ☃.yaml`));
      expect(created).toBe(true);
      expect(revision).toMatchObject({ site: 'dc1', number: index + 1, fileCount: 1, forced: false, lastGood: false });
      expect(revision.size).toBe(Buffer.byteLength(text));
    }
    for (const [index, text] of texts.entries()) {
      const { files } = await sites.getRevision('dc1', { number: index + 1 });
      expect(files).toEqual([{ name: `${index} ☃.yaml`, text }]);
    }
    expect((await sites.get('dc1')).latestRevision).toBe(texts.length);
  });

  it('keeps forced, diagnostics, author and message of a revision', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    const diagnostics = [{ severity: 'error', code: 'a.b', message: 'No “x”.', line: 3 }] as const;
    const given = { ...file('x'), resolved: null, diagnostics, author: 'Ann O’Nym', message: 'why\nnot' };
    const { revision } = await sites.addRevision('dc1', given);
    expect(revision).toMatchObject({ forced: true, diagnostics, author: 'Ann O’Nym', message: 'why\nnot' });
    const { files, ...record } = await sites.getRevision('dc1', 'latest');
    expect(record).toEqual(revision);
    expect(files).toEqual(given.files);
  });

  it('keeps what the documents mean with the revision, and refuses more of it than a reader can hold', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    const { revision } = await sites.addRevision('dc1', file(SITE));
    expect(await sites.resolvedRevision('dc1', 'latest')).toEqual({ record: revision, site: resolved });
    const { revision: bad } = await sites.addRevision('dc1', { ...file('x'), resolved: null });
    expect(await sites.resolvedRevision('dc1', { number: 2 })).toEqual({ record: bad, site: null });
    expect(await failureOf(sites.resolvedRevision('dc1', 'last-good'))).toMatchObject({ kind: 'not-found' });
    const many = { ...resolved, nodes: Array(33).fill({ ...resolved.nodes[0]!, labels: { k: 'v'.repeat(2 ** 20) } }) };
    expect(await failureOf(sites.addRevision('dc1', { ...file('y'), resolved: many }))).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'resolved', message: expect.stringContaining('The 33 nodes have 34 MB of settings') }],
    });
  });

  it('stores the same content as the latest once, and older content again', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    const first = await sites.addRevision('dc1', file('one'));
    expect(await sites.addRevision('dc1', { ...file('one'), message: 'again' })).toEqual({ ...first, created: false });
    await sites.addRevision('dc1', file('two'));
    const third = await sites.addRevision('dc1', file('one'));
    expect(third).toMatchObject({ created: true, revision: { number: 3, hash: first.revision.hash } });
    // The hash means two revisions now: the newest.
    expect(await sites.getRevision('dc1', { hash: first.revision.hash })).toMatchObject({ number: 3 });
  });

  it('hashes names, order and borders of files, not only their text', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    const [a, b] = [
      { name: 'a', text: '1' },
      { name: 'b', text: '2' },
    ];
    const variants = [[a, b], [b, a], [a], [{ name: 'ab', text: '12' }], [{ name: 'a', text: '1b2' }]];
    const hashes = new Set<string>();
    for (const files of variants) hashes.add((await sites.addRevision('dc1', { files, resolved })).revision.hash);
    expect(hashes.size).toBe(variants.length);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('refuses a revision without files, with two of a name, for no site', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    expect(await failureOf(sites.addRevision('dc1', { files: [], resolved }))).toMatchObject({ kind: 'invalid' });
    const twice = { files: [...file('1').files, ...file('2').files, { name: '', text: '' }], resolved };
    const failure = await failureOf(sites.addRevision('dc1', twice));
    expect(failure).toMatchObject({
      kind: 'invalid',
      problems: [{ path: 'files[1].name' }, { path: 'files[2].name' }],
    });
    expect(await failureOf(sites.addRevision('dc2', file('x')))).toMatchObject({ kind: 'not-found', what: 'site' });
    expect((await sites.listRevisions('dc1')).items).toEqual([]);
  });

  it('finds a revision by number, hash, beginning of a hash, latest, last-good', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    const revisions: RevisionRecord[] = [];
    for (const text of ['1', '2', '3']) revisions.push((await sites.addRevision('dc1', file(text))).revision);
    const second = revisions[1]!;
    for (const reference of [
      { number: 2 },
      { hash: second.hash },
      { hash: second.hash.slice(0, 7) },
      { hash: second.hash.slice(0, 20).toUpperCase() },
    ]) {
      expect(await sites.findRevision('dc1', reference), JSON.stringify(reference)).toEqual(second);
    }
    expect((await sites.findRevision('dc1', 'latest')).number).toBe(3);
    const missing = [{ number: 0 }, { number: 4 }, { number: 1.5 }, { number: Number.NaN }, { number: -1 }] as const;
    const unfit = [
      { hash: second.hash.slice(0, 6) },
      { hash: '' },
      { hash: '%%%%%%%%' },
      { hash: 'zzzzzzzz\0' },
    ] as const;
    for (const reference of [...missing, ...unfit, 'last-good' as const, { hash: `${second.hash}0` }]) {
      expect(await failureOf(sites.findRevision('dc1', reference))).toMatchObject({
        kind: 'not-found',
        what: 'revision',
      });
    }
    await sites.create({ name: 'empty' });
    expect(await failureOf(sites.getRevision('empty', 'latest'))).toMatchObject({ kind: 'not-found' });
  });

  it('refuses a beginning of a hash that fits several contents', async () => {
    const url = await backend.newUrl();
    const { sites } = await backend.open(url);
    await sites.create({ name: 'dc1' });
    await sites.addRevision('dc1', file('1'));
    await sites.addRevision('dc1', file('2'));
    await backend.sql(url, `update revision set hash = 'abcdef0' || substr(hash, 8)`);
    expect(await failureOf(sites.findRevision('dc1', { hash: 'abcdef0' }))).toMatchObject({ kind: 'conflict' });
  });

  it('never changes a stored revision', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    await sites.addRevision('dc1', { ...file('one'), author: 'a' });
    const before = await sites.getRevision('dc1', { number: 1 });
    await sites.addRevision('dc1', { ...file('one'), author: 'b', resolved: null });
    await sites.addRevision('dc1', { ...file('two'), author: 'c' });
    await sites.setSource('dc1', { url: 'https://git.example/x.git', branch: 'main' });
    expect(await sites.getRevision('dc1', { number: 1 })).toEqual(before);
  });

  it('numbers concurrent commits without gaps or duplicates', async () => {
    const url = await backend.newUrl();
    const stores = await Promise.all([1, 2, 3, 4].map(() => backend.open(url)));
    await stores[0]!.sites.create({ name: 'dc1' });
    const commits = stores.flatMap(({ sites }, at) =>
      Array.from({ length: 10 }, (_, n) => sites.addRevision('dc1', file(`${at} ${n}`))),
    );
    const numbers = (await Promise.all(commits)).map(({ revision }) => revision.number);
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  });

  it('pages revisions newest first, undisturbed by new ones', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    for (let n = 1; n <= 7; n++) await sites.addRevision('dc1', file(`${n}`));
    const numbers: number[][] = [];
    let before: string | undefined;
    do {
      const page = await sites.listRevisions('dc1', { limit: 3, ...(before && { before }) });
      numbers.push(page.items.map((revision) => revision.number));
      await sites.addRevision('dc1', file(`later ${numbers.length}`));
      before = page.next ?? undefined;
    } while (before);
    expect(numbers).toEqual([[7, 6, 5], [4, 3, 2], [1]]);
    expect((await sites.listRevisions('dc1', { limit: 10 })).next).toBeNull();
    expect(await failureOf(sites.listRevisions('none'))).toMatchObject({ kind: 'not-found' });
  });

  it('refuses a limit out of range and a cursor that is not its own', async () => {
    const { sites, runs } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    for (const limit of [0, -1, 1.5, 1001, Number.NaN]) {
      expect(await failureOf(sites.listRevisions('dc1', { limit }))).toMatchObject({ kind: 'invalid' });
    }
    const alien = Buffer.from('["2026",1]').toString('base64url');
    for (const before of ['', 'x', '%', 'bnVsbA', alien]) {
      expect(await failureOf(sites.listRevisions('dc1', { before })), before).toMatchObject({ kind: 'invalid' });
      expect(await failureOf(runs.list({ before })), before).toMatchObject({ kind: 'invalid' });
    }
  });

  it('marks the last good revision once per run', async () => {
    const { sites } = await backend.fresh();
    await sites.create({ name: 'dc1' });
    for (const text of ['1', '2', '3']) await sites.addRevision('dc1', file(text));
    const first = await sites.markLastGood('dc1', 1, 'run-a');
    expect(first).toMatchObject({ revision: 1, runId: 'run-a' });
    await sites.markLastGood('dc1', 3, 'run-b');
    expect(await sites.findRevision('dc1', 'last-good')).toMatchObject({ number: 3, lastGood: true });
    // A late repeat of the first mark must not bring revision 1 back.
    expect(await sites.markLastGood('dc1', 1, 'run-a')).toEqual(first);
    expect(await sites.get('dc1')).toMatchObject({ latestRevision: 3, lastGoodRevision: 3 });
    expect(await failureOf(sites.markLastGood('dc1', 2, 'run-a'))).toMatchObject({ kind: 'conflict' });
    expect(await failureOf(sites.markLastGood('dc1', 9, 'run-c'))).toMatchObject({ kind: 'not-found' });
  });

  it('deletes a site with all its data, and refuses while a run holds it', async () => {
    const store = await backend.fresh();
    await populated(store);
    expect(await failureOf(store.sites.delete('dc1'))).toMatchObject({
      kind: 'conflict',
      holder: { workflowId: 'w', runId: 'r' },
    });
    await store.claims.release({ site: 'dc1' }, { workflowId: 'w', runId: 'r' });
    await store.sites.delete('dc1');
    await store.sites.create({ name: 'dc1' });
    expect((await store.sites.listRevisions('dc1')).items).toEqual([]);
    expect(await store.nodeFacts.list('dc1')).toEqual([]);
    expect((await store.runs.list({ site: 'dc1' })).items).toHaveLength(1);
  });
});

async function populated({ sites, runs, claims, nodeFacts }: Store): Promise<void> {
  const at = '2026-01-01T00:00:00Z';
  await sites.create({ name: 'dc1' });
  await sites.addRevision('dc1', file('1'));
  await sites.markLastGood('dc1', 1, 'r');
  await nodeFacts.put('dc1', [{ node: 'n1', seenAt: at }]);
  await runs.put({
    id: 'r',
    sequence: 0,
    workflowId: 'w',
    kind: 'deploy_site',
    phase: 'x',
    site: 'dc1',
    startedAt: at,
  });
  await claims.claim({ site: 'dc1' }, { workflowId: 'w', runId: 'r', executionId: 'r' });
}

it('parses all forms of a revision name', () => {
  expect(parseRevisionReference('latest')).toBe('latest');
  expect(parseRevisionReference('last-good')).toBe('last-good');
  expect(parseRevisionReference('12')).toEqual({ number: 12 });
  expect(parseRevisionReference('1234567')).toEqual({ hash: '1234567' });
  expect(parseRevisionReference('ABCDEF0')).toEqual({ hash: 'abcdef0' });
  for (const text of ['', 'abcdef', '-1', '1.5', 'newest', ' 1', `${'a'.repeat(65)}`]) {
    expect(parseRevisionReference(text), text).toBeUndefined();
  }
});
