import { createTaskEngine, nodeState, prepareData, TaskScope, YaqlError } from '../src/index.ts';

/** A small generator of random numbers (mulberry32), so that a finding can be repeated from its seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const fragments = [
  '$',
  '$.',
  '?.',
  '.',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  ' => ',
  ' -> ',
  '->',
  ' and ',
  ' or ',
  'not ',
  ' in ',
  ' mod ',
  '+',
  '-',
  '*',
  '/',
  '=',
  '!=',
  '<',
  '>=',
  '=~',
  "'",
  '"',
  '`',
  '\\',
  '\\u',
  '0',
  '1',
  '9999999999999999999',
  '1.5',
  'true',
  'null',
  '__proto__',
  'constructor',
  'toString',
  '$.__proto__',
  "'__proto__'",
  'hasOwnProperty',
  '.constructor',
  '😀',
  'é',
  '\n',
  '\u0000',
  '.select($)',
  '.where($)',
  '.orderBy($)',
  '.toList()',
  '.len()',
  '.toSet()',
  'range(10000)',
  'sequence()',
  '.repeat()',
  ' * 1000000',
  ' * 99999999999',
  'pow(9, 999999)',
  "regex('(a+)+b')",
  "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' =~ '(a*)*b'",
  'def(f, f($)) -> f(1)',
  'generate(1, true, [$, $])',
  '.aggregate([$1, $2])',
  'let(x => $)',
  'str(',
  'lambda($)',
  '.toYaml()',
  'old(',
  'changed(',
  '.join(',
  'dict(',
  'list(',
  '((((((((((',
  '[[[[[[[[[[',
  'shiftBitsLeft(1, 99999999)',
  '.replace(',
  '.split(',
  'datetime(',
  'timespan(days => ',
] as const;

/** One expression changed in a few places: pieces cut, doubled, moved, replaced, taken from others. */
export function mutate(sources: readonly string[], random: () => number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  let text = pick(sources);
  // Half of them stay sentences: whole expressions put together, so that evaluation is reached.
  if (random() < 0.5) return combine(pick, text, pick(sources), random).slice(0, 5000);
  const changes = 1 + Math.floor(random() * 4);
  for (let i = 0; i < changes; i++) {
    const at = Math.floor(random() * (text.length + 1));
    const end = Math.min(text.length, at + Math.floor(random() * 8));
    switch (Math.floor(random() * 6)) {
      case 0:
        text = text.slice(0, at) + text.slice(end);
        break;
      case 1:
        text = text.slice(0, at) + pick(fragments) + text.slice(at);
        break;
      case 2:
        text = text.slice(0, at) + pick(fragments) + text.slice(end);
        break;
      case 3:
        text = text.slice(0, end) + text.slice(at);
        break;
      case 4: {
        const other = pick(sources);
        const from = Math.floor(random() * other.length);
        text = text.slice(0, at) + other.slice(from, from + 20) + text.slice(at);
        break;
      }
      default:
        text = text.slice(0, at).repeat(random() < 0.1 ? 50 : 2) + text.slice(at);
    }
  }
  return text.slice(0, 5000);
}

function combine(pick: <T>(list: readonly T[]) => T, a: string, b: string, random: () => number): string {
  const tokens = (x: string): string[] => x.split(/([\w$]+|\W)/u).filter((t) => t !== '');
  const words = (x: string[]): number[] => x.flatMap((t, i) => (/^[\w$]/u.test(t) ? [i] : []));
  const swapped = (x: string, y: string): string => {
    const [p, q] = [tokens(x), tokens(y)];
    const [i, j] = [words(p), words(q)];
    if (i.length > 0 && j.length > 0) p[pick(i)] = q[pick(j)] as string;
    return p.join('');
  };
  const forms = [
    `(${a}).select(${b})`,
    `(${a}).where(${b})`,
    `[${a}, ${b}]`,
    `(${a}) ${pick(['+', '-', '*', '/', 'mod', '=', '<', 'in', 'and', 'or', '=~', '.', '->'])} (${b})`,
    `let(x => ${a}) -> ${b.replaceAll('$', '$x')}`,
    a.replace('$', `(${b})`),
    swapped(a, b),
    swapped(swapped(a, b), b),
    `(${a}).${pick(['len()', 'toSet()', 'orderBy($)', 'toYaml()', 'toJson()', 'groupBy($)', 'distinct()', 'sum()', 'flatten()', 'aggregate([$1, $2])', 'join(",")', 'cycle()', 'repeat()'])}`,
    `changed(${a}) and added(${b}) = deleted(${a})`,
    `generate(${a}, true, [$, $]).limit(${Math.floor(random() * 100)}).${pick(['toSet()', 'last()', 'distinct()', 'toList()'])}`,
    `def(f, ${b.replaceAll('$', 'f($)')}) -> f(${a})`,
  ];
  // Work without end takes until a budget is used up, so there is only a little of it.
  if (random() < 0.005) return `range(10000).select(${a}).select(range(10000).select(${b}))`;
  return pick(forms);
}

const data = {
  nodes: [
    { uid: '1', roles: ['controller'], w: 1.5, __proto__: null },
    { uid: '2', roles: ['compute', 'mongo'], w: 2 },
  ],
  l: [3, 1, 2],
  s: 'hello',
  d: { a: 1, constructor: 5 },
};

/** Evaluates mutated expressions; returns errors as text. `seen` gets every outcome and its time. */
export function findingsOf(
  sources: readonly string[],
  count: number,
  random: () => number,
  seen: (outcome: string, milliseconds: number, expression: string) => void,
  slow = 1000,
): string[] {
  const engine = createTaskEngine({ allowDelegates: true, clock: () => 0n, random: () => 0.5 });
  const common = prepareData(data);
  const scope = new TaskScope(
    engine,
    nodeState(common, prepareData({ uid: '1', l: [1] })),
    nodeState(common, prepareData({ uid: '1' })),
  );
  const findings: string[] = [];
  for (let i = 0; i < count; i++) {
    const expression = mutate(sources, random);
    const before = performance.now();
    let outcome = 'value';
    try {
      scope.evaluate(expression);
    } catch (error) {
      if (!(error instanceof YaqlError)) {
        outcome = 'crash';
        findings.push(`crash: ${JSON.stringify(expression)}: ${String(error)}`);
      } else {
        outcome = error.errorClass;
        if (error.place === null || error.expression !== expression)
          findings.push(`no place: ${JSON.stringify(expression)}: ${error.describe()}`);
        if (outcome === 'HelperError') findings.push(`internal: ${JSON.stringify(expression)}: ${error.message}`);
      }
    }
    const milliseconds = performance.now() - before;
    if (milliseconds > slow) findings.push(`slow, ${milliseconds.toFixed(0)} ms: ${JSON.stringify(expression)}`);
    seen(outcome, milliseconds, expression);
  }
  return findings;
}
