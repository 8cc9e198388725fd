import { z } from 'zod';
import { checkSettings } from './check-settings.ts';
import { gitSettings, noticeSettings } from './outside-settings.ts';
import { packageSettings } from './package-settings.ts';
import { download, downloadOrPackage, filePath, httpUrl, ownSecret, text } from './setting-kinds.ts';
import { temporalSettings } from './temporal-settings.ts';
import { workerSettings } from './worker-settings.ts';

declare module 'zod' {
  /** Metadata of a setting besides its description. Lists of settings are derived from it. */
  interface GlobalMeta {
    /** Never shown, never read from the settings file. */
    readonly secret?: boolean;
    /** The setting of the same section with the address to which this secret is sent. */
    readonly goesTo?: string;
    /** Content of a file that only its owner may read. */
    readonly ownSecret?: string;
    /** A path: relative to the settings file's folder if set there, otherwise to the working directory. */
    readonly isPath?: boolean;
    /** A folder with secrets. */
    readonly holdsSecrets?: boolean;
    /** A module that runs in our processes. */
    readonly isCode?: boolean;
    /** A URL whose password is not shown. */
    readonly mayHoldPassword?: boolean;
    /** A setting of the same section that must be set as well. */
    readonly with?: string;
    /** A change needs no restart. */
    readonly reload?: boolean;
    /** A value for the example of docs/reference/settings.md. */
    readonly example?: string;
  }
}

const secondsBetween = (least: number, most: number) => z.number().min(least).max(most);
const port = z.int().min(0).max(65_535);
/** Credentials pass through it: without TLS only within this machine. */
const safeUrl = httpUrl.refine(
  (url) => /^https:|^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])([:/]|$)/.test(url),
  'must start with https://, except for this machine',
);
/**
 * All settings, each with its rules, default, description for docs/reference/settings.md and metadata (`meta`). Its name in the file
 * is its path (`temporal.address`), in the environment the path in capitals (`SITEWRIGHT_TEMPORAL_ADDRESS`).
 */
export const settingsSchema = z.strictObject({
  temporal: temporalSettings,
  worker: workerSettings,
  store: z.strictObject({
    url: text
      .default('sqlite:./.sitewright/sitewright.db')
      .meta({ mayHoldPassword: true })
      .describe(
        'Database of revisions, runs and history: `sqlite:PATH` (or only the path) or `postgres://USER@HOST/DATABASE`.',
      ),
  }),
  maas: z.strictObject({
    url: httpUrl
      .optional()
      .meta({ example: 'http://maas.example:5240/MAAS' })
      .describe('Base URL of MAAS, such as `http://maas.example:5240/MAAS`. Needed to deploy.'),
    key: z
      .string()
      .regex(/^[^:\s]+:[^:\s]+:[^:\s]+$/, 'must be the three parts of a MAAS API key, joined by colons')
      .optional()
      .meta({ secret: true, goesTo: 'url' })
      .describe(
        'API key of MAAS (`consumer:token:secret`), from the environment only. In a file, name `maas.key_file`.',
      ),
    key_file: ownSecret('the API key')
      .optional()
      .meta({ example: 'maas.key', reload: true })
      .describe('File with the API key of MAAS; only its owner may read it (mode 600).'),
    timeouts: z.strictObject({
      read_seconds: secondsBetween(1, 3_600).default(60).describe('Timeout of a request that reads.'),
      change_seconds: secondsBetween(1, 3_600)
        .default(180)
        .describe(
          'Timeout of a request that changes something. MAAS may take two minutes; after a timeout it is unknown whether the change was made.',
        ),
    }),
    poll_min_seconds: secondsBetween(0.05, 3_600)
      .default(5)
      .describe('Shortest poll interval for a machine’s state; it grows while nothing changes.'),
    poll_max_seconds: secondsBetween(0.05, 3_600).default(30).describe('Longest poll interval for a machine’s state.'),
  }),
  deploy: z.strictObject({
    max_parallel_nodes: z
      .int()
      .min(1)
      .max(10_000)
      .default(64)
      .describe('Maximum number of nodes of a group that are prepared or deployed at the same time.'),
    heartbeat_seconds: z
      .number()
      .min(1)
      .max(600)
      .default(20)
      .describe(
        'A worker without a heartbeat for this long counts as dead, and its calls move to another. Choose it longer than the longest stall of a busy machine.',
      ),
    offline_wait_seconds: secondsBetween(1, 86_400)
      .default(120)
      .describe(
        'How long a run of graphs waits for an agent that does not answer before its node counts as offline and its task as failed.',
      ),
    distro_series: text.optional().describe('Ubuntu release to deploy (`noble`). None: the default of MAAS.'),
    user_data_file: filePath.optional().describe('cloud-init user data for every deployed node. None: no user data.'),
  }),
  yaql: z.strictObject({
    helpers: filePath
      .optional()
      .meta({ isCode: true })
      .describe(
        'JavaScript module whose export `helpers` adds custom functions to YAQL (docs/reference/yaql.md). It runs in Sitewright’s process: use only code you trust.',
      ),
  }),
  tags: z.strictObject({
    extensions: filePath
      .optional()
      .meta({ isCode: true })
      .describe(
        'JavaScript module whose export `extensions` may change the tags that nodes get with roles (docs/reference/tags.md). It runs in the processes of API and worker: use only code you trust.',
      ),
  }),
  packages: packageSettings,
  api: z.strictObject({
    host: text
      .default('127.0.0.1')
      .describe('Address the API listens on. Addresses other than loopback require `access.tokens`.'),
    port: port.default(8080).describe('Port the API listens on; 0 chooses a free one.'),
    tls: z.strictObject({
      cert_file: filePath
        .optional()
        .meta({ with: 'key_file', reload: true })
        .describe('File (PEM) with the certificate chain of the API. None: no TLS.'),
      key_file: ownSecret('the private key (PEM)')
        .optional()
        .meta({ with: 'cert_file', reload: true })
        .describe('File (PEM) with the key of `api.tls.cert_file`.'),
    }),
    rate_limit_per_minute: z
      .int()
      .min(0)
      .max(10_000_000)
      .default(6_000)
      .describe(
        'Requests per minute for one token, or for one address without a token; further ones are answered with 429. 0: no limit.',
      ),
  }),
  access: z.strictObject({
    tokens: z
      .enum(['off', 'on'])
      .default('off')
      .describe(
        'Whether the API requires tokens (docs/how-to/access.md). If off, it listens only on the loopback address.',
      ),
    local_token_file: filePath
      .optional()
      .describe(
        'File in which the API keeps an admin token for the user who runs it, made at its first start; their command line below that folder finds it. With `access.tokens` only. None: no such token. `up` sets it unless `access.tokens` is set.',
      ),
    approval_by_another: z
      .enum(['off', 'on'])
      .default('off')
      .describe(
        'Whether a run that waits for approval needs approval by a person other than the one who started it. Names are proven only with `access.tokens`.',
      ),
    openid: z.strictObject({
      issuer: safeUrl
        .optional()
        .meta({ with: 'client_id', example: 'https://login.example/realms/ops' })
        .describe(
          'Issuer of an OpenID Connect provider at which users sign in, in addition to tokens. None: tokens only.',
        ),
      client_id: text
        .optional()
        .meta({ with: 'page_url' })
        .describe('Id under which Sitewright is registered at the provider.'),
      client_secret_file: ownSecret('the client secret')
        .optional()
        .meta({ with: 'issuer' })
        .describe('File with the secret of the client. None: a public client; PKCE is used either way.'),
      page_url: safeUrl
        .optional()
        .meta({ with: 'issuer', example: 'https://sitewright.example' })
        .describe(
          'URL under which browsers reach the API; register it at the provider with `/auth/callback` appended. `http://` only for this machine.',
        ),
      scopes: text
        .default('openid profile email')
        .describe('Scopes to request from the provider, separated by spaces.'),
      name_claim: text
        .default('email')
        .describe(
          'Claim with the name of the user in the audit trail. Users must not be able to change it themselves.',
        ),
      unstated_address: z
        .enum(['refuse', 'subject'])
        .default('refuse')
        .describe(
          'For a provider that sends no claim `email_verified`, such as Entra ID: its users may have typed their addresses themselves. `refuse`: no access by an address. `subject`: access under the name `issuer#subject`, which no user can choose.',
        ),
      roles_claim: text
        .default('groups')
        .describe('Claim with the groups or roles of the user; `a.b` is also the key `b` in the claim `a`.'),
      viewers: text.optional().describe('Values of the roles claim that give the role viewer, separated by commas.'),
      operators: text
        .optional()
        .describe('Values of the roles claim that give the role operator, separated by commas.'),
      admins: text.optional().describe('Values of the roles claim that give the role admin, separated by commas.'),
      session_hours: z
        .number()
        .min(0.1)
        .max(720)
        .default(10)
        .describe('Hours after which a user must sign in again; a changed role takes effect then.'),
    }),
  }),
  notices: noticeSettings,
  git: gitSettings,
  checks: checkSettings,
  agent: z.strictObject({
    state_dir: filePath
      .default('/var/lib/sitewright')
      .describe(
        'Folder in which a node agent keeps the journal and the output of its tasks; it must survive restarts. For users other than root the default is `~/.local/state/sitewright` (or below `XDG_STATE_HOME`).',
      ),
    keep_days: secondsBetween(1, 3_650)
      .default(14)
      .describe('Days after which a node agent deletes journal and output of an ended task.'),
    master: z
      .enum(['deny', 'allow'])
      .default('deny')
      .describe(
        'Whether graphs may have tasks on `master` that an agent runs (docs/how-to/agents.md#tasks-on-master). `deny`: such graphs are refused, at upload to a cluster and in every plan of a run. API and worker must agree.',
      ),
  }),
  gateway: z.strictObject({
    host: text
      .optional()
      .describe('Address the gateway of node agents listens on; it requires client certificates. None: no gateway.'),
    port: port.default(8443).describe('Port of the gateway; 0 chooses a free one.'),
    url: z
      .url({ protocol: /^https$/, error: 'must be a URL that starts with https://' })
      .optional()
      .describe(
        'URL under which nodes reach the gateway; its host is in the gateway’s certificate. None: `https://` with `gateway.host` and `gateway.port`.',
      ),
    data_dir: filePath
      .default('./.sitewright/gateway')
      .describe(
        'Folder with Sitewright’s certificate authority and the keys of orders, created at first use. Anyone with its content can command all nodes. Gateway and worker must share it.',
      ),
    source_roots: z
      .string()
      .default('/etc/sitewright/sources')
      .describe('Folders, separated by colons, from which `copy_files` may copy files of this machine.'),
    temporal_address: z
      .string()
      .regex(/^[^\s/:]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i, 'must be host:port, such as 127.0.0.1:7233')
      .optional()
      .describe(
        'Host and port under which nodes reach Temporal; `up` forwards connections from there to the server that it starts. None: `temporal.address`.',
      ),
    token_hours: z
      .number()
      .min(0.1)
      .max(720)
      .default(24)
      .describe('Hours in which a node must use the token from its deployment or installation.'),
    agent_package: download
      .optional()
      .describe(
        'Package of Sitewright that nodes install at their first boot: the URL of a .tgz made by `npm run pack:agent`, which needs no registry, or by `npm pack`. It starts with `https://`, or has a checksum (`http://…/agent.tgz#sha512-…`), with which nodes compare it. None: user data installs no agent.',
      ),
    node_package: downloadOrPackage
      .default('nodejs')
      .describe(
        'Package of the node’s distribution, or URL of a .tar.xz (`https://`, or with a checksum as `gateway.agent_package`), with Node.js 24.15 or newer.',
      ),
  }),
  secrets: z.strictObject({
    directory: filePath
      .optional()
      .meta({ holdsSecrets: true })
      .describe(
        'Folder with the secrets that tasks name, one file (mode 600) for each. None: only variables `SW_SECRET_<NAME>`.',
      ),
  }),
  codec: z.strictObject({
    origin: httpUrl
      .optional()
      .describe(
        'Origin of the Temporal Web UI that may decrypt payloads. None: no codec endpoint. With `access.tokens`, the endpoint requires a token.',
      ),
    host: text.default('127.0.0.1').describe('Address the codec endpoint listens on.'),
    port: port.default(8081).describe('Port of the codec endpoint; 0 chooses a free one.'),
  }),
  task_logs: z.strictObject({
    folder: filePath
      .default('./.sitewright/task-logs')
      .describe('Folder with the output of tasks. API, worker and gateway must share it.'),
    megabytes: z
      .number()
      .min(0.001)
      .max(10_000)
      .default(16)
      .describe(
        'Megabytes kept of each of stdout and stderr of a task: the first megabyte and the last part; the middle is dropped.',
      ),
  }),
  telemetry: z.strictObject({
    metrics_port: port
      .optional()
      .describe(
        'Port on which a worker serves its metrics at `/metrics` (docs/how-to/monitor.md); 0 chooses a free one. None: no metrics. The API serves its metrics at its own address.',
      ),
    metrics_host: text
      .default('127.0.0.1')
      .describe('Address of `telemetry.metrics_port`. It requires no token: allow only the collector to reach it.'),
    otlp_endpoint: httpUrl
      .optional()
      .describe('Base URL of a trace collector for OTLP over HTTP, such as `http://127.0.0.1:4318`. None: no traces.'),
  }),
  log: z.strictObject({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('Lowest severity that is logged.'),
    format: z
      .enum(['pretty', 'json'])
      .default('pretty')
      .describe('`pretty` for people, `json` for collectors: one object per line.'),
  }),
});

/** The settings of one process, checked and complete. */
export type Settings = z.output<typeof settingsSchema>;

/** Variables with our prefix that are not settings. */
export const OTHER_VARIABLES: Readonly<Record<string, string>> = {
  SITEWRIGHT_CONFIG: 'names the settings file',
  SITEWRIGHT_CACHE: 'the cache folder (default: `~/.cache/sitewright`)',
  SITEWRIGHT_API: 'the address of the API for the CLI',
  SITEWRIGHT_CONTEXT: 'the context of the CLI: a system by a name of its user’s',
  SITEWRIGHT_TOKEN: 'the token of the CLI for the API',
  SITEWRIGHT_CA_FILE: 'a file (PEM) with the authority of the API’s certificate, if the system does not trust it',
};

/** The origin of a setting's value. */
export type SettingOrigin =
  | { readonly from: 'default' }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'file'; readonly file: string; readonly line: number };

/** One setting: a leaf of the schema. */
export interface SettingDefinition extends z.GlobalMeta {
  /** `maas.timeouts.read_seconds` */
  readonly path: string;
  /** `SITEWRIGHT_MAAS_TIMEOUTS_READ_SECONDS` */
  readonly variable: string;
  readonly schema: z.ZodType;
  readonly description: string;
  readonly isNumber: boolean;
  /** The allowed values; absent when other rules apply. */
  readonly choices?: readonly string[];
  /** Absent when there is none: the setting may stay without a value. */
  readonly defaultValue?: string | number;
}

/** Every setting, in the order of the documentation. */
export const settingDefinitions: readonly SettingDefinition[] = leavesOf(settingsSchema, []);

/** The environment variable of a setting, given as `api.port`. */
export function variableOf(path: string): string {
  return `SITEWRIGHT_${path.replaceAll('.', '_').toUpperCase()}`;
}

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
      variable: variableOf(path.join('.')),
      schema,
      description: meta.description ?? '',
      isNumber: inner instanceof z.ZodNumber,
      ...(inner instanceof z.ZodEnum ? { choices: inner.options.map(String) } : {}),
      ...(typeof fallback === 'string' || typeof fallback === 'number' ? { defaultValue: fallback } : {}),
    },
  ];
}
