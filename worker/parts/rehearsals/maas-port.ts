import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type MachineContext,
  type MachinesConfig,
  openMachines,
  type Transport,
  TransportError,
  tooLate,
} from '@sitewright/maas';
import type { ServedRegion } from '@sitewright/maas-simulator';
import { simulatorKeys } from '@sitewright/maas-simulator';
import { deferred } from '@sitewright/temporal-simulator';
import { mayChangeUntil } from '../../../activities/run/fencing.ts';
import { caller, pause, type World } from './world.ts';

/** A request that MAAS has answered, by who sent it. */
export interface MaasRequest {
  readonly method: string;
  /** Without the root of the API. */
  readonly path: string;
  readonly body: string;
  readonly status: number;
  /** The body of the answer. */
  readonly answer: string;
  readonly by: ReturnType<typeof caller>;
}

/** Told of each request that changes something. */
interface MaasChanges {
  sent(method: string, path: string, body: string): void;
  arrives(method: string, path: string, body: string): void;
  answered(request: MaasRequest): void;
}

/** A request that is on its way for longer than this has no effect any more. */
const LATEST_MS = 19_000;

/** How long requests to MAAS may take, and how often machines are looked at: settings of an installation. */
export type MaasPace = Pick<MachinesConfig, 'pollMinSeconds' | 'pollMaxSeconds' | 'readTimeoutMs' | 'changeTimeoutMs'>;

const USUAL_PACE: MaasPace = { pollMinSeconds: 5, pollMaxSeconds: 30 };

const ROOT = 'http://maas.test/MAAS';

/** The client of MAAS of one process: the real one, over a network from the seed. */
export function maasPort(
  world: World,
  region: ServedRegion,
  told: MaasChanges,
  pace: MaasPace = USUAL_PACE,
): MachineContext {
  const random = world.random.fork('maas port');
  const transport: Transport = {
    async send({ method, url, headers, body = '', timeoutMs, sendBy, signal }) {
      signal?.throwIfAborted();
      const path = url.slice(ROOT.length);
      const by = caller();
      const work = async () => {
        await pause(random.int(2, 40));
        if (world.outages.has('maas hangs')) await pause(timeoutMs);
        if (world.outages.has('maas')) throw new TransportError('unreachable', 'ECONNREFUSED');
        if (random.chance(world.weather.maasFails))
          throw random.chance(0.5)
            ? new TransportError('unreachable', 'ECONNREFUSED')
            : new TransportError('lost', 'ECONNRESET');
        if (sendBy !== undefined && world.time.now > sendBy) throw tooLate();
        if (method !== 'GET') told.sent(method, path, body);
        // MAAS goes on whatever becomes of the process that asks.
        const arrives = async () => {
          if (method !== 'GET') told.arrives(method, path, body);
          const answer = await world.time.hosts.exit(() =>
            region.answer({
              method,
              url: `/MAAS${path}`,
              authorization: headers.authorization,
              contentType: headers['content-type'] ?? '',
              body,
            }),
          );
          if (answer !== null && method !== 'GET')
            told.answered({ method, path, body, status: answer.status, answer: String(answer.body), by });
          return answer;
        };
        const { maasLate } = world.weather;
        if (method !== 'GET' && maasLate > 0 && random.chance(maasLate)) {
          const later = AsyncLocalStorage.bind(arrives);
          world.time.after(random.int(1_000, LATEST_MS), async () => void (await later()));
          throw new TransportError('lost', 'ECONNRESET');
        }
        const answer = await arrives();
        if (answer === null) throw new TransportError('lost', 'ECONNRESET');
        await pause(random.int(2, 40));
        if (random.chance(world.weather.maasLosesAnswers))
          throw random.chance(0.5)
            ? new TransportError('lost', 'ECONNRESET')
            : new TransportError('timeout', 'TIMEOUT');
        const more = Object.entries(answer.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
        return {
          status: answer.status,
          headers: { 'content-type': answer.type ?? '', ...Object.fromEntries(more) },
          body: answer.body,
        };
      };
      const { promise: limit, reject } = deferred<never>();
      const timer = setTimeout(() => reject(new TransportError('timeout', 'TIMEOUT')), timeoutMs);
      const onAbort = (): void => reject(signal!.reason as Error);
      signal?.addEventListener('abort', onAbort, { once: true });
      try {
        return await Promise.race([work(), limit]);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
    },
    close: async () => undefined,
  };
  return openMachines({ url: ROOT, apiKey: simulatorKeys.admin, ...pace, sendChangesBy: mayChangeUntil, transport });
}
