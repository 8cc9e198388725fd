import { ORDER_KEYS, PERCENTAGE, TIME } from '../../core/rollout/policy.ts';
import { boolean, integer, listOf, listOfText, mapping, type Shape, text } from './shape.ts';

// Shapes of the parts of a release or plugin, one constant per file. docs/reference/packages.md lists them.

const NAME = /^[0-9a-zA-Z_-]+$/;
const VIP_NAME = /^[0-9a-z_-]+$/;

/** Restrictions: a condition, a condition with its message, or one pair of both. */
const RESTRICTIONS: Shape = listOf(
  {
    oneOf: [
      text,
      { kind: 'mapping', required: ['condition'], keys: { condition: text, message: text, action: text } },
      { kind: 'mapping', entries: { min: 1, max: 1 } },
    ],
  },
  { minItems: 1 },
);

const limit: Shape = { oneOf: [text, integer] };

const limits: Shape = {
  kind: 'mapping',
  keys: {
    condition: text,
    min: limit,
    max: limit,
    recommended: limit,
    overrides: listOf(
      {
        kind: 'mapping',
        required: ['condition'],
        keys: { condition: text, min: limit, max: limit, recommended: limit, message: text },
      },
      { minItems: 1 },
    ),
  },
};

const amount: Shape = {
  oneOf: [
    { kind: 'integer', minimum: 1 },
    { kind: 'text', pattern: PERCENTAGE },
  ],
};
const only = (key: string, shape: Shape): Shape => ({
  kind: 'mapping',
  required: [key],
  keys: { [key]: shape },
  closed: true,
});

/** `rollout` of a role; src/core/contracts/written-rollout.ts describes it. */
const ROLLOUT: Shape = {
  kind: 'mapping',
  keys: {
    first: amount,
    // biome-ignore lint/suspicious/noThenProperty: the word of the document
    then: { oneOf: [{ values: ['double', 'all'] }, only('add', amount), only('by', amount)] },
    soak: { kind: 'text', pattern: TIME },
    stop_at: {
      oneOf: [only('failed', { kind: 'integer', minimum: 1 }), only('percent', { kind: 'integer', minimum: 1 })],
    },
    order: listOf({ values: ORDER_KEYS }, { minItems: 1, uniqueItems: true }),
    checks: listOf({ kind: 'text', minLength: 1 }, { minItems: 1, uniqueItems: true }),
  },
  closed: true,
};

/** node_roles.yaml */
export const NODE_ROLES: Shape = {
  kind: 'mapping',
  keysLike: {
    pattern: NAME,
    shape: {
      kind: 'mapping',
      required: ['name', 'description'],
      keys: {
        name: text,
        description: text,
        conflicts: { oneOf: [listOfText, { values: ['*'] }] },
        has_primary: boolean,
        public_ip_required: boolean,
        update_required: listOfText,
        update_once: listOfText,
        weight: integer,
        limits,
        restrictions: RESTRICTIONS,
        rollout: ROLLOUT,
      },
    },
  },
  closed: true,
};

/** volumes.yaml */
export const VOLUMES: Shape = {
  kind: 'mapping',
  required: ['volumes_roles_mapping', 'volumes'],
  keys: {
    volumes_roles_mapping: {
      kind: 'mapping',
      keysLike: {
        pattern: NAME,
        shape: listOf(
          {
            kind: 'mapping',
            required: ['allocate_size', 'id'],
            keys: { allocate_size: { values: ['all', 'min', 'full-disk'] }, id: text },
          },
          { minItems: 1 },
        ),
      },
      closed: true,
    },
    volumes: listOf({ kind: 'mapping', required: ['id', 'type'], keys: { id: text, type: text } }),
  },
};

/** network_roles.yaml */
export const NETWORK_ROLES: Shape = listOf({
  kind: 'mapping',
  required: ['id', 'default_mapping', 'properties'],
  keys: {
    id: text,
    default_mapping: text,
    properties: {
      kind: 'mapping',
      required: ['subnet', 'gateway', 'vip'],
      keys: {
        subnet: boolean,
        gateway: boolean,
        vip: listOf({
          kind: 'mapping',
          required: ['name'],
          keys: { name: { kind: 'text', pattern: VIP_NAME }, namespace: { kind: 'text', pattern: VIP_NAME } },
        }),
      },
    },
  },
});

const COMPONENT = /^(hypervisor|network|storage|additional_service):([0-9a-z_-]+:)*[0-9a-z_-]+$/;
const COMPONENT_OR_ALL = /^(hypervisor|network|storage|additional_service):([0-9a-z_-]+:)*([0-9a-z_-]+|(\*)?)$/;

const componentRelations: Shape = listOf({
  kind: 'mapping',
  required: ['name'],
  keys: { name: { kind: 'text', pattern: COMPONENT_OR_ALL }, message: text },
});

/** components.yaml */
export const COMPONENTS: Shape = listOf({
  kind: 'mapping',
  required: ['name', 'label'],
  keys: {
    name: { kind: 'text', pattern: COMPONENT },
    label: text,
    description: text,
    compatible: componentRelations,
    requires: componentRelations,
    incompatible: componentRelations,
    bind: { kind: 'list' },
  },
  closed: true,
});

const SETTING_GROUPS = [
  'general',
  'security',
  'compute',
  'network',
  'storage',
  'logging',
  'openstack_services',
  'other',
];

/** environment_config.yaml as a whole; its attributes are checked separately. */
export const ENVIRONMENT: Shape = { kind: 'mapping', keys: { attributes: mapping } };

/** One attribute of environment_config.yaml: a field of the settings page. */
export const ENVIRONMENT_ATTRIBUTE: Shape = {
  kind: 'mapping',
  required: ['type', 'label', 'weight', 'value'],
  keys: {
    type: text,
    label: text,
    weight: integer,
    value: {
      oneOf: [text, boolean, { kind: 'mapping', keys: { generator: text } }, listOf({ oneOf: [text, boolean] })],
    },
    restrictions: RESTRICTIONS,
    values: listOf({ kind: 'mapping', required: ['data', 'label'], keys: { data: text, label: text } }),
  },
};

/** `attributes.metadata` of environment_config.yaml: the group of fields itself. */
export const environmentMetadata = (withGroup: boolean): Shape => ({
  kind: 'mapping',
  keys: {
    label: text,
    weight: integer,
    toggleable: boolean,
    enabled: boolean,
    restrictions: RESTRICTIONS,
    ...(withGroup && { group: { values: SETTING_GROUPS } }),
  },
});

/** nic_config.yaml and bond_config.yaml */
export const INTERFACE_ATTRIBUTES: Shape = {
  kind: 'mapping',
  keys: { metadata: { kind: 'mapping', required: ['label'], keys: { label: text, restrictions: RESTRICTIONS } } },
  keysLike: {
    pattern: /^(?!metadata)[0-9a-zA-Z_-]+$/,
    shape: {
      kind: 'mapping',
      required: ['type', 'label', 'value'],
      keys: { label: text, description: text, type: text, restrictions: RESTRICTIONS },
    },
  },
  closed: true,
};

/** node_config.yaml: sections, each shaped like the attributes of an interface. */
export const NODE_ATTRIBUTES: Shape = {
  kind: 'mapping',
  keysLike: { pattern: NAME, shape: INTERFACE_ATTRIBUTES },
  closed: true,
};
