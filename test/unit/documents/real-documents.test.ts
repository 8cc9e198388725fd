import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadSite } from '../../../src/documents/index.ts';

const folder = new URL('../../data/shipyard/', import.meta.url);
const read = (name: string) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') });

/** The table of the data's own README: file, and `yes` or `no: reason`. */
const table = [
  ...read('README.md').text.matchAll(/^\| ((?:config|strategy)-\S+\.yaml) \| \S+ \| (yes|no: [^|]+?) \|/gm),
].map(([, name, verdict]) => ({ name: name!, verdict: verdict! }));

// Each reason of the table, and the words of ours that name it.
const REASONS: Record<string, RegExp> = {
  'no: manifest is a mapping': /armada\.manifest must be text, not a mapping/,
  'no: empty name': /groups\[0\]\.name must not be empty/,
  'no: critical not boolean': /groups\[0\]\.critical .* 'cheese sandwich'/,
  'no: depends_on missing': /'depends_on' is missing in data\.groups\[0\]/,
  'no: node_names not strings': /node_names\[0\] must be text, not false/,
  'no: percent 190': /percent_successful_nodes must be at most 100, not 190/,
};

/** The minimum that makes a site of one document of the table. */
function siteWith(name: string) {
  const configuration = {
    name: 'configuration.yaml',
    text: [
      'schema: shipyard/DeploymentConfiguration/v1',
      'metadata: {name: deployment-configuration}',
      'data: {armada: {manifest: full-site}}',
    ].join('\n'),
  };
  if (name.startsWith('strategy-')) return [read(name), configuration];
  const strategy = {
    name: 'strategy.yaml',
    text: ['deployment-strategy', 'all-at-once']
      .map(
        (strategyName) =>
          `---\nschema: shipyard/DeploymentStrategy/v1\nmetadata: {name: ${strategyName}}\ndata: {groups: []}\n`,
      )
      .join(''),
  };
  return [read(name), strategy];
}

describe('the table of real documents', () => {
  it('is read in full', () => {
    const files = readdirSync(folder).filter((name) => /^(config|strategy)-.*\.yaml$/.test(name));
    expect(table.map(({ name }) => name).sort()).toEqual(files.sort());
    expect(table.filter(({ verdict }) => verdict !== 'yes')).toHaveLength(6);
  });

  it.each(table)('$name: $verdict', ({ name, verdict }) => {
    const { site, diagnostics } = loadSite(siteWith(name));
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    if (verdict === 'yes') {
      expect(errors).toEqual([]);
      expect(site).toBeDefined();
      return;
    }
    expect(site).toBeUndefined();
    expect(errors[0]).toMatchObject({ file: name, message: expect.stringMatching(REASONS[verdict]!) });
    expect(errors[0]!.line).toBeGreaterThan(1);
  });
});

describe('nodes of real sites', () => {
  interface Resolved {
    name: string;
    rack: string;
    tags: string[];
    labels: Record<string, string>;
  }
  const stems = readdirSync(folder)
    .filter((name) => /^nodes-.*\.yaml$/.test(name))
    .map((name) => name.replace(/\.yaml$/, ''));

  it.each(stems)('%s: names, racks and own tags are those of the resolved list', (stem) => {
    const resolved = JSON.parse(read(`${stem}.resolved.json`).text) as Resolved[];
    const { site, diagnostics } = loadSite([read(`${stem}.yaml`), read('config-treasuremap-airskiff.yaml')]);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(site!.nodes.map(({ name, rack }) => ({ name, rack }))).toEqual(
      resolved.map(({ name, rack }) => ({ name, rack })),
    );
    for (const [index, node] of site!.nodes.entries())
      expect(resolved[index]!.tags).toEqual(expect.arrayContaining([...node.tags]));
    expect(diagnostics.map(({ code }) => code)).toContain('node.profiles-not-given');
  });

  it.each(stems)('%s: with a profile for missing values, nodes are as in the resolved list', (stem) => {
    const resolved = JSON.parse(read(`${stem}.resolved.json`).text) as Resolved[];
    const nodes = read(`${stem}.yaml`);
    const { site: bare } = loadSite([nodes, read('config-treasuremap-airskiff.yaml')]);
    // The profiles are not part of the data: rebuilt from the common values of their nodes.
    const used = [...nodes.text.matchAll(/^ {2}host_profile: (\S+)/gm)].map(([, name]) => name!);
    const profiles = new Map(
      used.map((name, index) => {
        const own = new Set(bare!.nodes[index]!.tags);
        const tags = resolved[index]!.tags.filter((tag) => !own.has(tag));
        return [name, { tags, owner_data: resolved[index]!.labels }] as const;
      }),
    );
    const text = [...profiles]
      .map(([name, metadata]) =>
        JSON.stringify({ schema: 'drydock/HostProfile/v1', metadata: { name }, data: { metadata } }),
      )
      .map((json) => `---\n${json}\n`)
      .join('');
    const { site, diagnostics } = loadSite([
      nodes,
      { name: 'profiles.yaml', text },
      read('config-treasuremap-airskiff.yaml'),
    ]);
    expect(diagnostics.filter(({ code }) => code.startsWith('node.'))).toEqual([]);
    expect(site!.nodes.map(({ name, rack, tags, labels }) => ({ name, rack, tags, labels }))).toEqual(resolved);
  });
});

describe('the example site', () => {
  it('loads, with its strategy and configuration', () => {
    const example = new URL('../../../examples/stl1/', import.meta.url);
    const files = ['deployment-configuration.yaml', 'deployment-strategy.yaml', 'nodes.yaml'].map((name) => ({
      name,
      text: readFileSync(new URL(name, example), 'utf8'),
    }));
    const { site, diagnostics } = loadSite(files);
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
      // The published file repeats `replacement: true`.
      ['warning', 'yaml.duplicate-key'],
      ['warning', 'node.profiles-not-given'],
    ]);
    expect(site!.nodes).toHaveLength(6);
    expect(site!.strategy!.groups.map((group) => group.name)).toEqual(['masters', 'worker_group_0', 'workers']);
    // Written as 0 in the file: no wait, where Shipyard waits 120 s.
    expect(site!.configuration.physical_provisioner.join_wait).toBe(0);
  });
});
