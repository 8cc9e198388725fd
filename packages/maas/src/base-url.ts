import { MaasConfigurationError } from './api-key.ts';

/**
 * The API root for a user's MAAS URL: with or without the last slash, `/MAAS` or
 * `/api/2.0`. Always ends in `/api/2.0/`, since MAAS answers 404 to a path without its slash.
 * @throws MaasConfigurationError when it is not an http(s) URL, or contains credentials.
 */
export function maasApiRoot(text: string): string {
  const problem = (why: string) =>
    new MaasConfigurationError([`The MAAS URL ${why}. It should look like http://maas.example:5240/MAAS.`]);
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw problem('cannot be read as a URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw problem('must start with http:// or https://');
  if (url.username !== '' || url.password !== '') throw problem('must not contain a user name or password');
  if (url.search !== '' || url.hash !== '') throw problem('must not have a query or a fragment');
  const path = url.pathname
    .split('/')
    .filter((part) => part !== '')
    .join('/')
    .replace(/(^|\/)api(\/[0-9.]+)?$/, '');
  // A proxy may publish MAAS under another path, so a given path is kept; none means /MAAS.
  return `${url.origin}/${path === '' ? 'MAAS' : path}/api/2.0/`;
}
