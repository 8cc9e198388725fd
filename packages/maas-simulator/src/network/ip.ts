/** An address as a number: two texts of one IPv6 address are one value. */
export interface IpAddress {
  readonly version: 4 | 6;
  readonly value: bigint;
}

export interface IpNetwork {
  readonly version: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
  readonly prefix: number;
}

/** Addresses from `first` to `last`, both included. */
export interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

const bitsOf = { 4: 32, 6: 128 } as const;

function parseFour(text: string): bigint | null {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256))
    return null;
  return parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n);
}

function groupsOf(text: string): readonly string[] | null {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const four = tail ? parseFour(tail[2] ?? '') : null;
  if (tail && four === null) return null;
  const whole = four === null ? text : `${tail?.[1]}${(four >> 16n).toString(16)}:${(four & 0xffffn).toString(16)}`;
  const halves = whole.split('::');
  const [head = [], rest = []] = halves.map((half) => (half === '' ? [] : half.split(':')));
  const missing = 8 - head.length - rest.length;
  if (halves.length > 2 || (halves.length === 2 ? missing < 1 : missing !== 0)) return null;
  return [...head, ...Array<string>(missing).fill('0'), ...rest];
}

function parseSix(text: string): bigint | null {
  if (text.length > 45) return null;
  const groups = groupsOf(text);
  if (!groups?.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n);
}

export function parseAddress(text: string): IpAddress | null {
  const version = text.includes(':') ? 6 : 4;
  const value = version === 6 ? parseSix(text) : parseFour(text);
  return value === null ? null : { version, value };
}

/** The longest run of zeros, the first of equals, becomes `::`, as RFC 5952 has it. */
function formatSix(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(16 * (7 - i))) & 0xffffn));
  let best = { at: 0, length: 0 };
  for (let at = 0; at < 8; at++) {
    let length = 0;
    while (at + length < 8 && groups[at + length] === 0) length += 1;
    if (length > best.length) best = { at, length };
  }
  const hex = (some: readonly number[]): string => some.map((group) => group.toString(16)).join(':');
  if (best.length < 2) return hex(groups);
  return `${hex(groups.slice(0, best.at))}::${hex(groups.slice(best.at + best.length))}`;
}

export function formatAddress({ version, value }: IpAddress): string {
  if (version === 6) return formatSix(value);
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

/** The canonical text of an address; null if it is none. */
export function canonicalAddress(text: string): string | null {
  const address = parseAddress(text);
  return address && formatAddress(address);
}

/** `10.0.0.5/24` is the network of the address; without a prefix it is the address alone. */
export function parseNetwork(text: string): IpNetwork | null {
  const [host = '', size, ...more] = text.split('/');
  const address = parseAddress(host);
  if (address === null || more.length > 0) return null;
  const bits = bitsOf[address.version];
  const prefix = size === undefined ? bits : /^\d{1,3}$/.test(size) ? Number(size) : Number.NaN;
  if (!(prefix <= bits)) return null;
  const mask = (1n << BigInt(bits - prefix)) - 1n;
  return { version: address.version, prefix, first: address.value & ~mask, last: address.value | mask };
}

export const formatNetwork = ({ version, first, prefix }: IpNetwork): string =>
  `${formatAddress({ version, value: first })}/${prefix}`;

export const isIn = ({ version, first, last }: IpNetwork, address: IpAddress): boolean =>
  address.version === version && first <= address.value && address.value <= last;

/** The parts of a span that others do not cover. */
export function gapsIn(whole: Span, covered: readonly Span[]): Span[] {
  const gaps: Span[] = [];
  let next = whole.first;
  for (const { first, last } of [...covered].sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    if (first > next) gaps.push({ first: next, last: first - 1n < whole.last ? first - 1n : whole.last });
    if (last >= next) next = last + 1n;
    if (next > whole.last) return gaps;
  }
  return [...gaps, { first: next, last: whole.last }];
}
