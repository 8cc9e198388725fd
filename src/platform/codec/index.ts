export { createCodecEndpoint } from './codec-endpoint.js';
export { encryptedData } from './encrypted-data.js';
export { EncryptionCodec } from './encryption-codec.js';
export { addEncryptionKey, type EncryptionKeys, parseEncryptionKeys, readEncryptionKeys } from './encryption-keys.js';
