import type { Logger } from '../src/platform/telemetry/log.js';
import { type OpenStoreOptions, openStore, type Store, StoreError } from '../src/store/index.js';
import { whenAvailable } from './when-available.js';

/** `openStore` for a service, which waits while the database server is away. A file that cannot be opened is an error. */
export async function openStoreWhenAvailable(
  url: string,
  log: Logger,
  stop: AbortSignal | undefined,
  options: OpenStoreOptions & { readonly migrate?: true } = {},
): Promise<Store> {
  const open = async (): Promise<Store> => {
    const store = await openStore(url, options);
    try {
      if (options.migrate) await store.migrate();
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  };
  return whenAvailable(
    open,
    (error) => {
      if (!(error instanceof StoreError) || !error.passing) return undefined;
      const isFile = error.failure.kind === 'unreachable' && !url.startsWith('postgres');
      return isFile ? undefined : { problem: error.failure.message, hint: error.failure.hint };
    },
    log,
    stop,
  );
}
