import { createSecureContext } from 'node:tls';
import type { TLSConfig } from '@temporalio/client';
import { given } from '../../core/data/given.ts';
import { SetupError } from '../../core/problems/refusal.ts';
import { readSettingFile } from '../files/setting-file.ts';
import type { Settings } from '../settings/settings.ts';

/** The server's address and security: a part of the `temporal` settings. */
export interface ServerSettings {
  readonly address: string;
  readonly tls?: Settings['temporal']['tls'];
  readonly api_key_file?: string | undefined;
}

/** Options of every connection to the server, of clients and workers. */
export interface ConnectionSettings {
  readonly address: string;
  readonly tls?: TLSConfig | true;
  readonly apiKey?: string;
}

/** Whether files have credentials for the server; they may change while it is used (`followCredentials`). */
export const hasCredentials = ({ tls, api_key_file }: ServerSettings): boolean =>
  [api_key_file, tls?.ca_file, tls?.cert_file].some((file) => file !== undefined);

/**
 * Options of each `Connection` and `NativeConnection`, with the current content of the files.
 *
 * @throws SetupError naming the setting, when a file cannot be read or certificate and key do not belong together; never with
 *   its content
 */
export function connectionOptions({ address, tls = {}, api_key_file: keyFile }: ServerSettings): ConnectionSettings {
  const apiKey = keyFile === undefined ? undefined : readApiKey(keyFile);
  const isSecure = apiKey !== undefined || Object.values(tls).some((value) => value !== undefined);
  if (!isSecure) return { address };
  const { ca_file, cert_file, key_file, server_name } = tls;
  const config: TLSConfig = {
    ...given({ serverNameOverride: server_name }),
    ...(ca_file === undefined ? {} : { serverRootCACertificate: readSettingFile('temporal.tls.ca_file', ca_file) }),
    ...(cert_file === undefined || key_file === undefined ? {} : { clientCertPair: pairOf(cert_file, key_file) }),
  };
  return {
    address,
    tls: Object.keys(config).length === 0 ? true : config,
    ...given({ apiKey }),
  };
}

function pairOf(certFile: string, keyFile: string): { readonly crt: Buffer; readonly key: Buffer } {
  const [crt, key] = [
    readSettingFile('temporal.tls.cert_file', certFile),
    readSettingFile('temporal.tls.key_file', keyFile),
  ];
  try {
    createSecureContext({ cert: crt, key });
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new SetupError(
      'settings',
      `temporal.tls.cert_file and temporal.tls.key_file are not a certificate and its key (${code})`,
      { cause: error },
    );
  }
  return { crt, key };
}

function readApiKey(file: string): string {
  const key = readSettingFile('temporal.api_key_file', file).toString('utf8').trim();
  if (key === '') throw new SetupError('settings', `the file of temporal.api_key_file, ${file}, is empty`);
  return key;
}
