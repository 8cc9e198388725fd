import { type PackageTree, packageTree } from './package-tree.ts';

/** Purpose of a new package. */
type TemplateKind = 'release' | 'extension';

/** Names a package may have; also the name of its folder. */
export const PACKAGE_NAME = /^[A-Za-z0-9_-]+$/;

/**
 * A new package of version 5.0.0 with comments, which passes `package check`: a release,
 * or an extension of existing releases.
 */
export function packageTemplate(name: string, kind: TemplateKind): PackageTree {
  return kind === 'release' ? releaseTemplate(name) : extensionTemplate(name);
}

const header = (
  name: string,
): string => `# What this package is. This file leads to all others: a key that ends in _path names a
# file, a glob or a folder, relative to this file. Files and globs are loaded, and their data
# stands under the key without _path. Check it with: sitewright package check .

name: ${name}
title: ${name}
# Three numbers; the archive is called ${name}-VERSION.tar.gz.
version: '1.0.0'
# The format of the package, not its own version.
package_version: '5.0.0'
description: Say in a sentence what this package adds.
licenses: [Apache License Version 2.0]
authors: [Your name]
homepage: https://example.org/${name}
# What it is about: network, storage, storage::cinder, storage::glance, hypervisor, monitoring.
groups: []
`;

function releaseTemplate(name: string): PackageTree {
  return packageTree(name, [
    ['metadata.yaml', `${header(name)}${RELEASE_RECORD(name)}`],
    ['release/_base.yaml', BASE],
    ['release/metadata/roles.yaml', ROLES],
    ['release/metadata/tags.yaml', TAGS],
    ['release/metadata/networks.yaml', NETWORKS],
    ['release/metadata/network_roles.yaml', NETWORK_ROLES],
    ['release/metadata/volumes.yaml', VOLUMES],
    ['release/metadata/components.yaml', COMPONENTS],
    ['release/attributes/attributes.yaml', ATTRIBUTES],
    ['release/graphs/deployment/10-base.yaml', DEPLOYMENT_BASE(name)],
    ['release/graphs/deployment/20-database.yaml', DEPLOYMENT_DATABASE],
    ['release/graphs/provisioning.yaml', PROVISIONING],
    ['release/graphs/deletion.yaml', DELETION],
    ['release/graphs/network_verification.yaml', VERIFICATION],
    ['release/deployment_scripts/README.md', SCRIPTS_README],
    ['release/deployment_scripts/netconfig.sh', 'echo configuring the network\n'],
    ['release/repositories/README.md', REPOSITORIES_README],
    ['README.md', `# ${name}\n\nA release package for Sitewright. Check it: \`sitewright package check .\`\n`],
  ]);
}

const RELEASE_RECORD = (name: string): string => `
# A package defines releases or extends existing ones, never both; one release is best.
releases:
  - is_release: true
    # The same name as the package's.
    release_name: ${name}
    description: Describe a cluster of this release.
    operating_system: ubuntu
    version: ${name.toLowerCase()}-1.0

    # A template: every key below replaces the whole key of the same name in it.
    base_release_path: release/_base.yaml

    roles_path: release/metadata/roles.yaml
    tags_path: release/metadata/tags.yaml
    networks_path: release/metadata/networks.yaml
    network_roles_path: release/metadata/network_roles.yaml
    volumes_path: release/metadata/volumes.yaml
    components_path: release/metadata/components.yaml
    attributes_path: release/attributes/attributes.yaml

    # One graph of each type, or the action of that name has nothing to run. The type decides which nodes a graph is for:
    # deletion for removed ones, provisioning for new ones, default for those that stay.
    graphs:
      - type: default
        name: Deployment
        # A glob: the lists of all files, in the order of their names, become one.
        tasks_path: release/graphs/deployment/*.yaml
      - type: provisioning
        tasks_path: release/graphs/provisioning.yaml
      - type: deletion
        tasks_path: release/graphs/deletion.yaml
      - type: network_verification
        tasks_path: release/graphs/network_verification.yaml

    # Folders, delivered as they are.
    deployment_scripts_path: release/deployment_scripts/
    repository_path: release/repositories/
`;

const BASE = `# What every release of this series shares. Keys of the record in metadata.yaml replace whole keys of this file.
required_component_types:
  - hypervisor
  - network
  - storage
`;

const ROLES = `# A role is the purpose of a node. Its tags place tasks on the nodes with the role.
controller:
  name: Controller
  description: Runs the services that control the cluster.
  weight: 10
  tags: [controller, database]
  # How many nodes of this role a cluster needs: numbers or expressions.
  limits:
    min: 1
compute:
  name: Compute
  description: Runs virtual machines.
  weight: 20
  tags: [compute]
  conflicts: [controller]
`;

const TAGS = `# Tags of the release. has_primary: one node of the cluster is primary-TAG.
controller:
  has_primary: true
database:
  has_primary: true
compute:
  has_primary: false
`;

const NETWORKS = `neutron:
  networks: []
  config: {}
`;

const NETWORK_ROLES = `- id: mgmt/database
  default_mapping: br-mgmt
  properties:
    subnet: true
    gateway: false
    # Virtual addresses that move between the nodes of the role.
    vip:
      - name: database
        namespace: haproxy
`;

const VOLUMES = `volumes:
  - id: os
    type: vg
# Which volumes the nodes of a role get: all of the disk, the least needed (min), or full-disk.
volumes_roles_mapping:
  controller:
    - id: os
      allocate_size: min
  compute:
    - id: os
      allocate_size: all
`;

const COMPONENTS = `- name: hypervisor:qemu
  label: QEMU
  description: Virtual machines without hardware support.
  compatible: []
`;

const ATTRIBUTES = `# Fields of the settings page.
editable:
  common:
    metadata:
      label: Common
      weight: 10
    debug:
      type: checkbox
      label: Debug logging
      weight: 10
      value: false
generated: {}
`;

const DEPLOYMENT_BASE = (
  name: string,
): string => `# Tasks are linked by \`requires\` and \`required_for\` on one node, and by \`cross-depends\` between nodes.
- id: deploy_start
  type: stage
  version: 2.1.0

- id: deploy_end
  type: stage
  version: 2.1.0
  requires: [deploy_start]

- id: netconfig
  type: shell
  version: 2.1.0
  # On all nodes.
  tags: '*'
  requires: [deploy_start]
  required_for: [deploy_end]
  parameters:
    # From release/deployment_scripts: the folder is brought to each node, under the package's name and version.
    cmd: sh /etc/fuel/plugins/${name}-1.0/netconfig.sh
    timeout: 600
`;

const DEPLOYMENT_DATABASE = `- id: database
  type: shell
  version: 2.1.0
  # The tag has a primary: one node has primary-database instead of database.
  tags: [primary-database, database]
  requires: [netconfig]
  required_for: [deploy_end]
  parameters:
    cmd: echo starting the database
    timeout: 180
    retries: 3
    interval: 20
`;

const PROVISIONING = `# On new nodes only. \`sitewright site deploy SITE\` installs the machines of a site; this is for all others: it runs when their
# agents answer, and then they are provisioned.
- id: provision
  type: shell
  version: 2.1.0
  tags: '*'
  parameters:
    cmd: echo the system is there
    timeout: 60
`;

const DELETION = `# On removed nodes only. A machine of a site is released in MAAS and its disks are erased; any other just leaves.
- id: erase
  type: erase_node
  version: 2.1.0
  tags: '*'
  condition:
    yaql_exp: $.cluster.site != null
`;

const VERIFICATION = `- id: verify_networks
  type: shell
  version: 2.1.0
  tags: '*'
  parameters:
    cmd: cat /proc/net/dev
    timeout: 60
`;

const SCRIPTS_README = 'Manifests and scripts that the tasks call go here. Nodes with work get this folder first.\n';
const REPOSITORIES_README =
  'Packages for the nodes go here. `sitewright package build --index` makes their index; a folder without packages has no effect.\n';

function extensionTemplate(name: string): PackageTree {
  const role = name.toLowerCase();
  return packageTree(name, [
    ['metadata.yaml', `${header(name)}${EXTENSION_RECORD}`],
    ['node_roles.yaml', EXTENSION_ROLES(role)],
    ['volumes.yaml', EXTENSION_VOLUMES(role)],
    ['deployment_tasks.yaml', EXTENSION_TASKS(role)],
    ['environment_config.yaml', EXTENSION_SETTINGS],
    ['deployment_scripts/README.md', SCRIPTS_README],
    ['deployment_scripts/install.sh', 'echo installing the plugin\n'],
    ['repositories/ubuntu/README.md', REPOSITORIES_README],
    ['README.md', `# ${name}\n\nA plugin for Sitewright. Check it: \`sitewright package check .\`\n`],
  ]);
}

const EXTENSION_RECORD = `
# The releases this package extends: by system and version.
releases:
  - operating_system: ubuntu
    version: mitaka-10.0
    deployment_scripts_path: deployment_scripts/
    repository_path: repositories/ubuntu/
`;

const EXTENSION_ROLES = (role: string): string => `# Roles this plugin adds.
${role}:
  name: ${role}
  description: Runs the services of this plugin.
  weight: 100
  tags: [${role}]
`;

const EXTENSION_VOLUMES = (role: string): string => `volumes: []
volumes_roles_mapping:
  ${role}:
    - id: os
      allocate_size: min
`;

const EXTENSION_TASKS = (role: string): string => `# These tasks join the deployment graph of the release.
- id: ${role}-install
  type: shell
  version: 2.1.0
  tags: [${role}]
  requires: [deploy_start]
  required_for: [deploy_end]
  parameters:
    # In the folder of the plugin's own scripts.
    cmd: sh install.sh
    timeout: 3600
`;

const EXTENSION_SETTINGS = `# Fields this plugin adds to the settings page.
attributes:
  metadata:
    label: Plugin settings
    weight: 10
    group: other
  debug:
    type: checkbox
    label: Debug logging
    weight: 10
    value: false
`;
