/** The versions of the package format. */
export type FormatVersion = '1.0.0' | '2.0.0' | '3.0.0' | '4.0.0' | '5.0.0';

/** A file of a package whose name is fixed. */
interface FixedFile {
  readonly name: string;
  /** Key of its content in the data tree. */
  readonly key: string;
  readonly required: boolean;
  /** Whether the file may be empty. */
  readonly whenEmpty: 'accepted' | 'refused';
}

export interface PackageFormat {
  readonly version: FormatVersion;
  /** The first Fuel release that reads the format. */
  readonly lowestFuel: string;
  readonly files: readonly FixedFile[];
}

const file = (name: string, key: string, required: boolean, whenEmpty: FixedFile['whenEmpty']): FixedFile => ({
  name,
  key,
  required,
  whenEmpty,
});

const environment = (required: boolean) => file('environment_config.yaml', 'attributes_metadata', required, 'accepted');
const parts = (whenEmpty: FixedFile['whenEmpty']) => [
  file('network_roles.yaml', 'network_roles_metadata', false, whenEmpty),
  // The released builder reads this file in every version of the format and refuses an empty one.
  file('node_roles.yaml', 'roles_metadata', false, 'refused'),
  file('volumes.yaml', 'volumes_metadata', false, whenEmpty),
];

const FORMATS: readonly PackageFormat[] = [
  {
    version: '1.0.0',
    lowestFuel: '6.0',
    files: [environment(true), file('tasks.yaml', 'tasks', true, 'refused')],
  },
  {
    version: '2.0.0',
    lowestFuel: '6.1',
    files: [environment(true), file('tasks.yaml', 'tasks', true, 'refused')],
  },
  {
    version: '3.0.0',
    lowestFuel: '7.0',
    files: [
      environment(true),
      file('tasks.yaml', 'tasks', false, 'refused'),
      file('deployment_tasks.yaml', 'deployment_tasks', true, 'refused'),
      ...parts('refused'),
    ],
  },
  {
    version: '4.0.0',
    lowestFuel: '8.0',
    files: [
      environment(true),
      file('tasks.yaml', 'tasks', false, 'accepted'),
      file('deployment_tasks.yaml', 'deployment_tasks', true, 'refused'),
      ...parts('refused'),
      file('components.yaml', 'components_metadata', false, 'refused'),
    ],
  },
  {
    version: '5.0.0',
    lowestFuel: '9.1',
    files: [
      environment(false),
      file('tasks.yaml', 'tasks', false, 'accepted'),
      file('deployment_tasks.yaml', 'deployment_tasks', false, 'accepted'),
      ...parts('accepted'),
      file('components.yaml', 'components_metadata', false, 'accepted'),
      file('nic_config.yaml', 'nic_attributes_metadata', false, 'accepted'),
      file('bond_config.yaml', 'bond_attributes_metadata', false, 'accepted'),
      file('node_config.yaml', 'node_attributes_metadata', false, 'accepted'),
    ],
  },
];

const LATEST_FORMAT: PackageFormat = FORMATS.at(-1)!;

export const KNOWN_VERSIONS: readonly FormatVersion[] = FORMATS.map(({ version }) => version);

/**
 * The format for a `package_version`. 5.0.x is read as 5.0.0 (the exact number is checked separately, so that
 * the rest can be checked too); any other number must be exact.
 */
export const formatOf = (version: string): PackageFormat | undefined =>
  FORMATS.find((format) => format.version === version) ?? (version.startsWith('5.0.') ? LATEST_FORMAT : undefined);

/** Keys of a folder whose content is delivered unchanged and not read into the data tree. */
export const FOLDER_KEYS: ReadonlySet<string> = new Set(['repository_path', 'deployment_scripts_path']);
