import { type Store, StoreError, type StorePorts } from '../../../src/store/index.ts';
import { pause, type World } from './world.ts';

interface StoreCall {
  readonly port: string;
  readonly method: string;
  readonly args: readonly unknown[];
  readonly result: unknown;
}

/** Called when a process has read or changed the store; for calls of a transaction, once that is committed. */
export type StoreSpy = (call: StoreCall) => void;

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
  const { store } = world;
  return {
    ...(told(store, spy, through) as Store),
    atomically: (change) =>
      through(async () => {
        const calls: StoreCall[] = [];
        const result = await store.atomically((within) =>
          change(
            told(
              within,
              (call) => calls.push(call),
              (work) => work(),
            ) as StorePorts,
          ),
        );
        for (const call of calls) spy(call);
        return result;
      }),
    migrate: async () => undefined as never,
    close: async () => undefined,
  };
}

/** The same ports, whose calls go `through` something, and are told. */
function told(ports: object, spy: StoreSpy, through: <T>(work: () => Promise<T>) => Promise<T>): object {
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
  return Object.fromEntries(
    Object.entries(ports).map(([name, port]) => [
      name,
      typeof port === 'object' && port !== null ? guarded(name, port as object) : port,
    ]),
  );
}
