export type { CodecAuthorization } from './codec-endpoint.ts';
export { encryptedData } from './encrypted-data.ts';
export { EncryptionCodec } from './encryption-codec.ts';
export { addEncryptionKey, parseEncryptionKeys, readEncryptionKeys } from './encryption-keys.ts';
