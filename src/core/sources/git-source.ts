import { withoutEnd } from '../text/text.ts';

/** The branch of a Git repository that a site follows. */
export interface GitSource {
  readonly url: string;
  readonly branch: string;
  /** Folder of the documents in the repository; absent: all of it. */
  readonly folder?: string;
  /** Name of the secret with which it is read: `USER:PASSWORD`, or a private key for ssh. */
  readonly credential?: string;
  /** Name of the secret with which webhooks are signed. */
  readonly webhookSecret?: string;
  /** `hold_before` of the runs that webhooks start. */
  readonly holdBefore?: readonly string[];
}

const USER = String.raw`(?:\w[\w.-]*@)?`;
const HOST = String.raw`(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])`;
/** `https://host/path`, `ssh://git@host:22/path`, `file:///path`. */
const URL_FORM = new RegExp(String.raw`^(?:(?:https?|ssh|git)://${USER}${HOST}(?::\d{1,5})?/|file:///)[^\s\\]+$`);
/** `git@host:path`, but not `transport::address`, which runs a program. */
const SCP_FORM = new RegExp(String.raw`^${USER}${HOST}:(?![:-])[^\s\\]+$`);

/** The problem of an address: git must read it as an address and never as an option or a command. */
export function gitUrlProblem(url: string): string | undefined {
  const [authority = ''] = url.replace(/^[a-z]{1,20}:\/\//i, '').split('/', 1);
  const user = authority.includes('@') ? authority.slice(0, authority.lastIndexOf('@')) : '';
  // Over http a token can replace the user name.
  if (url.includes('://') && (user.includes(':') || (user !== '' && /^https?:/i.test(url))))
    return 'must not contain a user, password or token: put them into a secret and name that as `credential`';
  if (URL_FORM.test(url) || (!url.includes('://') && SCP_FORM.test(url))) return undefined;
  return 'must be an address such as https://git.example.org/sites.git or git@git.example.org:sites.git';
}

/** The host of an address, in lower case; undefined for one of this machine. */
export function gitHostOf(url: string): string | undefined {
  const [, scheme] = /^([a-z]{1,20}):\/\//i.exec(url) ?? [];
  if (scheme?.toLowerCase() === 'file') return undefined;
  const rest = scheme === undefined ? url : url.slice(scheme.length + 3);
  const [authority = ''] = rest.split('/', 1);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const [, bracketed, plain = ''] = /^(?:(\[[^\]]*\])|([^:]*))/.exec(host) ?? [];
  return (bracketed ?? plain).toLowerCase();
}

/** @param hosts names, and `*.example.org` for all below one; no other means any */
export const isAllowedHost = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((one) => {
    const allowed = one.toLowerCase();
    return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed;
  });

/** Secrets of repositories have a place of their own: whoever names one chooses where it is sent. */
const SECRETS_BELOW = 'git/';

export const repositorySecretProblem = (name: string): string | undefined =>
  name.startsWith(SECRETS_BELOW) && name.length > SECRETS_BELOW.length
    ? undefined
    : `must begin with ${SECRETS_BELOW}: other secrets are not for repositories`;

/** The rules of `git check-ref-format`, and nothing that looks like an option. */
export const branchProblem = (branch: string): string | undefined =>
  /^[^-/.\s][^\s~^:?*[\\]*$/.test(branch) &&
  !/[^\x21-\x7e\u{a0}-\u{10ffff}]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[/.]$|^@$/u.test(branch)
    ? undefined
    : 'is not the name of a branch';

export const folderProblem = (folder: string): string | undefined =>
  folder.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !/^[-:]|[\\\p{Cc}]/u.test(folder)
    ? undefined
    : 'must be a path in the repository, without . and ..';

/** The page of a commit where hosts of repositories have it; null for an address without pages. */
export function commitUrl(url: string, commit: string): string | null {
  const web = /^(https?:\/\/)(?:[^/@]*@)?([^/]+)\/(.+)$/.exec(url);
  const ssh = /^(?:ssh:\/\/)?(?:[^/@:]*@)?([A-Za-z0-9.-]+)(?::\d{1,5}\/|[:/])(.+)$/.exec(url);
  const [scheme, host, path] = web
    ? web.slice(1)
    : ssh && !/^(file|git):/.test(url)
      ? ['https://', ssh[1], ssh[2]]
      : [];
  if (host === undefined || path === undefined) return null;
  const plain = withoutEnd(path.replace(/^\/+/, ''), '/').replace(/\.git$/, '');
  return `${scheme}${host}/${plain}/commit/${commit}`;
}
