import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { runnableProgram } from '../threads/runnable-program.ts';
import { EncryptionCodec } from './encryption-codec.ts';
import { readEncryptionKeys } from './encryption-keys.ts';

/**
 * The data converter of clients and workers for the setting `temporal.encryption_key_file`; undefined without
 * encryption. The bundle of workflows with encryption has the same converter, because workflow failures arise inside.
 *
 * @throws PrivateFileError
 */
export function encryptedData(
  keyFile: string | undefined,
): Pick<DataConverter, 'payloadCodecs' | 'failureConverterPath'> | undefined {
  if (keyFile === undefined) return undefined;
  return {
    payloadCodecs: [codecOf(keyFile)],
    failureConverterPath: fileURLToPath(runnableProgram(new URL('./encoded-failures.ts', import.meta.url))),
  };
}

/** @throws PrivateFileError */
export const codecOf = (keyFile: string): EncryptionCodec => {
  const read = () => readEncryptionKeys(keyFile);
  return new EncryptionCodec(read(), read);
};
