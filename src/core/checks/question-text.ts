import type { NodeQuestion } from './answers.ts';

/** `http://` or `https://`, and nothing that is hidden in an address: no user, no password, no fragment. */
export const HTTP_ADDRESS = /^https?:\/\/[^\s/?#@\\]+(?:[/?][^\s#\\]*)?$/;

/** A name or an address of a host. */
export const HOST = /^[A-Za-z0-9:.[\]_-]{1,253}$/;

/** Why nobody can be asked this, once its expressions are evaluated. */
export function syntaxProblemOf(question: NodeQuestion): string | undefined {
  if (question.kind === 'command') return undefined;
  if (question.kind === 'tcp')
    return HOST.test(question.host) ? undefined : 'host: must be the name or address of a host';
  if (question.url.length > 2_000 || !HTTP_ADDRESS.test(question.url))
    return 'url: must be an address that begins with http:// or https://, without user and password';
  return undefined;
}
