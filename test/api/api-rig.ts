import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MaasConfigurationError, type MachineContext, openMachines } from '@sitewright/maas';
import { simulatorKeys } from '@sitewright/maas-simulator';
import { Client } from '@temporalio/client';
import type { InjectOptions } from 'fastify';
import { type Api, type ApiOptions, createApi } from '../../src/api/index.ts';
import { createOperations, type Operations } from '../../src/ops/index.ts';
import type { Rehearser } from '../../src/ops/rehearsals/order.ts';
import { createLogger } from '../../src/platform/telemetry/log.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import { lazyConnection } from '../../worker/parts/lazy-connection.ts';
import { openRehearser } from '../../worker/parts/rehearsals/rehearser.ts';
import type { LivingSite } from '../rig/living-site.ts';
import { openapiCheck } from '../rig/openapi-check.ts';
import { PATIENCE, type TemporalRig } from '../rig/temporal.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed if it is JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
}

export type Method = 'GET' | 'POST' | 'DELETE' | 'PUT' | 'PATCH' | 'OPTIONS' | 'HEAD';

/** An API in this process, whose answers are checked against their schemas. */
export interface ApiRig {
  readonly api: Api;
  readonly store: Store;
  /** The log, line by line. */
  readonly log: readonly Record<string, unknown>[];
  /** `body`: an object is sent as JSON, text unchanged. */
  ask(method: Method, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

export async function apiOf(
  operations: Operations,
  store: Store,
  close: () => Promise<unknown>,
  options: Partial<ApiOptions> = {},
): Promise<ApiRig> {
  const log: Record<string, unknown>[] = [];
  const api = await createApi(operations, {
    log: createLogger({ level: 'debug', format: 'json' }, 'api', (line) =>
      log.push(JSON.parse(line) as Record<string, unknown>),
    ),
    version: '1.2.3',
    // Options decide which routes there are, and which answers they may give.
    checkAnswer: openapiCheck(`${Object.keys(options).sort()} tokens: ${options.tokens === true}`),
    ...options,
  });
  return {
    api,
    store,
    log,
    async ask(method, path, body, headers = {}) {
      const json = body !== undefined && typeof body !== 'string' && !Buffer.isBuffer(body);
      const answer = await api.inject({
        method,
        url: path,
        headers: { ...(json ? { 'content-type': 'application/json' } : {}), ...headers },
        ...(body === undefined ? {} : { payload: body as NonNullable<InjectOptions['payload']> }),
      });
      return readAnswer(answer.statusCode, answer.headers as Record<string, string>, answer.body);
    },
    async close() {
      await api.close();
      await close();
    },
  };
}

export function readAnswer(status: number, headers: Readonly<Record<string, string>>, text: string): Answer {
  const isJson = /json/.test(headers['content-type'] ?? '');
  return { status, headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/** Settings of a rehearsal. */
const REHEARSED = { max_parallel_nodes: 8, heartbeat_seconds: 30, offline_wait_seconds: 120 };

const noMaas = (): MachineContext => {
  throw new MaasConfigurationError(['no MAAS here']);
};

/** A real store in its own folder; nothing listens at Temporal's address, MAAS is not configured. */
export async function apiAlone(options: Partial<ApiOptions> = {}, ours?: Rehearser): Promise<ApiRig> {
  const folder = await mkdtemp(join(tmpdir(), 'sitewright-api-'));
  const store = await openStore(join(folder, 'store.db'));
  await store.migrate();
  const close = async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  };
  return apiWithoutTemporal(store, options, ours, close);
}

/** The same with a store that others have. */
export function apiWithoutTemporal(
  store: Store,
  options: Partial<ApiOptions> = {},
  ours?: Rehearser,
  closeStore: () => Promise<void> = async () => undefined,
): Promise<ApiRig> {
  const address = '127.0.0.1:1';
  // Nothing answers, and retrying would only cost the tests time.
  const connection = lazyConnection(address, 1);
  const temporal = { client: new Client({ connection }), connection, namespace: 'default', taskQueue: 'none', address };
  const rehearser = openRehearser({ settings: REHEARSED });
  const close = async () => {
    await rehearser.close();
    await connection.close();
    await closeStore();
  };
  const operations = createOperations({ store, temporal, maas: noMaas, rehearser: ours ?? rehearser });
  return apiOf(operations, store, close, options);
}

/**
 * The API of a living site: everything is there. Closing it leaves the site.
 * @param patience with Temporal; 1: the product's own, for tests whose worker does not answer
 */
export function apiOfSite(rig: TemporalRig, site: LivingSite, patience = PATIENCE): Promise<ApiRig> {
  const machines = openMachines({
    url: site.maasUrl,
    apiKey: simulatorKeys.admin,
    pollMinSeconds: 0.05,
    pollMaxSeconds: 0.5,
  });
  const { namespace, address } = rig;
  const connection = rig.connect();
  const rehearser = openRehearser({ settings: REHEARSED });
  const client = new Client({ connection, namespace });
  const operations = createOperations({
    store: site.store,
    temporal: { client, connection, namespace, taskQueue: site.worker.taskQueue, address, patience },
    maas: () => machines,
    rehearser,
    temporalUiUrl: 'http://temporal.example',
    ...(site.receiversFile === undefined ? {} : { noticeReceivers: site.receiversFile }),
    secrets: {
      name: 'of the test',
      read: async (ref) => (ref === 'git/hook' ? { kind: 'found', value: 'of the hook' } : { kind: 'absent' }),
    },
  });
  return apiOf(operations, site.store, () => Promise.all([machines.close(), connection.close(), rehearser.close()]));
}
