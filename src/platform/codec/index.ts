export type { CodecAuthorization } from './codec-endpoint.js';
export { encryptedData } from './encrypted-data.js';
export { EncryptionCodec } from './encryption-codec.js';
export { addEncryptionKey, parseEncryptionKeys, readEncryptionKeys } from './encryption-keys.js';
