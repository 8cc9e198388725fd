import type { Settings } from '../../config/index.js';
import { openStore, type Store, StoreError } from '../../store/index.js';
import { EXIT } from '../exit-codes.js';
import { CliError } from '../problem.js';

/** State of the store's schema, without changing it. */
export const storeStatus = (settings: Settings) => withStore(settings, (store) => store.status());

/** Brings the schema up to date; answers what was applied. */
export const migrateStore = (settings: Settings) => withStore(settings, (store) => store.migrate());

async function withStore<T>(settings: Settings, work: (store: Store) => Promise<T>): Promise<T> {
  try {
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
