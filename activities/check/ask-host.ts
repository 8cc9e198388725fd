import { lookup } from 'node:dns/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, connect, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { HostAnswer, Question } from '../../src/core/checks/answers.ts';

/** Asks a host once. Never rejects: what cannot be asked has no answer. */
export type AskHost = (question: Question, timeoutMs: number, signal: AbortSignal | undefined) => Promise<HostAnswer>;

/** So much of an answer is read. */
const MOST_BYTES = 64 * 1024;

/**
 * Asks hosts on behalf of documents, whose authors may not reach whatever a worker can reach: only the hosts that the installation
 * declares, by name (`prometheus.example.org`, `*.example.org`) or by address (`10.20.0.0/16`). A name is resolved once and the
 * connection goes to that address. Redirects are not followed.
 *
 * @param isNeverAsked addresses that no declaration allows
 */
export function hostAsker(
  declared: readonly string[],
  isNeverAsked: (address: string) => boolean = isOwnOrLocal,
): AskHost {
  const rules = rulesOf(declared);
  return async (question, timeoutMs, signal) => {
    const limit = AbortSignal.timeout(timeoutMs);
    const both = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    try {
      const target = targetOf(question);
      const found = await aborted(both, resolve(target.host, rules, isNeverAsked));
      if ('why' in found) return { kind: 'none', why: found.why };
      return await (target.url === null
        ? reach(found.address, target.port, both)
        : get(target.url, found.address, both));
    } catch (error) {
      if (limit.aborted) return { kind: 'none', why: `no answer within ${timeoutMs / 1000} s` };
      return failed(error);
    }
  };
}

interface Rules {
  readonly names: readonly string[];
  readonly addresses: BlockList;
}

function rulesOf(declared: readonly string[]): Rules {
  const names: string[] = [];
  const addresses = new BlockList();
  for (const entry of declared) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address);
    if (family === 0) names.push(entry.toLowerCase());
    else addresses.addSubnet(address, Number(bits ?? (family === 4 ? 32 : 128)), family === 4 ? 'ipv4' : 'ipv6');
  }
  return { names, addresses };
}

const isNamed = (name: string, { names }: Rules): boolean =>
  names.some((one) => (one.startsWith('*.') ? name.endsWith(one.slice(1)) : name === one));

const has = (list: BlockList, address: string): boolean => list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

/** The address of a host, if it may be asked. */
async function resolve(
  host: string,
  rules: Rules,
  isNeverAsked: (address: string) => boolean,
): Promise<{ readonly address: string } | { readonly why: string }> {
  const name = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  const isDeclared = isNamed(name, rules);
  const isAddress = isIP(name) !== 0;
  const undeclared = { why: `${name} is not among the hosts of the setting checks.hosts` };
  // Nobody learns from the worker's resolver which names there are.
  if (!isAddress && !isDeclared && rules.names.length === 0 && rules.addresses.rules.length === 0) return undeclared;
  const found = isAddress ? [name] : (await lookup(name, { all: true })).map(({ address }) => address);
  const declared = found.filter((address) => isDeclared || has(rules.addresses, address));
  if (declared.length === 0) return undeclared;
  const address = declared.find((one) => !isNeverAsked(one));
  return address === undefined ? { why: `${name} is an address of the worker's own machine or link` } : { address };
}

/** Addresses of this machine and its links, and those in which another address is hidden. */
const LOCAL = new BlockList();
for (const [address, bits] of [
  ...([
    ['0.0.0.0', 8],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['224.0.0.0', 3],
  ] as const),
  ...([
    ['::', 127],
    ['fe80::', 10],
    ['ff00::', 8],
    ['64:ff9b::', 96],
    ['2002::', 16],
  ] as const),
] as const)
  LOCAL.addSubnet(address, bits, isIP(address) === 4 ? 'ipv4' : 'ipv6');

function isOwnOrLocal(address: string): boolean {
  if (has(LOCAL, address)) return true;
  const own = new BlockList();
  for (const one of Object.values(networkInterfaces()).flat())
    if (one !== undefined) own.addAddress(one.address, one.family === 'IPv4' ? 'ipv4' : 'ipv6');
  return has(own, address);
}

type Target =
  | { readonly host: string; readonly port: number; readonly url: null }
  | { readonly host: string; readonly url: URL };

function targetOf(question: Question): Target {
  if (question.kind === 'tcp') return { host: question.host, port: question.port, url: null };
  const url = new URL(question.url);
  if (question.kind === 'prometheus') {
    url.pathname = `${url.pathname.replace(/\/$/, '')}/api/v1/query`;
    url.search = new URLSearchParams({ query: question.query }).toString();
  }
  return { host: url.hostname, url };
}

const reach = (host: string, port: number, signal: AbortSignal): Promise<HostAnswer> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal });
    socket.once('connect', () => {
      socket.destroy();
      resolve({ kind: 'connected' });
    });
    socket.once('error', reject);
  });

const get = (url: URL, address: string, signal: AbortSignal): Promise<HostAnswer> =>
  new Promise((resolve, reject) => {
    const isTls = url.protocol === 'https:';
    const name = url.hostname.replace(/^\[|\]$/g, '');
    const asked = (isTls ? httpsRequest : httpRequest)({
      host: address,
      port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, 'user-agent': 'Sitewright', connection: 'close' },
      agent: false,
      signal,
      ...(isTls && isIP(name) === 0 && { servername: name }),
    });
    asked.once('response', (answer) => void read(answer).then(resolve, reject));
    asked.once('error', reject);
    asked.end();
  });

/** The status of an answer, and the beginning of its body. */
async function read(answer: IncomingMessage): Promise<HostAnswer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MOST_BYTES) break;
  }
  answer.destroy();
  const body = Buffer.concat(pieces).subarray(0, MOST_BYTES).toString('utf8');
  return { kind: 'http', status: answer.statusCode ?? 0, body, isWhole: bytes <= MOST_BYTES };
}

/** Rejects when the signal does. */
const aborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });

function failed(error: unknown): HostAnswer {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
  if (code === 'ECONNREFUSED') return { kind: 'refused' };
  const why = code === 'ENOTFOUND' || code === 'EAI_AGAIN' ? 'the name of the host cannot be resolved' : 'no answer';
  return { kind: 'none', why: code === null ? why : `${why} (${code})` };
}
