import { existsSync } from 'node:fs';
import { EXIT, exitCodeOfStatus } from '../src/cli/shell/exit-codes.ts';
import { CliError } from '../src/cli/shell/problem.ts';
import { given } from '../src/core/data/given.ts';
import { type CreatedToken, ProblemError } from '../src/ops/index.ts';
import { asProblem, PROBLEM_CODES } from '../src/ops/problem.ts';
import { TokenOperations } from '../src/ops/tokens.ts';
import type { Settings } from '../src/platform/settings/settings.ts';
import { openStore, type Store, StoreError, type StoreStatus } from '../src/store/index.ts';
import { parseStoreUrl } from '../src/store/store-url.ts';

/** State of the store's schema. Changes nothing: does not create a missing database. */
export async function storeStatus(settings: Settings): Promise<StoreStatus> {
  return withStore(settings, (store) => store.status(), 'must-exist');
}

/** Brings the schema up to date, as `Store.migrate`; returns the applied migrations. */
export const migrateStore = (settings: Settings, spareRunning: boolean) =>
  withStore(settings, (store) => store.migrate(spareRunning));

/** The file of an SQLite store; undefined for other stores. @throws StoreError for an invalid URL */
export function databaseFile(url: string): string | undefined {
  const location = parseStoreUrl(url);
  return location.dialect === 'sqlite' && location.file !== ':memory:' ? location.file : undefined;
}

async function withStore<T>(
  settings: Settings,
  work: (store: Store) => Promise<T>,
  existence: 'must-exist' | 'may-be-new' = 'may-be-new',
): Promise<T> {
  try {
    const file = databaseFile(settings.store.url);
    if (existence === 'must-exist' && file !== undefined && !existsSync(file)) {
      const hint = "It is created at the first start of API or worker, or by 'sitewright db migrate'.";
      throw new CliError({ code: 'no-database', message: `there is no database yet at ${file}`, hint }, EXIT.notFound);
    }
    const store = await openStore(settings.store.url, { migrations: 'ignore' });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const { kind, message, hint } = error.failure;
    throw new CliError({ code: `store-${kind}`, message, hint }, kind === 'invalid' ? EXIT.invalid : EXIT.unreachable);
  }
}

/** Creates an admin token without authentication: anyone who can write to the store could do so anyway. */
export async function bootstrapToken(settings: Settings, name: string, expires?: string): Promise<CreatedToken> {
  try {
    const store = await openStore(settings.store.url);
    try {
      const request = { name, role: 'admin', ...given({ expires }) };
      return await new TokenOperations(store).create(request, whoRuns());
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof ProblemError) && !(error instanceof StoreError)) throw error;
    const problem = asProblem(error);
    throw new CliError(problem, exitCodeOfStatus(PROBLEM_CODES[problem.code].status));
  }
}

const whoRuns = (): string => process.env.SUDO_USER || process.env.USER || process.env.LOGNAME || 'operator';
