import { YaqlError } from '../errors.ts';

type OperatorType =
  | 'prefix-unary'
  | 'suffix-unary'
  | 'binary-left-associative'
  | 'binary-right-associative'
  | 'name-value-pair';

/** One operator; an alias makes the function behind it `*alias`. */
export interface Operator {
  readonly symbol: string;
  readonly type: OperatorType;
  readonly alias?: string;
}

/** Groups of equal precedence, the tightest first. */
export type OperatorGroups = readonly (readonly Operator[])[];

const left = (symbol: string, alias?: string): Operator => ({
  symbol,
  type: 'binary-left-associative',
  ...(alias === undefined ? {} : { alias }),
});
const prefix = (symbol: string): Operator => ({ symbol, type: 'prefix-unary' });

/** The operators of the language; `[]` and `{}` are indexing, lists and dicts. */
export const standardOperators: OperatorGroups = [
  [{ symbol: '=>', type: 'name-value-pair' }, left('.'), left('?.')],
  [left('[]'), left('{}')],
  [prefix('+'), prefix('-')],
  [left('=~'), left('!~')],
  [left('*'), left('/'), left('mod')],
  [left('+'), left('-')],
  [left('>'), left('<'), left('>='), left('<='), left('!=', 'not_equal'), left('=', 'equal'), left('in')],
  [prefix('not')],
  [left('and')],
  [left('or')],
  [{ symbol: '->', type: 'binary-right-associative' }],
];

/** Operators of the 0.2 language: `=>` builds tuples instead of naming arguments. */
export const legacyOperators: OperatorGroups = insertOperator(
  standardOperators.map((group) => group.filter((o) => o.type !== 'name-value-pair')),
  { after: 'or', binary: true, operator: left('=>'), newGroup: true },
);

export interface OperatorInsertion {
  /** An operator of the group that the new one joins, or comes right after. */
  readonly after: string;
  /** Which one, where the same symbol is both unary and binary. */
  readonly binary: boolean;
  readonly operator: Operator;
  /** A group of its own, of the next lower precedence. */
  readonly newGroup: boolean;
}

/** A table with one more operator. InvalidOperatorTableException when `after` is not in the table. */
export function insertOperator(groups: OperatorGroups, insertion: OperatorInsertion): OperatorGroups {
  const index = groups.findIndex((group) =>
    group.some((o) => o.symbol === insertion.after && o.type.startsWith('binary') === insertion.binary),
  );
  if (index < 0) throw new YaqlError('InvalidOperatorTableException', `Operator ${insertion.after} is not found`);
  if (insertion.newGroup) return [...groups.slice(0, index + 1), [insertion.operator], ...groups.slice(index + 1)];
  return groups.map((group, i) => (i === index ? [...group, insertion.operator] : group));
}

/** One symbol's place in the table; powers grow with tightness, 0 means "not of this form". */
export interface OperatorEntry {
  readonly symbol: string;
  prefix: number;
  suffix: number;
  binary: number;
  rightAssociative: boolean;
  alias: string | undefined;
}

export interface OperatorTable {
  readonly entries: ReadonlyMap<string, OperatorEntry>;
  /** Symbols the lexer looks for, longest first; without `[]`, `{}`. */
  readonly symbols: readonly string[];
  readonly nameValueSymbol: string | null;
  readonly indexPower: number;
}

/** InvalidOperatorTableException for a symbol given twice in the same form. */
export function operatorTable(groups: OperatorGroups): OperatorTable {
  const entries = new Map<string, OperatorEntry>();
  let nameValueSymbol: string | null = null;
  const twice = (symbol: string): YaqlError =>
    new YaqlError('InvalidOperatorTableException', `Invalid records in operator table for operator ${symbol}`);
  groups.forEach((group, level) => {
    const power = groups.length - level;
    for (const { symbol, type, alias } of group) {
      if (type === 'name-value-pair') {
        if (nameValueSymbol !== null) throw twice(symbol);
        nameValueSymbol = symbol;
        continue;
      }
      const entry = entries.get(symbol) ?? {
        symbol,
        prefix: 0,
        suffix: 0,
        binary: 0,
        rightAssociative: false,
        alias: undefined,
      };
      entries.set(symbol, entry);
      entry.alias = alias ?? entry.alias;
      if (type === 'prefix-unary' || type === 'suffix-unary') {
        if (entry.prefix !== 0 || entry.suffix !== 0) throw twice(symbol);
        if (type === 'prefix-unary') entry.prefix = power;
        else entry.suffix = power;
      } else {
        if (entry.binary !== 0) throw twice(symbol);
        entry.binary = power;
        entry.rightAssociative = type === 'binary-right-associative';
      }
    }
  });
  const symbols = [...entries.keys()].filter((s) => s !== '[]' && s !== '{}');
  if (nameValueSymbol !== null) symbols.push(nameValueSymbol);
  symbols.sort((a, b) => b.length - a.length);
  return { entries, symbols, nameValueSymbol, indexPower: entries.get('[]')?.binary ?? 0 };
}
