import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { request as forward } from 'undici';

export interface SeenRequest {
  /** Of `performance.now()`, when it arrived. */
  readonly at: number;
  /** Method and path with machines as `ID`, without its query but for `op`. */
  readonly kind: string;
}

export interface SlowRegion {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  readonly maxAtOnce: number;
  readonly refused: number;
  close(): Promise<void>;
}

/**
 * A MAAS region in front of the simulated one that takes its time for each answer, and refuses what exceeds its threads with
 * 503 as a busy region's proxy does. Counts all requests.
 * @param latencyMs of all answers, or of each kind of request
 */
export async function slowRegion(
  target: string,
  latencyMs: number | ((kind: string) => number),
  limit: number,
): Promise<SlowRegion> {
  const latencyOf = typeof latencyMs === 'number' ? () => latencyMs : latencyMs;
  const seen: SeenRequest[] = [];
  let inside = 0;
  let maxAtOnce = 0;
  let refused = 0;
  const server: Server = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '/' } = incoming;
    const kind = kindOf(method, url);
    seen.push({ at: performance.now(), kind });
    if (inside >= limit) {
      refused++;
      outgoing.writeHead(503).end('Service Unavailable');
      return;
    }
    inside++;
    maxAtOnce = Math.max(maxAtOnce, inside);
    const answer = async (): Promise<void> => {
      const body = await buffer(incoming);
      const ms = latencyOf(kind);
      if (ms > 0) await delay(ms);
      const { host: _host, connection: _connection, ...headers } = incoming.headers;
      const answered = await forward(new URL(url, target), {
        method: method as 'GET',
        headers,
        body: body.length > 0 ? body : null,
      });
      outgoing.writeHead(answered.statusCode, answered.headers as NodeJS.Dict<string | string[]>);
      outgoing.end(Buffer.from(await answered.body.arrayBuffer()));
    };
    answer()
      .catch((error: unknown) => outgoing.writeHead(502).end(String(error)))
      .finally(() => inside--);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: Object.assign(new URL(target), { port: String((server.address() as AddressInfo).port) }).href,
    seen,
    get maxAtOnce() {
      return maxAtOnce;
    },
    get refused() {
      return refused;
    },
    close: () => new Promise((resolve) => void server.close(() => resolve()).closeAllConnections()),
  };
}

/** Requests for each machine and minute, by kind. */
export function summary(region: SlowRegion, machines: number): object {
  const { seen } = region;
  const minutes = new Map<number, number>();
  const kinds: Record<string, number> = {};
  for (const { at, kind } of seen) {
    const minute = Math.floor((at - seen[0]!.at) / 60_000);
    minutes.set(minute, (minutes.get(minute) ?? 0) + 1);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
  return {
    all: seen.length,
    per_machine: Math.round((seen.length / machines) * 100) / 100,
    most_a_minute: Math.max(...minutes.values()),
    max_at_once: region.maxAtOnce,
    refused: region.refused,
    kinds,
  };
}

function kindOf(method: string, url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://region');
  const path = pathname.replace(/^.*\/api\/2\.0\//, '').replace(/^(machines|nodes)\/[a-z0-9]{6}\//, '$1/ID/');
  const op = searchParams.get('op');
  return `${method} ${path}${op === null ? '' : `?op=${op}`}`;
}
