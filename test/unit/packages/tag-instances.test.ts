import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkPackage, readPackageFolder } from '../../../src/packages/index.ts';

const folder = fileURLToPath(new URL('../../../examples/tag-instances', import.meta.url));
const missing = spawnSync('puppet', ['--version']).status !== 0;

it('the example package with the module for instances is valid', async () => {
  const { errors, warnings } = checkPackage(await readPackageFolder(folder));
  expect([errors, warnings]).toEqual([[], []]);
});

it.skipIf(missing)(
  'Puppet finds the nodes of an instance by their tags, as in the specification',
  () => {
    const nodes = {
      'node-1': { node_roles: ['corosync:1', 'mysql:2', 'keystone'] },
      'node-2': { node_roles: ['corosync:2', 'mysql:1', 'primary-keystone'] },
      'node-3': { name: 'third', node_roles: ['corosync:2', 'mysql:2'] },
    };
    const asked = [
      ['mysql', 'node-1', ['node-1', 'node-3']],
      ['mysql', 'node-2', ['node-2']],
      ['corosync', 'third', ['node-2', 'node-3']],
      ['keystone', 'node-1', ['node-1', 'node-2']],
      ['rabbitmq', 'node-1', []],
    ] as const;
    const calls = asked.map(([tag, node]) => `notice(instances::nodes($nodes, '${tag}', '${node}').keys.join(' '))`);
    const manifest = [`$nodes = ${puppetHash(nodes)}`, ...calls].join('\n');
    // Other tests look into the machine's own folders of Puppet.
    const own = mkdtempSync(join(tmpdir(), 'sitewright-puppet-'));
    const out = execFileSync(
      'puppet',
      [
        'apply',
        ...[`--confdir=${own}/conf`, `--vardir=${own}/var`, `--publicdir=${own}/public`],
        ...['--modulepath', `${folder}/deployment_scripts/modules`, '--color=false', '-e', manifest],
      ],
      { encoding: 'utf8' },
    );
    rmSync(own, { recursive: true });
    const found = [...out.matchAll(/Scope\(Class\[main\]\): ?(.*)/g)].map(([, names]) => names!.trim());
    expect(found).toEqual(asked.map(([, , names]) => names.join(' ')));
  },
  180_000,
);

/** The hash in Puppet's language. */
const puppetHash = (nodes: object): string => JSON.stringify(nodes).replaceAll('":', '" => ');
