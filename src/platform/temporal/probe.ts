import { Connection } from '@temporalio/client';
import { connectionOptions, type ServerSettings } from './connection-options.js';

/** What a Temporal address answers. */
export type ServerProbe =
  | { readonly status: 'ready'; readonly serverVersion: string }
  /** Nothing speaks Temporal there, or it is not healthy. */
  | { readonly status: 'unreachable'; readonly problem: string }
  /** The server answers but has no such namespace. */
  | { readonly status: 'no-namespace'; readonly problem: string };

const NOT_FOUND = 5;

/** Asks once, with a time limit; never throws for a server that is not there. */
export async function probeServer(
  server: string | ServerSettings,
  options: { readonly namespace: string; readonly limitMs: number },
): Promise<ServerProbe> {
  // Made before it connects, so that it can be closed when it cannot: it would try for ever, and find whoever
  // listens there next.
  const connection = Connection.lazy({
    ...connectionOptions(typeof server === 'string' ? { address: server } : server),
    connectTimeout: options.limitMs,
  });
  try {
    await connection.ensureConnected();
  } catch (error) {
    await connection.close();
    return { status: 'unreachable', problem: firstLine(error) };
  }
  try {
    return await connection.withDeadline(Date.now() + options.limitMs, async () => {
      const info = await connection.workflowService.getSystemInfo({});
      await connection.workflowService.describeNamespace({ namespace: options.namespace });
      return { status: 'ready', serverVersion: info.serverVersion ?? 'unknown' } as const;
    });
  } catch (error) {
    const code = (error as { code?: number }).code;
    return { status: code === NOT_FOUND ? 'no-namespace' : 'unreachable', problem: firstLine(error) };
  } finally {
    await connection.close();
  }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n')[0] ?? text;
}
