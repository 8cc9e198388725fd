/** What came of asking for a secret. Messages never hold any part of a value. */
export type SecretAnswer =
  | { readonly kind: 'found'; readonly value: string }
  | { readonly kind: 'absent' }
  /** It is there and must not, or cannot, be used; `message` says why and what to do. */
  | { readonly kind: 'unusable'; readonly message: string };

/** Where the values of secret references come from. A further kind of store is one more of these. */
export interface SecretProvider {
  /** For people: what is looked through. */
  readonly name: string;
  /** Reads the value at the moment of use; nothing is kept. Rejects only for outages. */
  read(ref: string): Promise<SecretAnswer>;
}

/** `db/password`: parts of letters, digits, `.`, `_` and `-`, none of which begins with a dot. */
export const isSecretReference = (ref: string): boolean =>
  ref.length <= 200 && /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/.test(ref);

/** Asks one provider after the other; the first that has the secret, or must not give it, decides. */
export function firstOf(providers: readonly SecretProvider[]): SecretProvider {
  return {
    name: providers.map(({ name }) => name).join(', ') || 'no store of secrets',
    async read(ref) {
      if (!isSecretReference(ref))
        return { kind: 'unusable', message: `${JSON.stringify(ref)} is no name of a secret` };
      for (const provider of providers) {
        const answer = await provider.read(ref);
        if (answer.kind !== 'absent') return answer;
      }
      return { kind: 'absent' };
    },
  };
}
