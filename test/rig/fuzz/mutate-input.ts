type Random = () => number;
const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!;

/** Texts that have broken readers before, whatever the language. */
const NASTY = [
  '\0',
  '\ufeff',
  '\ud800',
  '💥',
  '\r',
  '\t',
  '"',
  "'",
  '\\',
  '{',
  '[',
  '}',
  ']',
  ':',
  '-',
  '0x',
  '1e999',
  '%',
];

/** Texts that are harmless once and were not thousands of times: to expressions that retry each place. */
const RUNS = [
  ' ',
  '\n',
  '\r\n',
  '\t',
  '#',
  'a',
  '0',
  '/',
  ':',
  '-',
  '.',
  '=',
  '"',
  '(',
  '<',
  '@',
  ' \n',
  'a:',
  '- ',
  '\\',
];

/** A text changed in one to four places: pieces cut, doubled, moved, replaced, taken from others or from a dictionary. */
export function mutateText(text: string, others: readonly string[], words: readonly string[], random: Random): string {
  let result = text;
  for (let change = Math.floor(random() * 4); change >= 0; change--) {
    const at = Math.floor(random() * (result.length + 1));
    const end = Math.min(result.length, at + Math.floor(random() * 12));
    const [before, piece, after] = [result.slice(0, at), result.slice(at, end), result.slice(end)];
    const other = pick(others, random);
    const from = Math.floor(random() * (other.length + 1));
    const changes = [
      () => before + after,
      () => before + pick(words.length === 0 ? NASTY : words, random) + piece + after,
      () => before + pick(NASTY, random) + after,
      () => before + piece.repeat(random() < 0.02 ? 500 : 2) + after,
      () => before + other.slice(from, from + 40) + piece + after,
      () => before + String.fromCharCode(Math.floor(random() * 256)) + after.slice(1),
      () => result.slice(0, at) + other.slice(from),
      () => before + pick(RUNS, random).repeat(1 + Math.floor(random() * (random() < 0.1 ? 8_000 : 40))) + after,
      () => before + piece + badlyIndented(after, random),
    ];
    result = pick(changes, random)().slice(0, 20_000);
  }
  return result;
}

/** The same with different indentation of some lines. */
const badlyIndented = (text: string, random: Random): string =>
  text
    .split('\n')
    .map((line) => (random() < 0.3 ? `${' '.repeat(Math.floor(random() * 8))}${line.trimStart()}` : line))
    .join(random() < 0.2 ? '\r\n' : '\n');

const VALUES: readonly (() => unknown)[] = [
  () => null,
  () => true,
  () => -1,
  () => 0,
  () => 1e308,
  () => Number.MAX_SAFE_INTEGER + 1,
  () => 0.5,
  () => '',
  () => 'x'.repeat(3_000),
  () => ' '.repeat(7_900),
  () => 'a:'.repeat(2_000),
  // Of attempts that nobody made.
  () => 2,
  () => 1_000_000,
  () => '__proto__',
  () => 'toString',
  () => '\ud800',
  () => 'a\nb\0',
  () => '9'.repeat(40),
  () => [],
  () => [null],
  () => ({}),
  () => JSON.parse('{"__proto__":{"x":1},"constructor":1}'),
  () => Array.from({ length: 2_000 }, (_, at) => at),
  () => JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`),
];

/** A value of JSON changed in one or two places: removed, replaced, renamed, doubled, wrapped. The input is not changed. */
export function mutateJson(value: unknown, random: Random): unknown {
  const result: unknown = random() < 0.5 ? once(value, random) : once(once(value, random), random);
  return result;
}

function once(value: unknown, random: Random): unknown {
  const isDeeper = typeof value === 'object' && value !== null && random() < 0.8;
  if (!isDeeper) return random() < 0.1 ? [value] : pick(VALUES, random)();
  if (Array.isArray(value)) {
    const items: unknown[] = [...value];
    const at = Math.floor(random() * items.length);
    const kind = random();
    if (items.length === 0 || kind < 0.1) items.push(pick(VALUES, random)());
    else if (kind < 0.2) items.splice(at, 1);
    else if (kind < 0.3) items.push(items[at]);
    else items[at] = once(items[at], random);
    return items;
  }
  const entries = Object.entries(value);
  const at = Math.floor(random() * entries.length);
  const kind = random();
  const entry = entries[at];
  if (entry === undefined || kind < 0.1) entries.push([`${String(pick(VALUES, random)())}`.slice(0, 50), 1]);
  else if (kind < 0.25) entries.splice(at, 1);
  else if (kind < 0.3) entry[0] = `${entry[0]}x`;
  else entry[1] = once(entry[1], random);
  return Object.fromEntries(entries);
}
