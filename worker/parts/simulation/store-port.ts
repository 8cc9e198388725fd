import { type Store, StoreError } from '../../../src/store/index.ts';
import { pause, type World } from './world.ts';

/** Called when a process has read or changed the store. */
export type StoreSpy = (call: {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
}) => void;

const unavailable = (): StoreError =>
  new StoreError({ kind: 'unreachable', message: 'The database is unreachable.', hint: 'Simulated.' });

/**
 * The store as a process sees it: behind a network that takes its time, fails, and loses answers. A transaction is atomic:
 * a process dies before or after it.
 */
export function storePort(world: World, spy: StoreSpy): Store {
  const random = world.random.fork('store port');
  const through = async <T>(work: () => Promise<T>): Promise<T> => {
    await pause(random.int(1, 6));
    if (world.outages.has('store') || random.chance(world.weather.storeFails)) throw unavailable();
    const result = await work();
    await pause(random.int(1, 6));
    if (random.chance(world.weather.storeLosesAnswers)) throw unavailable();
    return result;
  };
  const guarded = (port: string, target: object): object =>
    new Proxy(target, {
      get(_, name) {
        const value = Reflect.get(target, name, target) as unknown;
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) =>
          through(async () => {
            const result = (await value.apply(target, args)) as unknown;
            spy({ port, method: String(name), args, result });
            return result;
          });
      },
    });
  const { store } = world;
  const ports = Object.fromEntries(
    Object.entries(store).map(([name, port]) => [
      name,
      typeof port === 'object' && port !== null ? guarded(name, port) : port,
    ]),
  ) as unknown as Store;
  return {
    ...ports,
    atomically: (change) => through(() => store.atomically(change)),
    migrate: async () => undefined as never,
    close: async () => undefined,
  };
}
