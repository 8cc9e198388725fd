/** An address as a number, so that `fd00::1` and `FD00:0:0::0001` are the same. */
interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

function parseAddress(text: string): Address | undefined {
  const trimmed = text.trim();
  if (trimmed.includes(':')) return parseIpv6(trimmed);
  const value = parseIpv4(trimmed);
  return value === undefined ? undefined : { bits: 32, value };
}

function parseIpv4(text: string): bigint | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || parts.some((part) => !/^\d{1,3}$/.test(part) || Number(part) > 255)) return undefined;
  return parts.reduce((value, part) => value * 256n + BigInt(part), 0n);
}

function parseIpv6(text: string): Address | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [before, after] = halves.map((half) => groupsOf(half));
  if (!before || (halves.length === 2 && !after)) return undefined;
  const missing = 8 - before.length - (after?.length ?? 0);
  if (after ? missing < 1 : missing !== 0) return undefined;
  const groups = [...before, ...Array.from({ length: after ? missing : 0 }, () => 0n), ...(after ?? [])];
  return { bits: 128, value: groups.reduce((value, group) => value * 65_536n + group, 0n) };
}

/** The 16-bit groups of one side of `::`; the last two may be written as an IPv4 address. */
function groupsOf(text: string): bigint[] | undefined {
  if (text === '') return [];
  const parts = text.split(':');
  const groups: bigint[] = [];
  for (const [index, part] of parts.entries()) {
    const embedded = index === parts.length - 1 && part.includes('.') ? parseIpv4(part) : undefined;
    if (embedded !== undefined) groups.push(embedded / 65_536n, embedded % 65_536n);
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}

/** Whether two texts are the same address; other texts are compared as they are. */
export function isSameAddress(one: string, other: string): boolean {
  const a = parseAddress(one);
  const b = parseAddress(other);
  return a && b ? a.bits === b.bits && a.value === b.value : one === other;
}

/** An address in the form that MAAS answers: `fd00:23:21::15`. Other texts stay. */
export function canonicalAddress(text: string): string {
  const address = parseAddress(text);
  return address ? formatted(address) : text;
}

function formatted({ bits, value }: Address): string {
  const width = bits === 32 ? 8 : 16;
  const parts = Array.from({ length: bits / width }, (_, index) =>
    Number((value >> BigInt(bits - width * (index + 1))) & ((1n << BigInt(width)) - 1n)),
  );
  return bits === 32 ? parts.join('.') : compressed(parts.map((part) => part.toString(16)));
}

/** RFC 5952: the first longest run of two or more zero groups becomes `::`. */
function compressed(groups: readonly string[]): string {
  let best = { start: 0, length: 1 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === '0') length++;
    if (length > best.length) best = { start, length };
  }
  if (best.length < 2) return groups.join(':');
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`;
}

interface Network {
  readonly bits: 32 | 128;
  /** Without the bits of the host. */
  readonly prefix: bigint;
  readonly length: number;
}

function parseNetwork(cidr: string): Network | undefined {
  const [text = '', prefix = '', ...more] = cidr.split('/');
  const address = parseAddress(text);
  const length = Number(prefix);
  if (!address || more.length > 0 || !/^\d{1,3}$/.test(prefix.trim()) || length > address.bits) return undefined;
  return { bits: address.bits, prefix: address.value >> BigInt(address.bits - length), length };
}

/** Whether two texts are the same network, such as `10.0.0.0/24` and `10.0.0.5/24`. */
export function isSameNetwork(one: string, other: string): boolean {
  const a = parseNetwork(one);
  const b = parseNetwork(other);
  return a && b ? a.bits === b.bits && a.length === b.length && a.prefix === b.prefix : one === other;
}

/** A network in the form that MAAS answers, without the bits of a host: `10.0.0.0/24`. Other texts stay. */
export function canonicalNetwork(cidr: string): string {
  const network = parseNetwork(cidr);
  if (!network) return cidr;
  const host = BigInt(network.bits - network.length);
  return `${formatted({ bits: network.bits, value: network.prefix << host })}/${network.length}`;
}

/** Whether an address is in a network. */
export function isInNetwork(address: string, cidr: string): boolean {
  const one = parseAddress(address);
  const network = parseNetwork(cidr);
  if (!one || !network || one.bits !== network.bits) return false;
  return one.value >> BigInt(one.bits - network.length) === network.prefix;
}

/** Whether an address is between two others, both included. */
export function isInRange(address: string, start: string, end: string): boolean {
  const one = parseAddress(address);
  const first = parseAddress(start);
  const last = parseAddress(end);
  if (!one || !first || !last || one.bits !== first.bits || one.bits !== last.bits) return false;
  return first.value <= one.value && one.value <= last.value;
}
