import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { checkMaas, type MachineContext } from '@sitewright/maas';
import { summaryOfMaasCheck } from '@sitewright/maas/check-summary';
import { type HelperModule, helpersOf } from '@sitewright/yaql';
import { Client, Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { given } from '../src/core/data/given.ts';
import { someOf } from '../src/core/text/text.ts';
import { createOperations, tagExtensionsOf } from '../src/ops/index.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { connectionOptions } from '../src/platform/temporal/connection-options.ts';
import { ownQueue } from '../src/platform/temporal/own-queue.ts';
import { retentionCommand, retentionDays } from '../src/platform/temporal/retention.ts';
import { checkSearchAttributes } from '../src/platform/temporal/search-attributes.ts';
import { importUserModule } from '../src/platform/user-module.ts';
import { openStore, type Store, StoreError } from '../src/store/index.ts';
import { databaseFile } from './database.ts';
import { machinesWhenAsked } from './parts/services.ts';

/** The result of one check. */
export interface Finding {
  readonly name: string;
  /** `warn`: it works, but with limits. `skip`: not checked, because of another finding. */
  readonly state: 'ok' | 'warn' | 'fail' | 'skip';
  readonly message: string;
  readonly fix?: string;
  /** The settings of this shell do not name it. */
  readonly isUnset?: true;
}

const LIMIT_MS = 8_000;

/** Checks Temporal, its namespace, search attributes, a worker, MAAS, the store and modules of users; never throws, changes nothing. */
export async function examine(settings: Settings): Promise<Finding[]> {
  const { address, namespace } = settings.temporal;
  const own = await Promise.all([limited(storeOf(settings), 'store', 'Check store.url.'), ...modulesOf(settings)]);
  // No retries: the check reports the current state, and a retry would outlive the connection.
  const once = makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: 1 }));
  const connection = Connection.lazy({ ...connectionOptions(settings.temporal), interceptors: [once] });
  const machines = machinesWhenAsked(settings);
  try {
    const operations = createOperations({
      store: unusedStore,
      temporal: {
        client: new Client({ connection, namespace }),
        connection,
        namespace,
        taskQueue: ownQueue(settings.temporal),
        address,
      },
      maas: machines.maas,
    });
    const [health, wholeMaas, attributes, retention] = await Promise.all([
      operations.health.check(),
      limited(
        maasOf(machines.maas, settings),
        'maas',
        "Check the region controller, then run 'sitewright maas check'.",
      ),
      limited(searchAttributesOf(connection, namespace), 'search attributes', ''),
      limited(retentionOf(connection, settings.temporal), 'retention', ''),
    ]);
    const found = new Map(
      health.checks.map(({ name, ok, message, fix }): [string, Finding] => {
        const state = ok ? 'ok' : 'fail';
        return [name, { name, state, message, ...given({ fix }) }];
      }),
    );
    const temporal = found.get('temporal')!;
    const inNamespace = found.get('namespace')!;
    const without = (name: string, missing: string): Finding => ({
      name,
      state: 'skip',
      message: `not checked: ${missing} must work first`,
    });
    // The quick check has a better message if MAAS cannot be used at all.
    const ofMaas = found.get('maas')?.state === 'fail' ? found.get('maas')! : wholeMaas;
    const maas: Finding = settings.maas.url === undefined ? { ...ofMaas, isUnset: true } : ofMaas;
    if (temporal.state !== 'ok') {
      const down: Finding = {
        ...temporal,
        message: `Temporal at ${address} cannot be reached`,
        fix: `Start it ('sitewright up' starts a dev server), or correct temporal.address.`,
      };
      const rest = ['namespace', 'retention', 'search attributes', 'worker'].map((name) => without(name, 'Temporal'));
      return [down, ...rest, maas, ...own];
    }
    if (inNamespace.state !== 'ok') {
      const rest = ['retention', 'search attributes', 'worker'].map((name) => without(name, 'the namespace'));
      return [temporal, inNamespace, ...rest, maas, ...own];
    }
    return [temporal, inNamespace, retention, attributes, found.get('worker')!, maas, ...own];
  } finally {
    await Promise.allSettled([connection.close(), machines.close()]);
  }
}

/** The health check of a running system migrates its store, so the doctor checks the store separately. */
const unusedStore = {
  status: () => Promise.reject(new Error('not used')),
} as unknown as Store;

function maasFinding({ ok, message, warning, fix }: ReturnType<typeof summaryOfMaasCheck>): Finding {
  const limits = warning === undefined ? 'ok' : 'warn';
  const said = warning === undefined ? message : `${message}; ${warning}`;
  return { name: 'maas', state: ok ? limits : 'fail', message: said, ...given({ fix }) };
}

/** The whole check, as `maas check --direct` makes it. */
async function maasOf(maas: () => MachineContext, { deploy }: Settings): Promise<Finding> {
  const needs = deploy.distro_series === undefined ? {} : { series: [deploy.distro_series] };
  return maasFinding(summaryOfMaasCheck(await checkMaas(maas().client, needs)));
}

async function searchAttributesOf(connection: Connection, namespace: string): Promise<Finding> {
  const name = 'search attributes';
  const state = await connection.withDeadline(Date.now() + LIMIT_MS, () =>
    checkSearchAttributes(connection, namespace),
  );
  const { missing, mistyped } = state;
  const absent = missing && `missing: ${missing.names.join(', ')} (${missing.problem})`;
  const because = [mistyped?.problem, absent].filter((problem) => problem !== undefined).join('; ');
  if (because === '') return { name, state: 'ok', message: 'all present' };
  return {
    name,
    // Of another type, they are probably used by someone else: that is not left over from set-up.
    state: mistyped ? 'fail' : 'warn',
    message: `${because}; new runs lack them, and lists of runs have fewer filters. A run that set one before it was removed is blocked until a worker has added it again, which takes 20 s`,
    fix: [mistyped?.command, missing?.command].filter((command) => command !== undefined).join(' && '),
  };
}

async function retentionOf(
  connection: Connection,
  { namespace, retention_days: expected }: Settings['temporal'],
): Promise<Finding> {
  const name = 'retention';
  const days = await connection.withDeadline(Date.now() + LIMIT_MS, () => retentionDays(connection, namespace));
  if (days === undefined)
    return { name, state: 'ok', message: 'the server does not report how long it keeps ended runs' };
  const kept = `Temporal keeps histories of ended runs for ${Math.round(days * 10) / 10} ${days === 1 ? 'day' : 'days'}`;
  if (days >= expected) return { name, state: 'ok', message: kept };
  return {
    name,
    state: 'warn',
    message: `${kept}, not ${expected}; reports of older runs are kept, their trees are not`,
    fix: `${retentionCommand(namespace, expected)}, or set temporal.retention_days`,
  };
}

/** The modules of users: they run in API and worker, and a broken one refuses plans or roles there. */
const modulesOf = ({ yaql, tags }: Settings): readonly Promise<Finding>[] => [
  ...(yaql.helpers === undefined
    ? []
    : [
        moduleOf('yaql.helpers', yaql.helpers, async (path) =>
          helpersOf((await importUserModule(path)) as HelperModule),
        ),
      ]),
  ...(tags.extensions === undefined
    ? []
    : [moduleOf('tags.extensions', tags.extensions, (path) => tagExtensionsOf(path)())]),
];

function moduleOf(
  setting: string,
  path: string,
  load: (path: string) => Promise<readonly { readonly name: string }[]>,
): Promise<Finding> {
  const loaded = async (): Promise<Finding> => {
    const names = (await load(path)).map(({ name }) => name);
    return { name: setting, state: 'ok', message: `${path}: ${someOf(names, 10)}` };
  };
  return limited(loaded(), setting, `Correct the module, or the setting ${setting}.`);
}

async function storeOf(settings: Settings): Promise<Finding> {
  const name = 'store';
  const { url } = settings.store;
  const file = databaseFile(url);
  if (file !== undefined && !(await exists(file)) && !(await exists(`${file}-wal`))) {
    const folder = await nearestFolder(dirname(resolve(file)));
    const writable = await access(folder, constants.W_OK).then(
      () => true,
      () => false,
    );
    return writable
      ? { name, state: 'ok', message: `no database yet at ${file}: it is created at the first start` }
      : {
          name,
          state: 'fail',
          message: `${folder} cannot be written to`,
          fix: 'Correct store.url, or the permissions of the folder.',
        };
  }
  try {
    const store = await openStore(url, { migrations: 'ignore', verify: true });
    try {
      const status = await store.status();
      const where = `${status.dialect} at ${status.location}`;
      if (status.pending.length === 0)
        return { name, state: 'ok', message: `${where}, schema ${status.schemaVersion}` };
      return {
        name,
        state: 'warn',
        message: `${where}: the schema is ${status.pending.length} migrations behind`,
        fix: "Run 'sitewright db migrate'; the API and the worker also do this when they start.",
      };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return { name, state: 'fail', message: error.failure.message, fix: error.failure.hint };
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

async function nearestFolder(path: string): Promise<string> {
  return (await exists(path)) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/** A check without a result in time counts as failed. */
async function limited(work: Promise<Finding>, name: string, fix: string): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((done) => {
    timer = setTimeout(
      () => done({ name, state: 'fail', message: `no answer within ${LIMIT_MS / 1000} s`, fix }),
      LIMIT_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    return { name, state: 'fail', message: error instanceof Error ? error.message : String(error), fix };
  } finally {
    clearTimeout(timer);
  }
}
