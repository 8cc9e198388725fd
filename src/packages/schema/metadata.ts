import type { FormatVersion } from '../package-format.ts';
import { boolean, listOf, listOfText, type Shape, text } from './shape.ts';

/** The specification's example is named `ExampleRelease`, so 5.0.0 allows capitals. */
const NAME = /^[a-z0-9_-]+$/;
const NAME_5 = /^[A-Za-z0-9_-]+$/;

const GROUPS = ['network', 'storage', 'storage::cinder', 'storage::glance', 'hypervisor', 'monitoring'];

const extension: Shape = {
  kind: 'mapping',
  required: ['version', 'os', 'mode', 'deployment_scripts_path', 'repository_path'],
  keys: {
    version: text,
    os: { values: ['ubuntu', 'centos'] },
    mode: listOf({ values: ['ha', 'multinode'] }),
    deployment_scripts_path: text,
    repository_path: text,
  },
};

/** metadata.yaml as written. Records of 5.0.0 have separate rules (check-releases.ts). */
export function metadataShape(version: FormatVersion): Shape {
  const common = ['name', 'title', 'version', 'package_version', 'description', 'releases'];
  const authored = ['licenses', 'authors', 'homepage', 'groups'];
  const latest = version === '5.0.0';
  const equipment = version === '4.0.0' ? ['equipment'] : [];
  return {
    kind: 'mapping',
    required: [
      ...common,
      ...(version === '1.0.0' ? [] : authored),
      ...(latest ? [] : ['fuel_version']),
      ...(version === '4.0.0' ? ['is_hotpluggable'] : []),
    ],
    keys: {
      name: { kind: 'text', pattern: latest ? NAME_5 : NAME },
      title: text,
      version: text,
      package_version: { values: [version] },
      description: text,
      fuel_version: listOfText,
      releases: listOf(latest ? { kind: 'mapping' } : extension),
      ...(version !== '1.0.0' && {
        licenses: listOfText,
        authors: listOfText,
        homepage: text,
        groups: listOf({ values: [...GROUPS, ...equipment] }, { uniqueItems: true }),
      }),
      ...(version === '4.0.0' && { is_hotpluggable: boolean }),
    },
  };
}
