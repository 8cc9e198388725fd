import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { createSecureContext, type Server as SecureServer } from 'node:tls';
import { Client } from '@temporalio/client';
import { codecAuthorization } from '../src/api/access/guard.ts';
import { CALLBACK_PATH } from '../src/api/access/sign-in-routes.ts';
import { type ApiOptions, createApi } from '../src/api/index.ts';
import type { Terminal } from '../src/cli/shell/terminal.ts';
import { openPlanner } from '../src/clusters/planning/index.ts';
import { given } from '../src/core/data/given.ts';
import { SetupError } from '../src/core/problems/refusal.ts';
import { withoutEnd } from '../src/core/text/text.ts';
import {
  AgentPresence,
  createOperations,
  type Operations,
  openReader,
  signIn,
  type TokenOperations,
  tagExtensionsOf,
} from '../src/ops/index.ts';
import { followFiles } from '../src/platform/files/follow-files.ts';
import { readPrivate, writePrivate } from '../src/platform/files/private-file.ts';
import { readSettingFile } from '../src/platform/files/setting-file.ts';
import { programVersion } from '../src/platform/installation.ts';
import { noteAddress } from '../src/platform/local-access.ts';
import { openIdProvider } from '../src/platform/openid/openid-provider.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import type { Logger } from '../src/platform/telemetry/log.ts';
import { ApiMetrics } from '../src/platform/telemetry/metrics.ts';
import type { Traces } from '../src/platform/telemetry/traces.ts';
import { followCredentials } from '../src/platform/temporal/follow-credentials.ts';
import { ownQueue } from '../src/platform/temporal/own-queue.ts';
import { startGateway } from './gateway.ts';
import { encryptionOf, isLoopback, startCodecEndpoint } from './parts/encryption.ts';
import { lazyLink } from './parts/lazy-connection.ts';
import { cannotListen, ListenError } from './parts/listen-error.ts';
import { observeMaas } from './parts/metrics.ts';
import { archiveIntakeOf, archiveLimitsOf, masterAddress, secretsOf, taskLogs } from './parts/of-settings.ts';
import { openRehearser } from './parts/rehearsals/rehearser.ts';
import { serve } from './parts/serve.ts';
import { activitySettings, machinesOf, paceOf } from './parts/services.ts';
import { openStoreWhenAvailable } from './parts/store-when-available.ts';
import { traceStarts, tracesOf } from './parts/traces.ts';

export interface RunningApi {
  /** `http://127.0.0.1:8080`, without a trailing slash. */
  readonly url: string;
  /** Resolves when the API has stopped. */
  readonly done: Promise<void>;
  /** Finishes running requests, then closes everything. May be called more than once. */
  stop(): Promise<void>;
}

interface StartApiOptions {
  /** Base address of Temporal's Web UI if `temporal.ui_url` is not set. */
  readonly temporalUiUrl?: string;
  /** For tests: an answer that does not match its schema is an error. */
  readonly checkAnswer?: ApiOptions['checkAnswer'];
  /** For tests: that of `TemporalAccess`. */
  readonly patience?: number;
  /** Ends the waiting for the store. */
  readonly stop?: AbortSignal;
}

/**
 * Starts the REST API as configured. If Temporal or MAAS is unavailable, the API starts anyway, reports it, and uses
 * them when they are back. Waits while the store is unreachable.
 *
 * @throws SetupError
 */
export async function startApi(settings: Settings, log: Logger, options: StartApiOptions = {}): Promise<RunningApi> {
  const { host, port } = settings.api;
  const tokensOn = settings.access.tokens === 'on';
  if (!tokensOn && !isLoopback(host))
    throw new ListenError(
      `the API cannot listen on ${host}:${port}: it would accept requests from anyone. Set access.tokens to on (SITEWRIGHT_ACCESS_TOKENS) and create the first token with 'sitewright token bootstrap', or set api.host to 127.0.0.1`,
    );
  const tls = tlsOf(settings);
  const openId = openIdOf(settings);
  const parts = new Parts(settings, log, options);
  try {
    const { operations, metrics, traces } = await parts.open();
    if (settings.packages.base_release === 'on') await installBase(operations, log);
    const { local_token_file: localTokenFile } = settings.access;
    if (tokensOn && localTokenFile !== undefined) await keepLocalToken(localTokenFile, operations.tokens);
    const api = await createApi(operations, {
      log,
      version: programVersion(),
      metrics,
      ...given({ traces }),
      tokens: tokensOn,
      ...given({ openId }),
      ratePerMinute: settings.api.rate_limit_per_minute,
      archives: archiveIntakeOf(settings),
      ...given({ tls, checkAnswer: options.checkAnswer }),
    });
    parts.closing.push(() => api.close());
    if (tls !== undefined) {
      const secure = api.server as unknown as SecureServer;
      const renewed = () => tlsOf(settings) ?? tls;
      const renew = (now: typeof tls) => secure.setSecureContext(now);
      const endRenewing = followFiles('certificate and key of the API', renewed, renew, log);
      parts.closing.push(async () => endRenewing());
    }
    const listenTextResolver = (at: string) => `API listens at ${at}, described at ${at}/docs`;
    await api.listen({ host, port, listenTextResolver }).catch(cannotListen('the API', { host, port }, 'api.'));
    const { port: bound } = api.server.address() as { port: number };
    await parts.startBeside(tokensOn ? operations.tokens : undefined);
    const url = `${tls === undefined ? 'http' : 'https'}://${urlHost(host)}:${bound}`;
    if (tls === undefined && !isLoopback(host)) {
      log.warn(
        { host, port: bound },
        'the API listens beyond this machine without TLS: tokens can be read in transit. Set api.tls.cert_file and api.tls.key_file, or put a proxy with TLS in front',
      );
    }
    if (tokensOn) await warnWithoutTokens(operations, log);
    if (tokensOn && localTokenFile !== undefined) parts.closing.push(noteAddress(localTokenFile, url));
    let stopped: Promise<void> | undefined;
    const done = new Promise<void>((resolve) => {
      parts.closing.unshift(async () => resolve());
    });
    return { url, done, stop: () => (stopped ??= parts.close()) };
  } catch (error) {
    await parts.close();
    throw error;
  }
}

/** What the process of an API opens, and closes in the reverse order. */
class Parts {
  readonly #settings: Settings;
  readonly #log: Logger;
  readonly #options: StartApiOptions;
  readonly closing: (() => Promise<unknown>)[] = [];

  constructor(settings: Settings, log: Logger, options: StartApiOptions) {
    this.#settings = settings;
    this.#log = log;
    this.#options = options;
  }

  async open() {
    const settings = this.#settings;
    // The store is opened before the metrics, which read it, so its first calls are not measured.
    let opened: ApiMetrics | undefined;
    let agents: AgentPresence | undefined;
    const store = await openStoreWhenAvailable(settings.store.url, this.#log, this.#options.stop, {
      migrate: true,
      onCall: (call) => opened?.storeCall(call),
    });
    this.closing.push(() => store.close());
    const metrics = new ApiMetrics(programVersion(), store, { latest: () => agents?.latest() });
    opened = metrics;
    const traces = tracesOf(settings, 'sitewright-api', this.#log);
    this.closing.push(async () => traces?.stop());
    const temporal = this.#temporal(traces);
    agents = new AgentPresence({ store, temporal });
    const machines = machinesOf(settings, observeMaas(metrics, traces));
    this.closing.push(() => machines.close());
    const operations = createOperations({
      store,
      temporal,
      maas: machines.maas,
      ...(await this.#threads()),
      version: programVersion(),
      ...given({ masterIp: masterAddress(settings) }),
      masterAllowed: settings.agent.master === 'allow',
      taskLogs: taskLogs(settings),
      secrets: secretsOf(settings),
      tagExtensions: tagExtensionsOf(settings.tags.extensions),
      ...given({
        distroSeries: settings.deploy.distro_series,
        packagesFolder: settings.packages.folder,
        noticeReceivers: settings.notices.receivers_file,
        temporalUiUrl: settings.temporal.ui_url ?? this.#options.temporalUiUrl,
      }),
    });
    return { operations, metrics, traces };
  }

  #temporal(traces: Traces | undefined) {
    const { temporal } = this.#settings;
    const link = lazyLink(temporal);
    const { connection } = link;
    const endFollowing = followCredentials(temporal, [link], this.#log);
    this.closing.push(async () => {
      endFollowing();
      await connection.close();
    });
    const { address, namespace, prefix } = temporal;
    return {
      client: new Client({ connection, namespace, ...encryptionOf(this.#settings), ...traceStarts(traces) }),
      connection,
      namespace,
      taskQueue: ownQueue(temporal),
      ...given({ prefix }),
      address,
      ...given({ patience: this.#options.patience }),
    };
  }

  /** What works in threads of its own. */
  async #threads() {
    const settings = this.#settings;
    const planner = await openPlanner(settings.yaql.helpers);
    this.closing.push(() => planner.close());
    const reader = openReader(archiveLimitsOf(settings));
    this.closing.push(() => reader.close());
    const { prefix: _, user_data: __, ...rehearsed } = activitySettings(settings);
    const rehearser = openRehearser({
      settings: rehearsed,
      pace: paceOf(settings),
      helpers: settings.yaql.helpers,
      tagExtensions: settings.tags.extensions,
    });
    this.closing.push(() => rehearser.close());
    return { planner, reader, rehearser };
  }

  /** The gateway of agents and the codec, where they are set. */
  async startBeside(tokens: TokenOperations | undefined): Promise<void> {
    if (this.#settings.gateway.host !== undefined) {
      const gateway = await startGateway(this.#settings, this.#log, this.#options.stop);
      this.closing.push(() => gateway.stop());
      this.#log.info({ url: gateway.url }, 'the gateway of node agents listens');
    }
    const codec = await startCodecEndpoint(this.#settings, this.#log, tokens && codecAuthorization(tokens));
    if (codec !== undefined) this.closing.push(() => codec.stop());
  }

  async close(): Promise<void> {
    for (const close of this.closing.reverse()) await close();
  }
}

/** A system works without the base release: a failure does not keep it from starting, and the next start tries again. */
async function installBase({ packages }: Operations, log: Logger): Promise<void> {
  await packages.installBase().catch((error: unknown) => {
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'the base release is not installed');
  });
}

/** Warns if no one can use the API yet. It does not make the first token, which would then be in the log. */
async function warnWithoutTokens({ tokens }: Operations, log: Logger): Promise<void> {
  const hasAdmin = (await tokens.list()).some(({ role, state }) => role === 'admin' && state === 'valid');
  if (!hasAdmin)
    log.warn("there is no admin token yet: create one with 'sitewright token bootstrap' where the store is reachable");
}

/** @throws SetupError naming the setting if certificate or key cannot be read or do not match */
function tlsOf({ api }: Settings): { readonly cert: string; readonly key: string } | undefined {
  const { cert_file: certFile, key_file: keyFile } = api.tls;
  if (certFile === undefined || keyFile === undefined) return undefined;
  const pair = {
    cert: readSettingFile('api.tls.cert_file', certFile).toString('utf8'),
    key: readSettingFile('api.tls.key_file', keyFile).toString('utf8'),
  };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new ListenError(
      `the API cannot listen: api.tls.cert_file and api.tls.key_file are not a certificate and its key (${(error as Error).message})`,
      { cause: error },
    );
  }
  return pair;
}

/** An address for clients: a listener on all addresses is reachable at loopback. */
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Runs the REST API in this process until Ctrl-C or SIGTERM. Prints its address once it listens. */
export function serveApi(terminal: Terminal, settings: Settings): Promise<void> {
  return serve(terminal, settings, 'api', async (log) => {
    const api = await startApi(settings, log, { stop: terminal.interrupted() });
    return { ...api, said: `API ready at ${api.url}` };
  });
}

/** Who makes it, in lists of tokens. No token of a person's can have this name. */
const MADE_BY = 'api';

/**
 * Keeps an admin token in the file, for the user who runs the API: their processes alone can read it. One that still is
 * valid stays; of those that were made here before, none is valid beside it.
 */
async function keepLocalToken(file: string, tokens: TokenOperations): Promise<void> {
  const kept = readPrivate(file)?.trim();
  const known = kept ? await tokens.authenticate(kept) : undefined;
  if (known?.ok && known.principal.role === 'admin') return;
  const valid = (await tokens.list()).filter(({ kind, state }) => kind === 'token' && state === 'valid');
  const user = ownName();
  const isOwn = ({ name, created_by }: (typeof valid)[number]) =>
    created_by === MADE_BY && (name === user || name === `${user}@up`);
  for (const { id } of valid.filter(isOwn)) await tokens.revoke(id, MADE_BY);
  const isTaken = valid.some((one) => one.name === user && !isOwn(one));
  const { token } = await tokens.create({ name: isTaken ? `${user}@up` : user, role: 'admin' }, MADE_BY);
  writePrivate(file, `${token}\n`);
}

/** The login name, as a name of a token. */
function ownName(): string {
  try {
    const name = userInfo()
      .username.toLowerCase()
      .replaceAll(/[^a-z0-9._@-]/g, '-')
      .slice(0, 60);
    return /^[a-z0-9]/.test(name) ? name : 'operator';
  } catch {
    // A container may run with a user id that has no name.
    return 'operator';
  }
}

/** Sign-in through the configured OpenID provider; undefined if there is none. It is not asked before the first sign-in. */
export function openIdOf({ access: { openid, tokens } }: Pick<Settings, 'access'>): ApiOptions['openId'] {
  const { issuer, client_id: clientId, client_secret_file: secretFile, page_url } = openid;
  if (issuer === undefined || clientId === undefined || page_url === undefined) return undefined;
  if (tokens === 'off')
    throw new SetupError('settings', 'access.openid is set, but access.tokens is off: no one would need to sign in');
  const pageUrl = withoutEnd(page_url, '/');
  const provider = openIdProvider({
    issuer,
    clientId,
    ...(secretFile === undefined
      ? {}
      : { clientSecret: readSettingFile('access.openid.client_secret_file', secretFile).toString('utf8').trim() }),
    scopes: openid.scopes,
    redirectUrl: `${pageUrl}${CALLBACK_PATH}`,
  });
  const rules = {
    nameClaim: openid.name_claim,
    rolesClaim: openid.roles_claim,
    unstatedAddress: openid.unstated_address,
    values: { viewer: listOf(openid.viewers), operator: listOf(openid.operators), admin: listOf(openid.admins) },
  };
  return { signIn: signIn(provider, rules), pageUrl, sessionHours: openid.session_hours };
}

const listOf = (text = ''): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
