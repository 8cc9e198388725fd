import { isIP } from 'node:net';
import type { DataConverter } from '@temporalio/common';
import { given } from '../../src/core/data/given.ts';
import type { CodecAuthorization } from '../../src/platform/codec/codec-endpoint.ts';
import { codecOf, encryptedData } from '../../src/platform/codec/encrypted-data.ts';
import type { Settings } from '../../src/platform/settings/settings.ts';
import type { Logger } from '../../src/platform/telemetry/log.ts';
import { cannotListen, ListenError } from './listen-error.ts';

/** Options for clients and workers: they encrypt payloads if the settings require it. */
export function encryptionOf({ temporal }: { readonly temporal: Pick<Settings['temporal'], 'encryption_key_file'> }): {
  readonly dataConverter?: DataConverter;
} {
  const dataConverter = encryptedData(temporal.encryption_key_file);
  return given({ dataConverter });
}

/**
 * Starts the codec endpoint for Temporal's Web UI; undefined if it is not configured.
 * @param authorize absent: tokens are off
 * @throws ListenError also if there is nothing to decrypt, or if anyone could have it decrypted
 */
export async function startCodecEndpoint(
  settings: Settings,
  log: Logger,
  authorize: CodecAuthorization | undefined,
): Promise<{ readonly url: string; stop(): Promise<void> } | undefined> {
  const { origin, host, port } = settings.codec;
  const { encryption_key_file: keyFile } = settings.temporal;
  if (origin === undefined) return undefined;
  if (keyFile === undefined)
    throw new ListenError(
      'the codec endpoint cannot listen: codec.origin is set, but temporal.encryption_key_file is not, so there is nothing to decrypt',
    );
  if (authorize === undefined && !isLoopback(host))
    throw new ListenError(
      `the codec endpoint cannot listen on ${host}:${port}: it would decrypt for anyone. Set access.tokens to on, or codec.host to 127.0.0.1`,
    );
  // Only here: agents on every node use this file and serve nothing.
  const { createCodecEndpoint } = await import('../../src/platform/codec/codec-endpoint.ts');
  const endpoint = createCodecEndpoint(codecOf(keyFile), origin, authorize);
  await endpoint.listen({ host, port }).catch(cannotListen('the codec endpoint', { host, port }, 'codec.'));
  const { port: bound } = endpoint.server.address() as { port: number };
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}/codec`;
  log.info({ url, origin }, 'the codec endpoint decrypts payloads for the Web UI');
  return { url, stop: () => endpoint.close() };
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
