import type { Logger } from '../../src/platform/telemetry/log.ts';
import { type OpenStoreOptions, openStore, type Store, StoreError } from '../../src/store/index.ts';
import { whenAvailable } from './when-available.ts';

/** `openStore` for a service, which waits while the database server is unreachable. A file that cannot be opened, or is damaged, is an error. */
export async function openStoreWhenAvailable(
  url: string,
  log: Logger,
  stop: AbortSignal | undefined,
  options: OpenStoreOptions & { readonly migrate?: true } = {},
): Promise<Store> {
  const open = async (): Promise<Store> => {
    const store = await openStore(url, { verify: true, ...options });
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
