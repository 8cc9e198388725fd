import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isError } from '../../../src/core/problems/diagnostic.ts';
import { loadSite } from '../../../src/documents/index.ts';
import { renderSite } from '../../../src/documents/site/render-site.ts';

const layered = {
  name: 'layered.yaml',
  text: readFileSync(new URL('../../data/cases/airship/layered.yaml', import.meta.url), 'utf8'),
};

const file = (name: string, text: string) => ({ name, text });
const POLICY = file(
  'policy.yaml',
  'schema: deckhand/LayeringPolicy/v1\nmetadata: {schema: metadata/Control/v1, name: layering-policy}\ndata: {layerOrder: [global, site]}\n',
);
const CONFIGURATION = file(
  'configuration.yaml',
  `schema: shipyard/DeploymentConfiguration/v1
metadata:
  schema: metadata/Document/v1
  name: deployment-configuration
  layeringDefinition: {layer: site}
  storagePolicy: cleartext
data: {armada: {manifest: full-site}}
`,
);

interface Layers {
  readonly layer?: string;
  readonly more?: string;
  readonly labels?: string;
}

const document = (
  schema: string,
  name: string,
  data: string,
  { layer = 'site', more = '', labels = '{}' }: Layers = {},
) =>
  file(
    `${name}.yaml`,
    `schema: ${schema}
metadata:
  schema: metadata/Document/v1
  name: ${name}
  labels: ${labels}
  layeringDefinition: {layer: ${layer}${more.startsWith(',') ? more : ''}}
  storagePolicy: cleartext
${more.startsWith(',') ? '' : more}data: ${data}
`,
  );

const codes = (...files: readonly { readonly name: string; readonly text: string }[]) =>
  loadSite([POLICY, CONFIGURATION, ...files]).diagnostics.map(
    ({ severity, code, file: at, line }) => `${severity} ${code} ${at}:${line}`,
  );

const PARENT = ', parentSelector: {host: base}, actions: [{method: merge, path: .}]';
const NODE = document('drydock/BaremetalNode/v1', 'n001', '{host_profile: server}');

describe('a layered site', () => {
  it('is rendered before it is checked', () => {
    const { site, diagnostics } = loadSite([layered]);
    expect(diagnostics.filter(({ severity }) => severity !== 'info')).toEqual([]);
    expect(site!.nodes).toEqual([
      {
        name: 'n001',
        hostname: 'n001',
        rack: null,
        tags: ['all'],
        labels: { role: 'server' },
        distro_series: 'jammy',
        hwe_kernel: 'hwe-22.04',
        layout: { kernelOptions: 'iommu=pt' },
      },
    ]);
  });

  it('means the same rendered, silently', () => {
    const { documents } = renderSite([layered]);
    const text = documents!.map((one) => `---\n${JSON.stringify(one)}\n`).join('');
    expect(loadSite([file('rendered.yaml', text)])).toEqual({
      site: loadSite([layered]).site,
      diagnostics: [expect.objectContaining({ code: 'site.all-at-once' })],
    });
  });

  it('places a problem where its value is written, and names its layer', () => {
    const base = document('drydock/HostProfile/v1', 'base', '{platform: {image: 5}}', {
      layer: 'global',
      more: ', abstract: true',
      labels: '{host: base}',
    });
    const server = document('drydock/HostProfile/v1', 'server', '{metadata: {tags: 7}}', { more: PARENT });
    const { diagnostics } = loadSite([POLICY, CONFIGURATION, base, server, NODE]);
    const [image] = diagnostics.filter(({ file: at }) => at === 'base.yaml');
    expect(image).toMatchObject({ code: 'document.wrong-type', line: 8, text: '5', path: 'data.platform.image' });
    expect(image!.message).toMatch(/'server'.*'base' of layer global/);
    const [tags] = diagnostics.filter(({ file: at }) => at === 'server.yaml');
    expect(tags).toMatchObject({ code: 'document.wrong-type', text: '7' });
    expect(tags!.message).not.toContain('layer');
  });

  it('places a problem of a substituted value in its source', () => {
    const source = document('harbor/Catalogue/v1', 'addresses', '\n  series: [jammy]');
    const server = document('drydock/HostProfile/v1', 'server', '{}', {
      more: '  substitutions: [{src: {schema: harbor/Catalogue/v1, name: addresses, path: .series}, dest: {path: .platform.image}}]\n',
    });
    const { diagnostics } = loadSite([POLICY, CONFIGURATION, source, server, NODE]);
    expect(diagnostics.filter(isError)).toEqual([
      expect.objectContaining({ code: 'document.wrong-type', file: 'addresses.yaml', line: 9 }),
    ]);
  });

  it('refuses what keeps a document of the deployment from being rendered, and warns of the rest', () => {
    const missing = '  substitutions: [{src: {schema: harbor/Key/v1, name: gone, path: .}, dest: {path: .key}}]\n';
    const chart = document('armada/Chart/v1', 'chart', '{}', { more: missing });
    const server = document('drydock/HostProfile/v1', 'server', '{}');
    expect(codes(chart, server, NODE)).toEqual([
      'info site.all-at-once configuration.yaml:7',
      'info document.not-used chart.yaml:1',
      'warning rendering.missing-source chart.yaml:8',
    ]);
    const bad = document('drydock/HostProfile/v1', 'server', '{}', { more: missing });
    expect(codes(bad, NODE)).toContain('error rendering.missing-source server.yaml:8');
    // A source of a document that is read is read as well.
    const through = document('harbor/Catalogue/v1', 'through', '{}', { more: missing });
    const user = document('drydock/HostProfile/v1', 'server', '{}', {
      more: '  substitutions: [{src: {schema: harbor/Catalogue/v1, name: through, path: .key}, dest: {path: .platform.image}}]\n',
    });
    expect(codes(through, user, NODE)).toContain('error rendering.missing-source through.yaml:8');
  });

  it('refuses a value from a document that pegleg has encrypted, and takes one that it has only wrapped', () => {
    const wrapped = (encrypted: string) =>
      file(
        'secret.yaml',
        `schema: pegleg/PeglegManagedDocument/v1
metadata: {schema: metadata/Document/v1, name: wrapper, layeringDefinition: {layer: site}, storagePolicy: cleartext}
data:
${encrypted}  managedDocument:
    schema: deckhand/Passphrase/v1
    metadata: {schema: metadata/Document/v1, name: series, layeringDefinition: {layer: site}, storagePolicy: cleartext}
    data: jammy
`,
      );
    const server = document('drydock/HostProfile/v1', 'server', '{}', {
      more: '  substitutions: [{src: {schema: deckhand/Passphrase/v1, name: series, path: .}, dest: {path: .platform.image}}]\n',
    });
    const sealed = wrapped('  encrypted: {at: now, by: me}\n');
    expect(codes(sealed, server, NODE)).toContain('error rendering.encrypted server.yaml:8');
    const { site } = loadSite([POLICY, CONFIGURATION, wrapped(''), server, NODE]);
    expect(site!.nodes[0]).toMatchObject({ distro_series: 'jammy' });
    expect(renderSite([POLICY, sealed]).diagnostics).toEqual([
      expect.objectContaining({ code: 'rendering.encrypted', file: 'secret.yaml' }),
    ]);
  });

  it('warns of files that hold no documents, and refuses documents without a schema', () => {
    const playbook = file('play.yaml', '- hosts: all\n  tasks: []\n');
    const template = file('values.yaml', 'a: {{ b }}\n');
    expect(codes(playbook, template, document('drydock/HostProfile/v1', 'server', '{}'), NODE)).toEqual(
      expect.arrayContaining(['warning document.other-file play.yaml:1', 'warning document.other-file values.yaml:1']),
    );
    expect(codes(file('typo.yaml', 'shema: a/B/v1\nmetadata: {name: x}\ndata: {}\n'))).toContain(
      'error document.no-schema typo.yaml:1',
    );
  });

  it('names the old form of documents', () => {
    const old = file('old.yaml', 'apiVersion: drydock/v1\nkind: BaremetalNode\nmetadata: {name: n1}\nspec: {}\n');
    const [problem] = loadSite([CONFIGURATION, old]).diagnostics.filter(isError);
    expect(problem).toMatchObject({ code: 'document.old-form', file: 'old.yaml', line: 1 });
  });
});

describe('hostile documents', () => {
  const chain = (count: number, substitutions: (index: number) => string) => [
    document('a/B/v1', 'd0', '{v: xxxxxxxxxxxxxxxx}'),
    ...Array.from({ length: count }, (_, index) =>
      document('a/B/v1', `d${index + 1}`, '{}', { more: `  substitutions: [${substitutions(index)}]\n` }),
    ),
  ];
  const from = (index: number, path: string, to: string) =>
    `{src: {schema: a/B/v1, name: d${index}, path: ${path}}, dest: {path: ${to}}}`;

  it('stops at values that double in each document', () => {
    const doubling = chain(60, (index) => `${from(index, '.', '.a')}, ${from(index, '.', '.b')}`);
    const { diagnostics } = renderSite([POLICY, ...doubling]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['rendering.too-large']);
  });

  it('stops at values that are nested deeper in each document', () => {
    const { diagnostics } = renderSite([POLICY, ...chain(5_000, (index) => from(index, '.', '.a'))]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['rendering.too-large']);
  });

  it('renders a chain of thousands of documents', () => {
    const { documents } = renderSite([POLICY, ...chain(5_000, (index) => from(index, '.v', '.v'))]);
    expect(documents!.at(-1)).toMatchObject({ metadata: { name: 'd5000' }, data: { v: 'xxxxxxxxxxxxxxxx' } });
  });

  it('ends an expression that backtracks without end', () => {
    const pattern = `{src: {schema: a/B/v1, name: d0, path: .v}, dest: {path: .t, pattern: '(x+x+)+y'}}`;
    const dest = document('a/B/v1', 'd', `{t: ${'x'.repeat(5_000)}}`, { more: `  substitutions: [${pattern}]\n` });
    const { diagnostics } = renderSite([POLICY, document('a/B/v1', 'd0', '{v: z}'), dest]);
    expect(diagnostics.map(({ code }) => code)).toEqual(['rendering.substitution']);
  });

  it('keeps a key that is named like a part of every object', () => {
    const parent = document('a/B/v1', 'p', '{"__proto__": {x: 1}}', { layer: 'global', labels: '{host: base}' });
    const { documents } = renderSite([
      POLICY,
      parent,
      document('a/B/v1', 'd', '{"__proto__": {y: 2}}', { more: PARENT }),
    ]);
    expect(JSON.stringify(documents!.at(-1)!.data)).toBe('{"__proto__":{"x":1,"y":2}}');
  });
});
