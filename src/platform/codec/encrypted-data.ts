import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { EncryptionCodec } from './encryption-codec.ts';
import { readEncryptionKeys } from './encryption-keys.ts';

/**
 * The data converter of clients and workers for the setting `temporal.encryption_key_file`; undefined without
 * encryption. Workers also bundle their workflows with it, because workflow failures arise inside.
 *
 * @param failures module with the export `failureConverter`
 * @throws PrivateFileError
 */
export function encryptedData(
  keyFile: string | undefined,
  failures: string = ownFailures(),
): Pick<DataConverter, 'payloadCodecs' | 'failureConverterPath'> | undefined {
  if (keyFile === undefined) return undefined;
  return { payloadCodecs: [new EncryptionCodec(readEncryptionKeys(keyFile))], failureConverterPath: failures };
}

/** The compiled module beside this file, or its source when running from source. */
function ownFailures(): string {
  const compiled = fileURLToPath(new URL('./encoded-failures.js', import.meta.url));
  return existsSync(compiled) ? compiled : compiled.replace(/\.js$/, '.ts');
}
