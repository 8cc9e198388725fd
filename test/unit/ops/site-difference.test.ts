import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { differenceText } from '../../../src/cli/views/site-difference.ts';
import { checkOf } from '../../../src/core/checks/check.ts';
import { loadSite, type ResolvedSite, readDocumentFiles } from '../../../src/documents/index.ts';
import { compareSites } from '../../../src/ops/site-difference.ts';
import { apiAlone } from '../../api/api-rig.ts';

let files: readonly { readonly name: string; readonly text: string }[];
beforeAll(async () => {
  files = (await readDocumentFiles([fileURLToPath(new URL('../../../examples/stl1', import.meta.url))])).files;
});

/** The example site with texts replaced in its files. */
const edited = (...changes: readonly (readonly [RegExp, string])[]) =>
  files.map(({ name, text }) => ({ name, text: changes.reduce((now, [from, to]) => now.replace(from, to), text) }));

function siteOf(of: ReturnType<typeof edited>): ResolvedSite {
  const { site, diagnostics } = loadSite(of);
  if (site === undefined) throw new Error(JSON.stringify(diagnostics));
  return site;
}

describe('the difference of two revisions', () => {
  it('is nothing where only the spelling differs', () => {
    const spelled = edited([/^# .*$/gm, '# another remark'], [/(critical): true/g, '$1:   true # yes']);
    const { nodes, groups, configuration, unchanged_nodes } = compareSites(siteOf(edited()), siteOf(spelled));
    expect({ nodes, groups, configuration, unchanged_nodes }).toEqual({
      nodes: [],
      groups: [],
      configuration: [],
      unchanged_nodes: 6,
    });
  });

  it('is everything where nothing was deployed', () => {
    const { nodes, groups, unchanged_nodes } = compareSites(null, siteOf(edited()));
    expect(nodes.map(({ change }) => change)).toEqual(Array(6).fill('added'));
    expect(groups).toHaveLength(3);
    expect(unchanged_nodes).toBe(0);
  });

  it('lists new, changed and removed nodes, with changed fields', () => {
    const before = siteOf(edited());
    const [first, second, ...others] = before.nodes;
    const check = (name: string, cmd: string) => checkOf(name, { command: { cmd } });
    const after: ResolvedSite = {
      ...before,
      checks: [check('disk', 'df'), check('new', 'ls')],
      nodes: [{ ...first!, tags: [...first!.tags, 'gold'] }, ...others, { ...second!, name: 'new01' }],
      strategy: {
        ...before.strategy!,
        groups: before.strategy!.groups.map((group, at) =>
          at === 0 ? { ...group, critical: !group.critical } : group,
        ),
      },
    };
    expect(compareSites({ ...before, checks: [check('disk', 'df -h'), check('gone', 'ls')] }, after)).toEqual({
      nodes: [
        {
          ...{ name: first!.name, change: 'changed', fields: ['tags'] },
          values: [{ field: 'tags', before: first!.tags, after: [...first!.tags, 'gold'] }],
        },
        { name: 'new01', change: 'added', fields: [], values: [] },
        { name: second!.name, change: 'removed', fields: [], values: [] },
      ],
      groups: [
        {
          ...{ name: before.strategy!.groups[0]!.name, change: 'changed', fields: ['critical'] },
          values: [{ field: 'critical', before: true, after: false }],
        },
      ],
      checks: [
        {
          ...{ name: 'disk', change: 'changed', fields: ['probe'] },
          values: [{ field: 'probe.cmd', before: 'df -h', after: 'df' }],
        },
        { name: 'new', change: 'added', fields: [], values: [] },
        { name: 'gone', change: 'removed', fields: [], values: [] },
      ],
      configuration: [],
      unchanged_nodes: 4,
    });
  });
});

it('is shown as signs and counts', () => {
  const text = differenceText({
    site: 'dc1',
    revision: 3,
    since: 2,
    nodes: [
      {
        ...{ name: 'a', change: 'changed', fields: ['rack', 'tags'] },
        values: [
          { field: 'rack', before: null, after: 'r1' },
          { field: 'tags', before: ['x'], after: ['x', 'y'] },
        ],
      },
      { name: 'b', change: 'added', fields: [], values: [] },
      { name: 'd', change: 'added', fields: [], values: [] },
      { name: 'c', change: 'removed', fields: [], values: [] },
    ],
    groups: [
      {
        ...{ name: 'g', change: 'changed', fields: ['critical'] },
        values: [{ field: 'critical', before: true, after: false }],
      },
    ],
    checks: [{ name: 'disk', change: 'removed', fields: [], values: [] }],
    configuration: ['physical_provisioner'],
    unchanged_nodes: 4,
  });
  expect(text).toBe(`dc1 revision 3 against revision 2
~ node a
    rack: none -> "r1"
    tags: ["x"] -> ["x","y"]
+ 2 nodes: b, d
- node c
~ group g
    critical: true -> false
- check disk
~ configuration: physical_provisioner
nodes: 2 new, 1 changed, 1 removed, 4 unchanged
`);
});

it('is by default from the last good revision, if there is one', async () => {
  const rig = await apiAlone();
  await rig.ask('POST', '/api/v1/sites', { name: 'stl1' });
  const commit = async (of: ReturnType<typeof edited>) =>
    (await rig.ask('POST', '/api/v1/sites/stl1/revisions', { files: of })).status;
  expect(await commit(edited())).toBe(201);
  const path = '/api/v1/sites/stl1/revisions/latest/difference';
  expect((await rig.ask('GET', path)).body).toMatchObject({
    site: 'stl1',
    revision: 1,
    since: null,
    unchanged_nodes: 0,
  });
  expect(await commit(edited([/critical: true/, 'critical: false']))).toBe(201);
  const { status, body } = await rig.ask('GET', `${path}?since=1`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ revision: 2, since: 1, nodes: [], unchanged_nodes: 6 });
  expect(body.groups).toMatchObject([
    { change: 'changed', fields: ['critical'], values: [{ field: 'critical', before: true, after: false }] },
  ]);
  expect((await rig.ask('GET', `${path}?since=9`)).status).toBe(404);
  expect((await rig.ask('GET', '/api/v1/sites/nowhere/revisions/latest/difference')).status).toBe(404);
  await rig.close();
});
