export { directorySecrets } from './directory-secrets.js';
export { environmentSecrets } from './environment-secrets.js';
export { firstOf, isSecretReference, type SecretProvider } from './secret-provider.js';
