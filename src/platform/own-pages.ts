import { isIP } from 'node:net';

/** The head of a request, as servers of Node.js have it. */
interface RequestHead {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Whether a request is to change something. */
export const changes = ({ method }: Pick<RequestHead, 'method'>): boolean =>
  !['GET', 'HEAD', 'OPTIONS'].includes(method);

/** Whether it asks under a name of this machine, with or without a port: DNS rebinding leads here under others. */
export function isForThisMachine({ headers: { host } }: Pick<RequestHead, 'headers'>): boolean {
  if (host === undefined) return true;
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(String(host)) ?? [];
  if (bracketed !== undefined) return bracketed === '::1';
  const name = (plain ?? '').toLowerCase().replace(/\.$/, '');
  if (isIP(name) === 4) return name.startsWith('127.');
  // RFC 6761: no server of names is asked for these.
  return name === 'localhost' || name.endsWith('.localhost');
}

/** Whether a page at the same address, a person or a program sent it. Browsers send the origin of a change; programs do not. */
export function isFromOwnPage({ headers }: Pick<RequestHead, 'headers'>, protocol: string): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  return origin === undefined || String(origin).toLowerCase() === `${protocol}://${host ?? ''}`.toLowerCase();
}
