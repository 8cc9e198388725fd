import { describe, expect, it } from 'vitest';
import { loadSite } from '../../../src/documents/index.ts';
import { CONFIGURATION, configuration, document, files, findings, node, strategy } from './site-files.ts';

const ALL = strategy('- {name: all, critical: false, depends_on: [], selectors: []}');
const group = (name: string, depends_on: string, selectors = '[]') =>
  `- name: ${name}\n  critical: false\n  depends_on: ${depends_on}\n  selectors: ${selectors}`;

describe('a sound site', () => {
  it('has no findings, whatever the order of files and documents', () => {
    const parts = [CONFIGURATION, ALL, node('n1') + node('n2')];
    for (const texts of [parts, [...parts].reverse(), [parts.join('')]]) {
      const { site, diagnostics } = loadSite(files(...texts));
      expect(diagnostics).toEqual([]);
      expect(site!.nodes.map(({ name }) => name)).toEqual(['n1', 'n2']);
      expect(site!.strategyName).toBe('deployment-strategy');
    }
  });

  it('accepts a selector without criteria, and labels in all three forms', () => {
    const selectors = '[{}, {node_labels: ["a: b", "a:b", {a: b}]}, {node_names: []}]';
    expect(
      findings(CONFIGURATION, strategy(group('g', '[]', selectors)), node('n1', '{metadata: {owner_data: {a: b}}}')),
    ).toEqual([]);
  });
});

describe('the frame of documents', () => {
  it('is checked in every document, with all problems', () => {
    expect(
      findings(
        CONFIGURATION + ALL + node('n1'),
        '--- just text\n--- [a]\n---\nmetadata: {name: x}\n---\nschema: 7\n---\nschema: drydock/BaremetalNode/v1\n---\n' +
          'schema: drydock/BaremetalNode/v1\nmetadata:\n  name: ""\n  storagePolicy: cleartxt\n  layeringDefinition: {abstract: maybe}\ndata: {}\n',
        document('drydock/BaremetalNode/v1', 'n2', ''),
        '---\nschema: drydock/BaremetalNode/v1\nmetadata: {name: n3}\n',
      ),
    ).toEqual([
      'error document.not-a-mapping 2.yaml:1:5 just text',
      'error document.not-a-mapping 2.yaml:2:5 [a]',
      'error document.no-schema 2.yaml:4:1 metadata: {name: x}',
      'error document.no-schema 2.yaml:6:9 7',
      'error document.missing-key 2.yaml:8:1 schema: drydock/BaremetalNode/v1',
      'error document.wrong-value 2.yaml:12:9 ""',
      'error document.wrong-value 2.yaml:13:18 cleartxt',
      'error document.wrong-type 2.yaml:14:34 maybe',
      'error document.wrong-type 3.yaml:5:1 data',
      'error document.missing-key 4.yaml:2:1 schema: drydock/BaremetalNode/v1',
    ]);
  });

  it('reports the schemas of others once each as unused', () => {
    const rack = document('drydock/Rack/v1', 'a', '{}') + document('drydock/Rack/v1', 'b', '{}');
    const others = ['armada/Chart/v1', 'pegleg/Network/v1', 'nc/HostProfiler/v1', 'metadata/Document/v1'];
    const { site, diagnostics } = loadSite(
      files(CONFIGURATION, ALL, node('n1'), rack, ...others.map((schema) => document(schema, 'x', '{}'))),
    );
    expect(site!.nodes).toHaveLength(1);
    expect(new Set(diagnostics.map(({ severity, code }) => `${severity} ${code}`))).toEqual(
      new Set(['info document.not-used']),
    );
    expect(diagnostics.map(({ message }) => message)).toEqual([
      "2 documents of the schema 'drydock/Rack/v1' are not used by a deployment",
      ...others.map((schema) => `1 document of the schema '${schema}' is not used by a deployment`),
    ]);
  });

  it.each([
    ['drydock/BareMetalNode/v1', 'its machine would not be deployed', "Write 'schema: drydock/BaremetalNode/v1'"],
    ['drydock/BaremetalNode/v2', 'its machine would not be deployed', "Write 'schema: drydock/BaremetalNode/v1'"],
    ['drydock/BaremetalNode/v1alpha1', 'its machine would not be deployed', "Write 'schema: drydock/BaremetalNode/v1'"],
    ['shipyard/baremetal-nodes/v1', 'its machine would not be deployed', "Write 'schema: drydock/BaremetalNode/v1'"],
    ['BaremetalNode', 'its machine would not be deployed', "Write 'schema: drydock/BaremetalNode/v1'"],
    ['drydok/BaremetalNod/v1', 'its machine would not be deployed', "Write 'schema: drydock/BaremetalNode/v1'"],
    [
      'shipyard/DeploymentStrategy/v1.0',
      'its groups would not count',
      "Write 'schema: shipyard/DeploymentStrategy/v1'",
    ],
    ['drydock/network/v1', 'it would have no effect', "Write 'schema: drydock/Network/v1'"],
    ['drydock/Server/v1', 'it would have no effect', 'The schemas of sites: shipyard/DeploymentStrategy/v1, '],
  ])('refuses %s, which nothing reads: %s', (schema, loses, hint) => {
    const { site, diagnostics } = loadSite(files(CONFIGURATION, ALL, node('n1'), document(schema, 'n2', '{}')));
    expect(site).toBeUndefined();
    expect(diagnostics).toMatchObject([
      {
        ...{ severity: 'error', code: 'document.unknown-schema', file: '4.yaml', text: schema },
        ...{ message: `unknown schema '${schema}' of 'n2': ${loses}`, hint: expect.stringContaining(hint) as string },
      },
    ]);
  });

  it('does not check the contents of documents that it does not read', () => {
    const chart = document('armada/Chart/v1', 'ceph', '{pod: 1, pod: 2, key: !vault x, profile: *gone}');
    const rack = document('drydock/Rack/v1', 'dell', '{}');
    expect(findings(CONFIGURATION, ALL, node('n1'), chart, rack)).toEqual([
      'info document.not-used 4.yaml:2:9 armada/Chart/v1',
      'warning yaml.duplicate-key 4.yaml:5:16 pod',
      'warning yaml.unknown-tag 4.yaml:5:29 !vault',
      'warning yaml.unknown-alias 4.yaml:5:48 *gone',
      'info document.not-used 5.yaml:2:9 drydock/Rack/v1',
    ]);
    expect(findings(CONFIGURATION, ALL, node('n1', '{a: 1, a: 2}'))).toEqual([
      'error document.unknown-key 3.yaml:5:8 a',
      'error yaml.duplicate-key 3.yaml:5:14 a',
    ]);
  });

  it('without a LayeringPolicy: omits abstract documents, and refuses those that take values of others', () => {
    const abstract = node('base', '7').replace(
      'name: base',
      'name: base\n  layeringDefinition: {abstract: true, layer: global}',
    );
    expect(findings(CONFIGURATION, ALL, abstract, node('n1'))).toEqual(['warning document.abstract 3.yaml:5:34 true']);
    expect(loadSite(files(CONFIGURATION, ALL, abstract, node('n1'))).site!.nodes.map(({ name }) => name)).toEqual([
      'n1',
    ]);
    const substituted = (data: string) =>
      node('n1', data).replace(
        'name: n1',
        'name: n1\n  substitutions: [{src: {schema: a/B/v1, name: c, path: .}, dest: {path: .metadata.rack}}]',
      );
    expect(findings(CONFIGURATION, ALL, substituted('{}'))).toEqual([
      'error rendering.no-policy 3.yaml:5:3 substitutions',
    ]);
    // Rendered documents keep their substitutions.
    expect(findings(CONFIGURATION, ALL, substituted('{metadata: {rack: r1}}'))).toEqual([]);
    const malformed = node('n1').replace('name: n1', 'name: n1\n  substitutions: [{src: {}, dest: {}}]');
    expect(findings(CONFIGURATION, ALL, malformed).filter((one) => one.startsWith('error'))).not.toEqual([]);
  });

  it('without a LayeringPolicy: refuses documents that layering would change', () => {
    const layered = (layering: string) =>
      document('drydock/HostProfile/v1', 'dell', '{}').replace(
        'name: dell',
        `name: dell\n  layeringDefinition: ${layering}`,
      );
    const parent = document('drydock/HostProfile/v1', 'base', '{metadata: {rack: r1}}').replace(
      'name: base',
      'name: base\n  labels: {hosttype: base}\n  layeringDefinition: {abstract: true}',
    );
    const site = (layering: string) =>
      findings(CONFIGURATION, ALL, node('n1', '{host_profile: dell}'), layered(layering), parent);
    const merge = '{parentSelector: {hosttype: base}, actions: [{method: merge, path: .}]}';
    expect(site(merge)).toEqual([
      'error rendering.no-policy 4.yaml:5:3 layeringDefinition',
      'warning document.abstract 5.yaml:6:34 true',
    ]);
    // Replaced as a whole, or with a parent that does not exist here (rendered documents): nothing is lost.
    expect(site(merge.replace('merge', 'replace'))).toEqual(['warning document.abstract 5.yaml:6:34 true']);
    expect(site(merge.replace('hosttype: base', 'hosttype: other'))).toEqual([
      'warning document.abstract 5.yaml:6:34 true',
    ]);
  });

  it('refuses two documents of one schema and name, naming both places', () => {
    const { diagnostics } = loadSite(files(CONFIGURATION, ALL, node('n1'), node('n1')));
    expect(diagnostics).toEqual([
      {
        severity: 'error',
        code: 'node.duplicate',
        message: "a second drydock/BaremetalNode/v1 is named 'n1'; the first is at 3.yaml:4",
        hint: 'Names must be unique among the documents of a schema: rename or remove one.',
        file: '4.yaml',
        line: 4,
        column: 9,
        text: 'n1',
        path: 'metadata.name',
      },
    ]);
    expect(findings(CONFIGURATION, CONFIGURATION, ALL, ALL, node('n1'))).toEqual([
      'error document.duplicate 2.yaml:4:9 deployment-configuration',
      'error document.duplicate 4.yaml:4:9 deployment-strategy',
    ]);
  });

  it('uses a replacement instead of the document it replaces, in either order', () => {
    const replacement = strategy(group('new', '[]')).replace('metadata:', 'metadata:\n  replacement: true');
    for (const texts of [
      [ALL, replacement],
      [replacement, ALL],
    ]) {
      const { site, diagnostics } = loadSite(files(CONFIGURATION, node('n1'), ...texts));
      expect(site!.strategy!.groups.map(({ name }) => name)).toEqual(['new']);
      expect(diagnostics.map(({ code }) => code)).toEqual(['document.replaced']);
    }
  });
});

describe('the strategy in effect', () => {
  const named = (name: string) =>
    configuration(`{physical_provisioner: {deployment_strategy: ${name}}, armada: {manifest: m}}`);

  it('is the one named in the configuration', () => {
    const other = strategy(group('g', '[]'), 'by-rack');
    const { site, diagnostics } = loadSite(files(named('by-rack'), ALL, other, node('n1')));
    expect(site!.strategyName).toBe('by-rack');
    expect(diagnostics.map(({ code, file }) => [code, file])).toEqual([['site.strategy-not-used', '2.yaml']]);
  });

  it('that is named but missing is an error, with the nearest name', () => {
    const { site, diagnostics } = loadSite(files(named('deploymet-strategy'), ALL, node('n1')));
    expect(site).toBeUndefined();
    expect(diagnostics[0]).toMatchObject({
      code: 'site.strategy-missing',
      line: 5,
      text: 'deploymet-strategy',
      hint: "Did you mean 'deployment-strategy'?",
    });
  });

  it('cannot be all-at-once, which is an error with the alternative', () => {
    const { diagnostics } = loadSite(files(named('all-at-once'), node('n1')));
    expect(diagnostics[0]).toMatchObject({ severity: 'error', code: 'site.strategy-missing', text: 'all-at-once' });
    expect(diagnostics[0]!.hint).toContain('omit deployment_strategy');
  });

  it('is all nodes together if none is named and none exists', () => {
    const { site, diagnostics } = loadSite(files(CONFIGURATION, node('n1')));
    expect(site).toMatchObject({ strategy: null, strategyName: null });
    expect(diagnostics.map(({ severity, code }) => [severity, code])).toEqual([['info', 'site.all-at-once']]);
    expect(loadSite(files(named("''"), node('n1'))).site!.strategy).toBeNull();
  });

  it('is not guessed from another name, nor is one of another name ignored', () => {
    const { site, diagnostics } = loadSite(files(CONFIGURATION, strategy(group('g', '[]'), 'mine'), node('n1')));
    expect(site).toBeUndefined();
    expect(diagnostics).toMatchObject([
      {
        ...{ severity: 'error', code: 'site.strategy-not-named', file: '2.yaml', text: 'mine' },
        message: "the configuration does not name the deployment strategy 'mine': all nodes would be deployed at once",
        hint: "Write 'deployment_strategy: mine' under physical_provisioner of the configuration, rename it to 'deployment-strategy', or remove it.",
      },
    ]);
  });

  it('is not all nodes together where there is an abstract one alone', () => {
    const abstract = ALL.replace('metadata:', 'metadata:\n  layeringDefinition: {abstract: true}');
    expect(findings(CONFIGURATION, abstract, node('n1'))).toEqual([
      expect.stringContaining('error site.strategy-not-named 1.yaml:'),
      expect.stringContaining('warning document.abstract 2.yaml:'),
    ]);
    expect(loadSite(files(CONFIGURATION, abstract, ALL, node('n1'))).site!.strategyName).toBe('deployment-strategy');
  });

  it('that is broken is not reported as missing', () => {
    expect(findings(named('deployment-strategy'), ALL.replace('critical: false', 'critical: 1'), node('n1'))).toEqual([
      'error document.wrong-type 2.yaml:7:29 1',
    ]);
    expect(findings(named('deployment-strategy'), ALL.replace('[]', '['), node('n1'))).toEqual([
      expect.stringMatching(/^error yaml.syntax 2.yaml:/),
    ]);
  });
});

describe('the configuration in effect', () => {
  it('is required, unless the site is only checked', () => {
    expect(findings(ALL, node('n1'))).toEqual(['error site.no-configuration 1.yaml:1:1']);
    const { site } = loadSite(files(ALL, node('n1')), { configuration: 'optional' });
    expect(site!.configuration.physical_provisioner).toMatchObject({ deploy_timeout: 3600, join_wait: 120 });
  });

  it('is the one with the usual name among several', () => {
    const other = configuration('{armada: {manifest: other}}', 'other');
    const { site, diagnostics } = loadSite(files(other, CONFIGURATION, ALL, node('n1')));
    expect(site!.configuration.armada.manifest).toBe('full-site');
    expect(diagnostics.map(({ severity, code, file }) => [severity, code, file])).toEqual([
      ['warning', 'site.configuration-not-used', '1.yaml'],
    ]);
    expect(findings(other, configuration('{armada: {manifest: x}}', 'third'), ALL, node('n1'))).toEqual([
      'error site.several-configurations 1.yaml:4:9 other',
    ]);
  });

  it('fills in the defaults and keeps every configured 0', () => {
    const zeros = 'join_wait: 0, deploy_interval: 0, verify_timeout: 0, max_parallel_nodes: 8';
    const { site } = loadSite(
      files(
        configuration(`{physical_provisioner: {${zeros}}, armada: {manifest: m, post_apply_timeout: 0}}`),
        ALL,
        node('n1'),
      ),
    );
    expect(site!.configuration).toEqual({
      physical_provisioner: {
        deployment_strategy: null,
        deploy_interval: 0,
        deploy_timeout: 3600,
        destroy_interval: 30,
        destroy_timeout: 900,
        join_wait: 0,
        prepare_node_interval: 30,
        prepare_node_timeout: 1800,
        prepare_site_interval: 10,
        prepare_site_timeout: 300,
        relabel_nodes_interval: 30,
        relabel_nodes_timeout: 900,
        verify_interval: 10,
        verify_timeout: 0,
        max_parallel_nodes: 8,
      },
      kubernetes: { node_status_interval: 30, node_status_timeout: 1800 },
      kubernetes_provisioner: {
        drain_timeout: 3600,
        drain_grace_period: 1800,
        clear_labels_timeout: 1800,
        remove_etcd_timeout: 1800,
        etcd_ready_timeout: 600,
      },
      armada: {
        manifest: 'm',
        update_manifest: 'full-site',
        get_releases_timeout: 300,
        get_status_timeout: 300,
        post_apply_timeout: 0,
        validate_design_timeout: 600,
      },
    });
  });

  it('refuses unknown keys in any section, and values that are not durations', () => {
    const text = configuration(
      '\n  physical_provisioner:\n    deploy_timout: 3\n    deploy_interval: 1.5\n    join_wait: -1\n    verify_timeout: "60"\n    max_parallel_nodes: 0\n  armada: {}\n  software: {}',
    );
    const { diagnostics } = loadSite(files(text, ALL, node('n1')));
    expect(diagnostics.map(({ code, line, message, hint }) => [code, line, message, hint])).toEqual([
      [
        'document.unknown-key',
        7,
        "unknown key 'deploy_timout' in data.physical_provisioner",
        "Did you mean 'deploy_timeout'?",
      ],
      [
        'document.wrong-type',
        8,
        'data.physical_provisioner.deploy_interval must be a whole number, not 1.5',
        undefined,
      ],
      ['document.wrong-value', 9, 'data.physical_provisioner.join_wait must be at least 0, not -1', undefined],
      [
        'document.wrong-type',
        10,
        "data.physical_provisioner.verify_timeout must be a number, not the text '60'",
        'Remove the quotes.',
      ],
      ['document.wrong-value', 11, 'data.physical_provisioner.max_parallel_nodes must be at least 1, not 0', undefined],
      [
        'document.missing-key',
        12,
        "'manifest' is missing in data.armada",
        "Add 'manifest:' (text). Name of the software manifest.",
      ],
      [
        'document.unknown-key',
        13,
        "unknown key 'software' in data",
        'Known keys: physical_provisioner, kubernetes, kubernetes_provisioner, armada.',
      ],
    ]);
  });
});

describe('groups', () => {
  it('are refused with every semantic problem, each in its place', () => {
    const text = strategy(
      [
        group('masters', '[storag]'),
        group('storage', '[workers]', '[{node_labels: [gold]}]'),
        group('workers', '[storage]'),
        group('masters', '[]'),
        group('lonely', '[lonely]'),
      ].join('\n'),
    );
    const { diagnostics } = loadSite(files(CONFIGURATION, text, node('n1')));
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    expect(errors.map(({ code, line, column, text, message }) => [code, line, column, text, message])).toEqual([
      [
        'strategy.unknown-dependency',
        9,
        20,
        'storag',
        "group 'masters' depends on 'storag', which is not a group of this strategy",
      ],
      ['strategy.cycle', 13, 20, 'workers', 'groups depend on each other in a cycle: storage, workers'],
      ['strategy.bad-label', 14, 34, 'gold', "label 'gold' is not key:value"],
      ['strategy.duplicate-group', 19, 13, 'masters', "a second group is named 'masters'; the first is on line 7"],
      ['strategy.cycle', 25, 20, 'lonely', "group 'lonely' depends on itself"],
    ]);
    expect(errors[0]!.hint).toBe("Did you mean 'storage'?");
  });

  it('are refused if the published schema refuses them', () => {
    const text = strategy(
      '- name: a\n  critical: "true"\n  depends_on: b\n  selectors: [{node_name: [x]}]\n  success_criteria: {}\n- just text\n- {name: 7, critical: no, depends_on: , selectors: [], sucess_criteria: {}}',
    );
    const { diagnostics } = loadSite(files(CONFIGURATION, text, node('n1')));
    expect(diagnostics.map(({ severity, code, message, hint }) => [severity, code, message, hint])).toEqual([
      [
        'error',
        'document.wrong-type',
        "data.groups[0].critical must be true or false, not the text 'true'",
        'Remove the quotes.',
      ],
      [
        'error',
        'document.wrong-type',
        "data.groups[0].depends_on must be a list, not the text 'b'",
        "Start each item with '- ', or write [ ].",
      ],
      [
        'error',
        'document.unknown-key',
        "unknown key 'node_name' in data.groups[0].selectors[0]",
        "Did you mean 'node_names'?",
      ],
      [
        'error',
        'document.wrong-value',
        'data.groups[0].success_criteria must name at least one criterion',
        'Remove success_criteria if nothing is to be checked.',
      ],
      ['error', 'document.wrong-type', "data.groups[1] must be a mapping, not the text 'just text'", undefined],
      [
        'error',
        'document.wrong-type',
        'data.groups[2].name must be text, not 7',
        'YAML reads this as a number: put the text in quotes.',
      ],
      [
        'error',
        'document.wrong-type',
        'data.groups[2].depends_on must be a list, not empty',
        'There is nothing after the colon: write [] for an empty list.',
      ],
      [
        'warning',
        'document.unknown-key',
        "the key 'sucess_criteria' is not known here and is ignored",
        "Did you mean 'success_criteria'?",
      ],
    ]);
  });

  it('are warned of if they are critical and can never fail', () => {
    const text = strategy('- {name: a, critical: true, depends_on: [], selectors: []}');
    const { diagnostics } = loadSite(files(CONFIGURATION, text, node('n1')));
    expect(diagnostics.map(({ severity, code }) => `${severity} ${code}`)).toEqual(['warning strategy.no-criteria']);
    const judged = text.replace('selectors: []', 'selectors: [], success_criteria: {minimum_successful_nodes: 1}');
    expect(findings(CONFIGURATION, judged, node('n1'))).toEqual([]);
  });

  it('in an unreadable document cause no further problems', () => {
    const broken = strategy('- {name: a, critical: false, depends_on: [, selectors: []}');
    expect(findings(CONFIGURATION, broken, node('n1', '{host_profile: p}'))).toEqual([
      expect.stringContaining('error yaml.syntax'),
    ]);
    const tagged = strategy('- {name: a, critical: false, depends_on: [], selectors: [{node_tags: [blue]}]}');
    expect(findings(CONFIGURATION, tagged, node('n1'), node('n2', '{metadata: {tags: [blue}}'))).toEqual([
      expect.stringContaining('error yaml.syntax'),
    ]);
  });

  it('are warned of for selectors that match nothing, no nodes, and nodes in no group', () => {
    const text = strategy(
      [
        group('a', '[]', '[{node_names: [n1, nn2]}]'),
        group('b', '[]', '[{node_tags: [wrokers], rack_names: [r9], node_labels: ["a: c"]}]'),
      ].join('\n'),
    );
    const nodes =
      node('n1', '{metadata: {rack: r1, tags: [workers], owner_data: {a: b}}}') +
      node('n22', '{metadata: {tags: [masters]}}');
    const { site, diagnostics } = loadSite(files(CONFIGURATION, text, nodes));
    expect(site).toBeDefined();
    expect(diagnostics.map(({ severity, code, text, hint }) => [severity, code, text, hint])).toEqual([
      ['warning', 'strategy.unknown-node', 'nn2', "Did you mean 'n22'?"],
      ['warning', 'strategy.empty-group', 'b', expect.any(String)],
      ['warning', 'strategy.unknown-tag', 'wrokers', "Did you mean 'workers'?"],
      ['warning', 'strategy.unknown-rack', 'r9', "Did you mean 'r1'?"],
      ['warning', 'strategy.unknown-label', '"a: c"', "Did you mean 'a: b'?"],
      ['warning', 'strategy.node-in-no-group', 'n22', 'Its tags: masters.'],
    ]);
  });

  it.each([
    [true, 'error strategy.unmeetable-criteria'],
    [false, 'warning strategy.unmeetable-criteria'],
  ])('whose criteria no result can meet fail each run if they are critical: %s', (critical, found) => {
    const text = (minimum: number) =>
      strategy(
        `- {name: g, critical: ${critical}, depends_on: [], selectors: [], success_criteria: {percent_successful_nodes: 100, minimum_successful_nodes: ${minimum}}}`,
      );
    const nodes = node('n1') + node('n2');
    expect(findings(CONFIGURATION, text(2), nodes)).toEqual([]);
    expect(findings(CONFIGURATION, text(3), nodes)).toEqual([expect.stringMatching(`^${found} 2.yaml:7:.* 3$`)]);
  });
});

it('a document whose data is under metadata is told so, there; 100% is told how to write it', () => {
  const inside = node('n1').replace(/\ndata: /, '\n  data: ');
  expect(findings(CONFIGURATION, ALL, inside)).toEqual([
    expect.stringMatching(/^error document.missing-key 3.yaml:\d+:3/),
  ]);
  const all = strategy(
    '- {name: g, critical: false, depends_on: [], selectors: [], success_criteria: {percent_successful_nodes: 100%}}',
  );
  const { diagnostics } = loadSite(files(CONFIGURATION, all, node('n1')));
  expect(diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
    ['document.wrong-type', expect.stringContaining(' 100.')],
  ]);
});

describe('nodes', () => {
  it('are refused with keys that Drydock does not know, with suggestions; its own are known', () => {
    const data =
      '{metadata: {rac: r2, tags: [x]}, oob: {type: manual}, storage: {}, interfaces: {}, platfrom: {image: jammy}}';
    const { diagnostics } = loadSite(files(CONFIGURATION, ALL, node('n1', data)));
    expect(diagnostics.map(({ severity, code, text, hint }) => [severity, code, text, hint])).toEqual([
      ['error', 'document.unknown-key', 'rac', "Did you mean 'rack'?"],
      ['error', 'document.unknown-key', 'platfrom', "Did you mean 'platform'?"],
    ]);
  });

  it('are explained if YAML reads unquoted text as another type', () => {
    const { diagnostics } = loadSite(
      files(CONFIGURATION, ALL, node('n1', '{metadata: {boot_mac: 52:54:00:12:34:56, rack: no, tags: [on]}}')),
    );
    expect(diagnostics.map(({ code, text, hint }) => [code, text, hint])).toEqual([
      [
        'document.wrong-type',
        '52:54:00:12:34:56',
        'YAML reads 52:54:00:12:34:56 as 41135085296: put it in quotes if you mean text.',
      ],
      ['document.wrong-type', 'no', 'YAML reads no as false: put it in quotes if you mean text.'],
      ['document.wrong-type', 'on', 'YAML reads on as true: put it in quotes if you mean text.'],
    ]);
  });

  it('refuses an invalid MAC address, and warns of one that two nodes have', () => {
    const mac = (address: string) => `{metadata: {boot_mac: "${address}"}}`;
    expect(
      findings(
        CONFIGURATION,
        ALL,
        node('n1', mac('52:54:00:00:a3')) + node('n2', mac('52:54:00:00:a3:31')) + node('n3', mac('52-54-00-00-A3-31')),
      ),
    ).toEqual([
      'error document.wrong-value 3.yaml:5:29 "52:54:00:00:a3"',
      'warning node.duplicate-mac 3.yaml:15:29 "52-54-00-00-A3-31"',
    ]);
  });

  it('refuses names that are not host names, and warns of those that differ only in case', () => {
    expect(findings(CONFIGURATION, ALL, node('rack_1') + node('N1') + node('n1'))).toEqual([
      'error node.bad-hostname 3.yaml:4:9 rack_1',
      'warning node.names-differ-in-case 3.yaml:14:9 n1',
    ]);
  });

  it('are required: a site without any gets a warning', () => {
    expect(findings(CONFIGURATION, strategy('- {name: g, critical: false, depends_on: [], selectors: []}'))).toEqual([
      'warning site.no-nodes 1.yaml:1:1',
      'warning strategy.empty-group 2.yaml:7:14 g',
    ]);
    expect(loadSite([]).diagnostics.map(({ code }) => code)).toEqual(['site.no-configuration', 'site.no-nodes']);
  });
});
