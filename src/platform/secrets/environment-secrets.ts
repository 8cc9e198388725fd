import type { SecretProvider } from './secret-provider.ts';

/**
 * Secrets from variables: `db/password` is `<prefix>DB_PASSWORD`. An empty variable counts as unset. Two references
 * with the same variable are the same secret.
 */
export function environmentSecrets(prefix = 'SW_SECRET_', env: NodeJS.ProcessEnv = process.env): SecretProvider {
  return {
    name: `environment ${prefix}*`,
    async read(ref) {
      const value = env[`${prefix}${ref.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`];
      return value === undefined || value === '' ? { kind: 'absent' } : { kind: 'found', value };
    },
  };
}
