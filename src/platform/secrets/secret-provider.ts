/** The result of reading a secret. Messages never contain any part of a value. */
export type SecretAnswer =
  | { readonly kind: 'found'; readonly value: string }
  | { readonly kind: 'absent' }
  /** It exists but must not or cannot be used; `message` has the reason and the next step. */
  | { readonly kind: 'unusable'; readonly message: string };

/** A source of secret values. */
export interface SecretProvider {
  /** The source's name, for people. */
  readonly name: string;
  /** Reads the value at the time of use, without caching. Rejects only for outages. */
  read(ref: string): Promise<SecretAnswer>;
}

/** `db/password`: parts of letters, digits, `.`, `_` and `-`, none of which starts with a dot. */
export const isSecretReference = (ref: string): boolean =>
  ref.length <= 200 && /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(ref);

/** Asks the providers in order; the first one that has the secret, usable or not, decides. */
export function firstOf(providers: readonly SecretProvider[]): SecretProvider {
  return {
    name: providers.map(({ name }) => name).join(', ') || 'no secret provider',
    async read(ref) {
      if (!isSecretReference(ref))
        return { kind: 'unusable', message: `${JSON.stringify(ref)} is not a valid secret name` };
      for (const provider of providers) {
        const answer = await provider.read(ref);
        if (answer.kind !== 'absent') return answer;
      }
      return { kind: 'absent' };
    },
  };
}

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
