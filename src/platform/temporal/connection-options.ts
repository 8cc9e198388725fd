import type { TLSConfig } from '@temporalio/client';
import type { Settings } from '../settings/index.js';
import { contentOf, readApiKey } from './api-key.js';

/** The server's address and security: a part of the `temporal` settings. */
export interface ServerSettings {
  readonly address: string;
  readonly tls?: Settings['temporal']['tls'];
  readonly api_key_file?: string | undefined;
}

/** Options of every connection to the server, of clients and workers. */
interface ConnectionSettings {
  readonly address: string;
  readonly tls?: TLSConfig | true;
  readonly apiKey?: string;
}

/**
 * Options of each `Connection` and `NativeConnection`. Files are read once: a renewed certificate needs a restart,
 * a new API key does not (`followApiKey`).
 *
 * @throws Error for the user, naming the setting, when a file cannot be read; never with its content
 */
export function connectionOptions({ address, tls = {}, api_key_file: keyFile }: ServerSettings): ConnectionSettings {
  const apiKey = keyFile === undefined ? undefined : readApiKey(keyFile);
  const isSecure = apiKey !== undefined || Object.values(tls).some((value) => value !== undefined);
  if (!isSecure) return { address };
  const { ca_file, cert_file, key_file, server_name } = tls;
  const config: TLSConfig = {
    ...(server_name === undefined ? {} : { serverNameOverride: server_name }),
    ...(ca_file === undefined ? {} : { serverRootCACertificate: contentOf(ca_file, 'temporal.tls.ca_file') }),
    ...(cert_file === undefined || key_file === undefined
      ? {}
      : {
          clientCertPair: {
            crt: contentOf(cert_file, 'temporal.tls.cert_file'),
            key: contentOf(key_file, 'temporal.tls.key_file'),
          },
        }),
  };
  return {
    address,
    tls: Object.keys(config).length === 0 ? true : config,
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}
