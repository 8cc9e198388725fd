/** Length of a text in UTF-8 bytes. Workflows have no reliable `Buffer` or `TextEncoder`. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (unit >= 0xd800 && unit < 0xdc00 && i + 1 < text.length) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/**
 * A text without these characters at its end, in time in proportion to its length: an expression such as `x+$` looks
 * for the end from each `x` of a long run of them.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** Orders text by UTF-16 code units, the same on every machine. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Orders entries by their key. */
export const compareKeys = ([a]: readonly [string, ...unknown[]], [b]: readonly [string, ...unknown[]]): number =>
  compareText(a, b);

/** `1 node`, `2 nodes`. */
export const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** `12 s`, `3 min 12 s`, `2 h 14 min`, `2 days 14 h`: its two largest units. */
export function durationText(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const [days, hours, minutes] = [86_400, 3600, 60].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  if (days > 0) return `${counted(days, 'day')} ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** `n1, n2 and 3 more`: at most so many of the names. */
export const someOf = (names: readonly string[], most: number, between = ', '): string =>
  names.length > most ? `${names.slice(0, most).join(between)} and ${names.length - most} more` : names.join(between);

/** Quotes text as one word for `sh`. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** `90 seconds`, `12 minutes`: about how long something takes. */
export const spanText = (seconds: number): string =>
  seconds < 120 ? counted(Math.round(seconds), 'second') : `${Math.round(seconds / 60)} minutes`;
