import { Connection } from '@temporalio/client';
import { connectionOptions, type ServerSettings } from './connection-options.ts';

/** The result of probing a Temporal address. */
type ServerProbe =
  | { readonly status: 'ready'; readonly serverVersion: string }
  /** No healthy Temporal server answers. */
  | { readonly status: 'unreachable'; readonly problem: string }
  /** The server answers but does not have the namespace. */
  | { readonly status: 'no-namespace'; readonly problem: string };

const NOT_FOUND = 5;

/** Probes once, with a time limit. Never throws for a missing server. */
export async function probeServer(
  server: string | ServerSettings,
  options: { readonly namespace: string; readonly limitMs: number },
): Promise<ServerProbe> {
  // Lazy, so that it can be closed if it fails to connect. Otherwise it would retry for ever, and reach the next server
  // there.
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
