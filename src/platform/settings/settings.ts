import { z } from 'zod';

declare module 'zod' {
  /** What a setting says of itself beside its description. Lists over settings are made from it. */
  interface GlobalMeta {
    /** Never shown, never taken from the settings file itself. */
    readonly secret?: boolean;
    /** A file that only its owner may read: what is in it. */
    readonly ownSecret?: string;
    /** A path: in a file it is meant from the file's folder, otherwise from the working directory. */
    readonly isPath?: boolean;
    /** A URL whose password is not shown. */
    readonly mayHoldPassword?: boolean;
    /** The setting beside it that must be set as well. */
    readonly with?: string;
    /** A change needs no restart. */
    readonly reload?: boolean;
    /** A value for the example of docs/settings.md. */
    readonly example?: string;
  }
}

const secondsBetween = (least: number, most: number) => z.number().min(least).max(most);
const port = z.int().min(0).max(65_535);
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' });
const text = z.string().min(1);
const filePath = text.meta({ isPath: true });
const ownSecret = (content: string) => filePath.meta({ ownSecret: content });

/**
 * All settings: each with its rules, its default, what docs/settings.md says of it, and what else is true of it
 * (`meta`). A setting's name in a file is its path (`temporal.address`); in the environment `SITEWRIGHT_` and the path
 * in capitals (`SITEWRIGHT_TEMPORAL_ADDRESS`).
 */
export const settingsSchema = z.strictObject({
  temporal: z.strictObject({
    address: z
      .string()
      .regex(/^[^\s/:]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i, 'must be host:port, as 127.0.0.1:7233')
      .default('127.0.0.1:7233')
      .meta({ example: 'temporal.example:7233' })
      .describe('Host and port of the Temporal server.'),
    namespace: text.default('default').describe('Temporal namespace all runs live in.'),
    task_queue: z
      .string()
      .regex(/^[\w.:-]+$/, 'may have letters, digits and . _ : - only')
      .default('sitewright')
      .describe('Task queue of the orchestrator worker; operations name it in `temporal workflow start`.'),
    ui_url: httpUrl
      .optional()
      .describe(
        'Base URL of Temporal’s Web UI, for links to runs. None: no links, unless we started the server ourselves.',
      ),
    tls: z.strictObject({
      ca_file: filePath
        .optional()
        .describe(
          'File (PEM) with the authorities that the certificate of the Temporal server is checked against. None: those of the system. Any setting of `temporal.tls` turns TLS on.',
        ),
      cert_file: filePath
        .optional()
        .meta({ with: 'key_file' })
        .describe('File (PEM) with our certificate for the Temporal server, where it asks for one.'),
      key_file: ownSecret('the private key (PEM)')
        .optional()
        .meta({ with: 'cert_file' })
        .describe('File (PEM) with the key of `temporal.tls.cert_file`.'),
      server_name: text
        .optional()
        .describe('Name that the certificate of the Temporal server must have. None: the host of `temporal.address`.'),
    }),
    api_key_file: ownSecret('the API key')
      .optional()
      .describe('File with the API key for the Temporal server as its only line; it is sent over TLS only.'),
    encryption_key_file: filePath
      .optional()
      .describe(
        'File with the keys that everything sent to Temporal is encrypted with, the first for new data (`sitewright identity encryption-key`). The same one for API, worker and agents. None: nothing is encrypted.',
      ),
  }),
  store: z.strictObject({
    url: text
      .default('sqlite:./.sitewright/sitewright.db')
      .meta({ mayHoldPassword: true })
      .describe(
        'Where revisions, runs and history are kept: `sqlite:PATH` (or only the path) or `postgres://USER@HOST/DATABASE`.',
      ),
  }),
  maas: z.strictObject({
    url: httpUrl
      .optional()
      .meta({ example: 'http://maas.example:5240/MAAS' })
      .describe('Base URL of MAAS, as `http://maas.example:5240/MAAS`. Needed to deploy.'),
    key: z
      .string()
      .regex(/^[^:\s]+:[^:\s]+:[^:\s]+$/, 'must be the three parts of a MAAS API key, joined by colons')
      .optional()
      .meta({ secret: true })
      .describe(
        'API key of MAAS (`consumer:token:secret`), from the environment only. In a file, name `maas.key_file`.',
      ),
    key_file: ownSecret('the API key')
      .optional()
      .meta({ example: 'maas.key', reload: true })
      .describe('File that holds the API key of MAAS; only its owner may read it (mode 600).'),
    timeouts: z.strictObject({
      read_seconds: secondsBetween(1, 3_600).default(60).describe('Longest wait for an answer to a question.'),
      change_seconds: secondsBetween(1, 3_600)
        .default(180)
        .describe(
          'Longest wait for an answer to a change. MAAS may take two minutes; too short a wait leaves it unknown whether the change was made.',
        ),
    }),
    poll_min_seconds: secondsBetween(0.05, 3_600)
      .default(5)
      .describe('Shortest pause between two looks at a machine’s state; pauses grow while nothing changes.'),
    poll_max_seconds: secondsBetween(0.05, 3_600)
      .default(30)
      .describe('Longest pause between two looks at a machine’s state.'),
  }),
  deploy: z.strictObject({
    max_parallel_nodes: z
      .int()
      .min(1)
      .max(10_000)
      .default(64)
      .describe('Most nodes of a group that are prepared or deployed at the same time.'),
    heartbeat_seconds: z
      .number()
      .min(1)
      .max(600)
      .default(20)
      .describe(
        'A worker that gives no sign of life for this long counts as dead, and its calls move to another. Longer than the longest stall of a busy machine.',
      ),
    offline_wait_seconds: secondsBetween(1, 86_400)
      .default(120)
      .describe(
        'How long a run of graphs waits for the agent of a node that does not answer, until the node counts as offline and its task as failed.',
      ),
    distro_series: text.optional().describe('Release to deploy (`noble`). None: the default of MAAS.'),
    user_data_file: filePath.optional().describe('cloud-init user data given to every node at deploy. None: none.'),
  }),
  yaql: z.strictObject({
    helpers: filePath
      .optional()
      .describe(
        'JavaScript module whose export `helpers` adds functions of your own to YAQL (docs/yaql.md). It runs in our process: name only what you trust.',
      ),
  }),
  tags: z.strictObject({
    extensions: filePath
      .optional()
      .describe(
        'JavaScript module whose export `extensions` may change the tags that nodes get with roles (docs/tags.md). It runs in the API’s process: name only what you trust.',
      ),
  }),
  packages: z.strictObject({
    folder: filePath
      .optional()
      .describe(
        'Folder of package folders and archives that `sitewright package sync` installs and keeps up to date. None: only what was installed by hand.',
      ),
  }),
  api: z.strictObject({
    host: text
      .default('127.0.0.1')
      .describe('Address the API listens on. Beyond the loopback address only with `access.tokens`.'),
    port: port.default(8080).describe('Port the API listens on; 0 takes a free one.'),
    tls: z.strictObject({
      cert_file: filePath
        .optional()
        .meta({ with: 'key_file' })
        .describe('File (PEM) with the certificate of the API, and those between it and its authority. None: no TLS.'),
      key_file: ownSecret('the private key (PEM)')
        .optional()
        .meta({ with: 'cert_file' })
        .describe('File (PEM) with the key of `api.tls.cert_file`.'),
    }),
    rate_limit_per_minute: z
      .int()
      .min(0)
      .max(10_000_000)
      .default(6_000)
      .describe(
        'Requests that one token, or one address without a token, may make within a minute; further ones are answered 429. 0: no limit.',
      ),
  }),
  access: z.strictObject({
    tokens: z
      .enum(['off', 'on'])
      .default('off')
      .describe(
        'Whether the API asks its callers for tokens (docs/access.md). Without, it listens on the loopback address only.',
      ),
  }),
  agent: z.strictObject({
    state_dir: filePath
      .default('/var/lib/sitewright')
      .describe(
        'Folder in which a node agent keeps the journal and the output of its tasks; it must survive restarts.',
      ),
    keep_days: secondsBetween(1, 3_650)
      .default(14)
      .describe('Days after which a node agent deletes journal and output of an ended task.'),
  }),
  gateway: z.strictObject({
    host: text
      .optional()
      .describe('Address the gateway of node agents listens on; it asks for certificates itself. None: no gateway.'),
    port: port.default(8443).describe('Port of the gateway; 0 takes a free one.'),
    url: z
      .url({ protocol: /^https$/, error: 'must be a URL that starts with https://' })
      .optional()
      .describe(
        'URL under which nodes reach the gateway; its host is in the gateway’s certificate. None: `https://` with `gateway.host` and `gateway.port`.',
      ),
    data_dir: filePath
      .default('./.sitewright/gateway')
      .describe(
        'Folder with our certificate authority and the keys of orders, made at first use. Whoever has it can command all nodes. Gateway and worker must see the same one.',
      ),
    source_roots: z
      .string()
      .default('/etc/sitewright/sources')
      .describe('Folders, joined by colons, that `copy_files` may take files of this machine from.'),
    temporal_address: z
      .string()
      .regex(/^[^\s/:]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i, 'must be host:port, as 127.0.0.1:7233')
      .optional()
      .describe('Host and port under which nodes reach Temporal. None: `temporal.address`.'),
    token_hours: z
      .number()
      .min(0.1)
      .max(720)
      .default(24)
      .describe('Hours in which a node must use the token it is deployed or installed with.'),
    agent_package: text
      .optional()
      .describe(
        'Package of Sitewright that nodes install at their first boot: the URL of a .tgz as `npm pack` makes it. None: user data installs no agent.',
      ),
    node_package: text
      .default('nodejs')
      .describe('Package of the node’s distribution, or URL of a .tar.xz, that brings Node.js 20.19 or newer.'),
  }),
  secrets: z.strictObject({
    directory: filePath
      .optional()
      .describe(
        'Folder with the secrets that tasks name, one file (mode 600) for each. None: only variables `SW_SECRET_<NAME>`.',
      ),
  }),
  codec: z.strictObject({
    origin: httpUrl
      .optional()
      .describe(
        'Origin of the Temporal Web UI that may have payloads decrypted. None: no codec endpoint. It has no login of its own.',
      ),
    host: text.default('127.0.0.1').describe('Address the codec endpoint listens on.'),
    port: port.default(8081).describe('Port of the codec endpoint; 0 takes a free one.'),
  }),
  task_logs: z.strictObject({
    folder: filePath
      .default('./.sitewright/task-logs')
      .describe('Folder with the output of tasks. API, worker and gateway must see the same one.'),
    megabytes: z
      .number()
      .min(0.001)
      .max(10_000)
      .default(16)
      .describe(
        'Most that is kept of each of stdout and stderr of a task: the first megabyte and the last part, the middle goes.',
      ),
  }),
  telemetry: z.strictObject({
    metrics_port: port
      .optional()
      .describe(
        'Port on which a worker serves its metrics at `/metrics` (docs/metrics.md); 0 takes a free one. None: it serves none. Those of the API are at its own address.',
      ),
    metrics_host: text
      .default('127.0.0.1')
      .describe('Address of `telemetry.metrics_port`. It asks for no token: let only the collector reach it.'),
    otlp_endpoint: httpUrl
      .optional()
      .describe(
        'Base URL of a collector of traces that takes OTLP over HTTP, as `http://127.0.0.1:4318`. None: no traces.',
      ),
  }),
  log: z.strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('Least severity that is logged.'),
    format: z
      .enum(['pretty', 'json'])
      .default('pretty')
      .describe('`pretty` for people, `json` for collectors: one object a line.'),
  }),
});

/** The settings of one process, checked and complete. */
export type Settings = z.output<typeof settingsSchema>;

/** Variables with our prefix that are not settings. */
export const OTHER_VARIABLES: Readonly<Record<string, string>> = {
  SITEWRIGHT_CONFIG: 'names the settings file',
  SITEWRIGHT_CACHE: 'the folder for what is costly to get (default: `~/.cache/sitewright`)',
  SITEWRIGHT_API: 'the API the CLI talks to',
  SITEWRIGHT_TOKEN: 'the token it shows there',
  SITEWRIGHT_CA_FILE:
    'a file (PEM) with the authority that the API’s certificate is from, where the system does not know it',
};

/** One setting: a leaf of the schema. */
export interface SettingDefinition extends z.GlobalMeta {
  /** `maas.timeouts.read_seconds` */
  readonly path: string;
  /** `SITEWRIGHT_MAAS_TIMEOUTS_READ_SECONDS` */
  readonly variable: string;
  readonly schema: z.ZodType;
  readonly description: string;
  readonly isNumber: boolean;
  /** The values there are; absent where any that fits the rules will do. */
  readonly choices?: readonly string[];
  /** Absent: there is none, and the setting may stay without a value. */
  readonly defaultValue?: string | number;
}

/** Every setting, in the order of the documentation. */
export const settingDefinitions: readonly SettingDefinition[] = leavesOf(settingsSchema, []);

function leavesOf(schema: unknown, path: readonly string[]): SettingDefinition[] {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, child]) => leavesOf(child, [...path, key]));
  if (!(schema instanceof z.ZodType)) return [];
  const inner = schema instanceof z.ZodDefault || schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  const meta = { ...(inner instanceof z.ZodType ? inner.meta() : {}), ...schema.meta() };
  const fallback: unknown = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
  return [
    {
      ...meta,
      path: path.join('.'),
      variable: `SITEWRIGHT_${path.join('_').toUpperCase()}`,
      schema,
      description: meta.description ?? '',
      isNumber: inner instanceof z.ZodNumber,
      ...(inner instanceof z.ZodEnum ? { choices: inner.options.map(String) } : {}),
      ...(typeof fallback === 'string' || typeof fallback === 'number' ? { defaultValue: fallback } : {}),
    },
  ];
}
