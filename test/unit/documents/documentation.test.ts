import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  DEFAULT_DEPLOYMENT_CONFIGURATION,
  DEFAULT_FOLDER_LIMITS,
  DEFAULT_READ_LIMITS,
  formatDiagnostics,
  loadSite,
  parseStrategyData,
  parseYaml,
  readPlainScalar,
} from '../../../src/documents/index.ts';

const page = readFileSync(new URL('../../../docs/reference/documents.md', import.meta.url), 'utf8');

/** Code blocks of the page, each with the remark above it. */
const blocks = [...page.matchAll(/(?:<!-- ([^>]*) -->\n)?```(\w+)\n([\s\S]*?)```/g)].map(
  ([, remark, language, text]) => ({
    remark: remark ?? '',
    language: language!,
    text: text!,
  }),
);
const block = (remark: string) => blocks.find((candidate) => candidate.remark === remark)!.text;

describe('docs/reference/documents.md', () => {
  it('has valid YAML', () => {
    const yaml = blocks.filter(({ language }) => language === 'yaml');
    expect(yaml.length).toBeGreaterThan(5);
    for (const { text } of yaml) expect(parseYaml(text).diagnostics).toEqual([]);
  });

  it.each(blocks.filter(({ remark }) => remark === 'site'))('shows a site that loads: %#', ({ text }) => {
    const { site, diagnostics } = loadSite([{ name: 'site.yaml', text }]);
    expect(diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(site).toBeDefined();
  });

  it('shows a node as it is resolved', () => {
    const text = blocks.filter(({ remark }) => remark === 'site')[1]!.text;
    expect(loadSite([{ name: 'site.yaml', text }]).site!.nodes).toEqual(JSON.parse(block('nodes of the site above')));
  });

  it('shows a valid strategy', () => {
    const [data] = parseYaml(block('data of shipyard/DeploymentStrategy/v1')).documents;
    expect(parseStrategyData(data!.value)).toMatchObject({ ok: true, warnings: [] });
  });

  it('shows valid checks', () => {
    const { site } = loadSite([{ name: 'site.yaml', text: block('checks') }], { configuration: 'optional' });
    expect(site!.checks!.map(({ name, probe }) => `${name}: ${probe.kind}`)).toEqual([
      ...['metrics: http', 'gateway: tcp', 'errors: prometheus', 'disk: command', 'ssh-of-neighbour: tcp'],
    ]);
  });

  it('lists all defaults', () => {
    const [data] = parseYaml(block('defaults of shipyard/DeploymentConfiguration/v1')).documents;
    const { physical_provisioner, ...others } = DEFAULT_DEPLOYMENT_CONFIGURATION;
    const { deployment_strategy, ...times } = physical_provisioner;
    expect(deployment_strategy).toBeNull();
    expect(data!.value).toEqual({ physical_provisioner: times, ...others });
  });

  it('describes how scalars are read', () => {
    const table = page.slice(page.indexOf('<!-- scalars -->'), page.indexOf('Anchors, aliases'));
    const rows = [...table.matchAll(/^\| (`.*?) +\| (.*?) +\|$/gm)];
    expect(rows.length).toBeGreaterThan(8);
    for (const [, written, value] of rows) {
      for (const [, scalar] of written!.matchAll(/`([^`]+)`/g)) {
        const expected = value === 'text' ? scalar : JSON.parse(value!.replaceAll('`', ''));
        expect(readPlainScalar(scalar!), scalar).toBe(expected);
      }
    }
  });

  it('prints the report it shows', () => {
    const files = [{ name: 'site.yaml', text: block('document of the report above') }];
    const { diagnostics } = loadSite(files, { configuration: 'optional' });
    const shown = diagnostics.filter(({ code }) => code.startsWith('document.'));
    expect(formatDiagnostics(shown, files)).toBe(block('report of the document below'));
  });

  it('has the actual limits', () => {
    const { maxBytes, maxDocuments, maxDepth, maxAliases, maxExpandedValues } = DEFAULT_READ_LIMITS;
    expect([maxBytes, maxDocuments, maxDepth, maxAliases, maxExpandedValues]).toEqual([
      8 * 2 ** 20,
      10_000,
      100,
      10_000,
      200_000,
    ]);
    expect([DEFAULT_FOLDER_LIMITS.maxFiles, DEFAULT_FOLDER_LIMITS.maxTotalBytes]).toEqual([5_000, 64 * 2 ** 20]);
    expect(page).toContain(
      '8 MiB and 10,000 documents a file, 100 levels of nesting, 10,000 aliases a document and 200,000 expanded values',
    );
    expect(page).toContain('5,000 files and 64 MiB');
  });

  it('explains every existing code, and no other', () => {
    const folder = new URL('../../../src/documents/', import.meta.url);
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const text = sources.map((name) => readFileSync(new URL(name, folder), 'utf8')).join('');
    const codes = [
      ...text.matchAll(/'((?:yaml|document|rendering|site|strategy|node|network|files)\.[a-z]+[a-z0-9-]+)'/g),
    ].map(([, code]) => code!);
    const kinds = /kind: ((?:'[a-z]+' \| )+'[a-z]+'),/.exec(text)![1]!.replaceAll("'", '').split(' | ');
    const problems = readFileSync(new URL('reader/yaml-problems.ts', folder), 'utf8');
    const inYaml = [...problems.matchAll(/readonly kind: ((?:'[a-z-]+'(?: \| )?)+)/g)].flatMap(([, found]) =>
      found!.replaceAll("'", '').split(' | '),
    );
    const onlyInPackages = ['pairs-item', 'stray-tab', 'collection-tag', 'impossible-date'];
    const all = new Set([
      ...codes,
      ...kinds.map((kind) => `strategy.unknown-${kind}`),
      ...inYaml.filter((kind) => !onlyInPackages.includes(kind)).map((kind) => `yaml.${kind}`),
    ]);
    const section = page.slice(page.indexOf('\n## Finding codes') + 1).split('\n## ')[0]!;
    const explained = [...section.matchAll(/`([a-z]+\.[a-z0-9-]+)`/g)].map(([, code]) => code!);
    expect([...explained].sort()).toEqual([...all].sort());
  });

  it('links to existing schemas', () => {
    const [, path] = /\$schema=(\S+\.json)$/m.exec(page)!;
    expect(existsSync(new URL(path!, new URL('../../../examples/stl1/', import.meta.url)))).toBe(true);
  });
});
