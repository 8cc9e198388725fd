import { isDeepStrictEqual } from 'node:util';
import { followFiles } from '../files/follow-files.ts';
import type { Logger } from '../telemetry/log.ts';
import {
  type ConnectionSettings,
  connectionOptions,
  hasCredentials,
  type ServerSettings,
} from './connection-options.ts';

/** A connection that takes new credentials while it is in use. */
export interface Credentialed {
  setApiKey(key: string): unknown;
  /** Connects again. Rejects, and keeps the connection there is, if the server does not accept the new one. */
  reconnect(options: ConnectionSettings): Promise<void>;
}

/** How long requests under way may still use a connection that another one has replaced. */
const DRAIN_MS = 120_000;

/** Connections that others have replaced: they are closed when nothing uses them any more. */
export class RetiredConnections {
  readonly #open = new Map<{ close(): Promise<void> }, NodeJS.Timeout>();

  add(connection: { close(): Promise<void> }): void {
    this.#open.set(connection, setTimeout(() => void this.#close(connection), DRAIN_MS).unref());
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((connection) => this.#close(connection)));
  }

  async #close(connection: { close(): Promise<void> }): Promise<void> {
    clearTimeout(this.#open.get(connection));
    this.#open.delete(connection);
    await connection.close().catch(() => undefined);
  }
}

/**
 * Gives open connections the API key, certificate and authorities that their files have now, so that rotating them needs
 * no restart. A certificate belongs to a connection, so that a new one means to connect again.
 *
 * @returns ends it
 */
export function followCredentials(
  server: ServerSettings,
  connections: readonly Credentialed[],
  log: Pick<Logger, 'info' | 'warn'>,
  everyMs?: number,
): () => void {
  if (!hasCredentials(server)) return () => undefined;
  return followFiles(
    'credentials for Temporal',
    () => connectionOptions(server),
    async (now, last) => {
      const { apiKey } = now;
      const isSameSession = isDeepStrictEqual(now.tls, last.tls) && apiKey !== undefined;
      const take = (one: Credentialed) => (isSameSession ? one.setApiKey(apiKey) : one.reconnect(now));
      await Promise.all(connections.map(take));
    },
    log,
    everyMs,
  );
}
