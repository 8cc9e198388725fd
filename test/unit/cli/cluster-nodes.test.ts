import { afterEach, describe, expect, it } from 'vitest';
import { cli } from './recording-terminal.ts';
import { type StubAnswer, type StubApi, type StubRequest, stubApi } from './stub-api.ts';

let api: StubApi | undefined;
afterEach(async () => {
  await api?.close();
  api = undefined;
});

/** Nodes of site dc1 and of no site; `tagged` are those that the documents give each tag. */
async function addNodes(tagged: Readonly<Record<string, readonly string[]>>, ...args: readonly string[]) {
  const node = (id: number, name: string, cluster: number | null, site: string | null) => ({ id, name, cluster, site });
  const answers: Readonly<Record<string, (request: StubRequest) => StubAnswer>> = {
    '/clusters/3': () => [200, { id: 3, site: 'dc1' }],
    '/clusters/4': () => [200, { id: 4, site: null }],
    '/clusters/3/roles': () => [
      200,
      ['web', 'database'].map((name) => ({ name, meta: {}, volumes_roles_mapping: [] })),
    ],
    '/nodes': () => [
      200,
      [node(1, 'a', null, 'dc1'), node(2, 'b', null, 'dc1'), node(3, 'c', 3, 'dc1'), node(4, 'd', null, null)],
    ],
    '/sites/dc1/revisions/latest/select': ({ body }) => {
      const { selectors } = body as { readonly selectors: readonly { readonly node_tags: readonly string[] }[] };
      return [
        200,
        { revision: 1, nodes: selectors.flatMap(({ node_tags }) => node_tags.flatMap((tag) => tagged[tag] ?? [])) },
      ];
    },
    '/nodes?cluster_id=3': () => [200, []],
    '/clusters/3/assignment': () => [200, {}],
  };
  api = await stubApi((request) => answers[request.at]?.(request) ?? [404, {}]);
  const result = await cli(['cluster', 'add-nodes', ...args], { env: { SITEWRIGHT_API: api.url } });
  return { ...result, sent: api.requests.find(({ at }) => at.endsWith('/assignment'))?.body };
}

describe('cluster add-nodes --from-site', () => {
  it('adds nodes that are in no cluster, with the roles that their documents have as tags', async () => {
    const { code, out, sent } = await addNodes({ web: ['a', 'c'], database: ['a', 'b'] }, '3', '--from-site');
    expect([code, out]).toEqual([
      0,
      'added node 1 to cluster 3 as web, database\nadded node 2 to cluster 3 as database\n',
    ]);
    expect(sent).toEqual([
      { id: 1, roles: ['web', 'database'] },
      { id: 2, roles: ['database'] },
    ]);
  });

  it('adds none while one of them has no role, and names it', async () => {
    const { code, err, sent } = await addNodes({ web: ['a'] }, '3', '--from-site');
    expect([code, sent]).toEqual([2, undefined]);
    expect(err).toContain('no tag of b is a role of cluster 3');
  });

  it.each([
    [['4', '--from-site'], 'cluster 4 has no site'],
    [['3', '--from-site', '--nodes', '1'], 'take both from the site'],
    [['3', '--nodes', '1'], 'take both from the site'],
  ])('%j is wrong use', async (args, said) => {
    const { code, err } = await addNodes({}, ...args);
    expect(code).toBe(2);
    expect(err).toContain(said);
  });
});

describe('nodes that leave with the next deployment', () => {
  const leaving = { roles: ['web'], pending_roles: [], pending_deletion: true };
  const against = async (...args: readonly string[]) => {
    api = await stubApi(({ at }) =>
      at === '/nodes?cluster_id=3'
        ? [
            200,
            [
              { id: 1, ...leaving },
              { id: 4, ...leaving, pending_deletion: false },
            ],
          ]
        : [200, {}],
    );
    const result = await cli(['cluster', ...args], { env: { SITEWRIGHT_API: api.url } });
    return { ...result, sent: api.requests.find(({ method }) => method === 'POST')?.body };
  };

  it('are said to be pending, with the commands that remove them now or keep them', async () => {
    const { code, out } = await against('remove-nodes', '3', '--nodes', '1,2');
    expect([code, out]).toEqual([
      0,
      'removed node 2 from cluster 3\nnode 1 is deployed: its removal from cluster 3 is pending until the next deployment\n' +
        '  remove now:  sitewright cluster deploy 3\n  take back:   sitewright cluster add-nodes 3 --node 1\n',
    ]);
  });

  it('are kept by adding them again, with the roles that they have', async () => {
    const { out, sent } = await against('add-nodes', '3', '--nodes', '1');
    expect(out).toBe('node 1 stays in cluster 3: the removal is taken back\n');
    expect(sent).toEqual([{ id: 1, roles: ['web'] }]);
    await api!.close();
    const both = await against('add-nodes', '3', '--nodes', '1,2', '--roles', 'db');
    expect(both.out).toBe('added node 2 to cluster 3 as db\nnode 1 stays in cluster 3: the removal is taken back\n');
    await api!.close();
    expect(await against('add-nodes', '3', '--nodes', '4')).toMatchObject({ code: 2, sent: undefined });
  });
});
