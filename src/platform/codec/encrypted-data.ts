import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { EncryptionCodec } from './encryption-codec.js';
import { readEncryptionKeys } from './encryption-keys.js';

/**
 * The data converter of clients and workers, as the setting `temporal.encryption_key_file` wants it. Undefined:
 * nothing is encrypted. Workers bundle their workflows with it (the failures of workflows are made inside).
 *
 * @param failures module that exports `failureConverter`
 * @throws PrivateFileError
 */
export function encryptedData(
  keyFile: string | undefined,
  failures: string = ownFailures(),
): Pick<DataConverter, 'payloadCodecs' | 'failureConverterPath'> | undefined {
  if (keyFile === undefined) return undefined;
  return { payloadCodecs: [new EncryptionCodec(readEncryptionKeys(keyFile))], failureConverterPath: failures };
}

/** Compiled beside this file; its source when this runs from sources. */
function ownFailures(): string {
  const compiled = fileURLToPath(new URL('./encoded-failures.js', import.meta.url));
  return existsSync(compiled) ? compiled : compiled.replace(/\.js$/, '.ts');
}
