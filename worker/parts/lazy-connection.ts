import { Connection } from '@temporalio/client';
import { ClientLink } from '../../src/platform/temporal/client-link.ts';
import { repeatCalls } from '../../src/platform/temporal/closed-channel.ts';
import {
  type ConnectionSettings,
  connectionOptions,
  type ServerSettings,
} from '../../src/platform/temporal/connection-options.ts';

/**
 * Connects on first use and again whenever the connection is lost, quickly enough for a server that is just starting.
 */
export function lazyConnection(server: string | ConnectionSettings, maxAttempts = 3): Connection {
  const quick = { 'grpc.initial_reconnect_backoff_ms': 250, 'grpc.max_reconnect_backoff_ms': 2_000 };
  // A caller is waiting: report an unavailable server within a second instead of retrying for minutes.
  const retry = repeatCalls({ maxAttempts, initialIntervalMs: () => 100 });
  const options = typeof server === 'string' ? { address: server } : server;
  return Connection.lazy({ ...options, channelArgs: quick, interceptors: [retry] });
}

/** Such a connection, which can be replaced. */
export const lazyLink = (server: ServerSettings): ClientLink =>
  new ClientLink(lazyConnection(connectionOptions(server)), (options) => lazyConnection(options));
