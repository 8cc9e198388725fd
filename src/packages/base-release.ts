import { type PackageTree, packageTree } from './package-tree.ts';

const METADATA = `name: base
title: Base
version: '1.0.0'
package_version: '5.0.0'
description: Machines with an operating system and nothing else, for graphs of your own
licenses: [Apache License Version 2.0]
authors: [Sitewright]
homepage: https://github.com/sitewright/sitewright
groups: []
releases:
  - is_release: true
    release_name: base
    description: Machines with an operating system and nothing else, for graphs of your own
    operating_system: ubuntu
    version: base-1.0
    roles:
      base-os:
        name: Operating system
        description: No software of its own. Give it tags, and upload graphs for them.
        tags: [base-os]
        weight: 10
    tags:
      base-os: {has_primary: false}
    graphs:
      - {type: default, tasks: []}
      - {type: provisioning, tasks: []}
      - type: deletion
        tasks:
          # Machines of a site are erased. Whatever else was registered by hand leaves as it is.
          - id: erase
            type: erase_node
            version: 2.1.0
            tags: '*'
            condition: {yaql_exp: $.cluster.site != null}
      - {type: network_verification, tasks: []}
`;

/** The package of the base release, which a fresh system has: one role, and a graph that erases removed machines. */
export const baseRelease = (): PackageTree => packageTree('base', [['metadata.yaml', METADATA]]);
