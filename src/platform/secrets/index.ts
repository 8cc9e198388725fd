export { directorySecrets } from './directory-secrets.ts';
export { environmentSecrets } from './environment-secrets.ts';
export { firstOf, isSecretReference, type SecretProvider } from './secret-provider.ts';
