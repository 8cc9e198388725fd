/** The documents of a site: its nodes in groups of equal size, each group after the one before it. */
export function siteDocuments(names: readonly string[], groups: number): string {
  return [
    frame('shipyard/DeploymentConfiguration/v1', 'deployment-configuration', [
      'physical_provisioner:',
      '  deployment_strategy: deployment-strategy',
      '  max_parallel_nodes: 64',
      'armada:',
      '  manifest: full-site',
    ]),
    frame('shipyard/DeploymentStrategy/v1', 'deployment-strategy', [
      'groups:',
      ...Array.from({ length: groups }, (_unused, group) => [
        `  - name: group-${group}`,
        `    critical: true`,
        `    depends_on: [${group > 0 ? `group-${group - 1}` : ''}]`,
        `    selectors: [{node_tags: [g${group}]}]`,
        '    success_criteria: {percent_successful_nodes: 90}',
      ]).flat(),
    ]),
    ...names.map((name, index) =>
      frame('drydock/BaremetalNode/v1', name, [
        'metadata:',
        `  rack: rack${index % 40}`,
        `  tags: [g${Math.floor((index * groups) / names.length)}]`,
      ]),
    ),
  ].join('');
}

function frame(schema: string, name: string, data: readonly string[]): string {
  const lines = [
    '---',
    `schema: ${schema}`,
    'metadata:',
    '  schema: metadata/Document/v1',
    `  name: ${name}`,
    '  layeringDefinition: {abstract: false, layer: site}',
    '  storagePolicy: cleartext',
    'data:',
    ...data.map((line) => `  ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}
