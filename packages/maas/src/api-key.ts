/** The parts of a MAAS API key. Keep it inside the client: it must not appear in messages or logs. */
export interface ApiKey {
  readonly consumerKey: string;
  readonly tokenKey: string;
  readonly tokenSecret: string;
}

/** Thrown for a URL or key that cannot work, before anything is sent. The message never contains the key. */
export class MaasConfigurationError extends Error {
  override readonly name = 'MaasConfigurationError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join(' '));
    this.problems = problems;
  }
}

/**
 * Parses the `consumer:token:secret` text that a user copies from MAAS.
 * @throws MaasConfigurationError unless it has exactly three non-empty parts of printable ASCII.
 */
export function parseApiKey(text: string): ApiKey {
  const parts = text.trim().split(':');
  const [consumerKey, tokenKey, tokenSecret] = parts;
  if (parts.length !== 3 || !consumerKey || !tokenKey || !tokenSecret) {
    const empty = parts.some((part) => part === '') ? ', some of them empty' : '';
    throw new MaasConfigurationError([
      `The MAAS API key must have three parts separated by colons (consumer:token:secret); this one has ${parts.length}${empty}. Copy all of it from the MAAS user's preferences, or run "maas apikey --username NAME" on the region.`,
    ]);
  }
  // A quote, space or line break would break the quoted header members.
  if (!parts.every((part) => /^[!#-~]+$/.test(part))) {
    throw new MaasConfigurationError([
      'The MAAS API key has an invalid character (space, quote, line break or non-ASCII). Copy it again.',
    ]);
  }
  return { consumerKey, tokenKey, tokenSecret };
}
