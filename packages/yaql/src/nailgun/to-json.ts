import { typeError, valueError } from '../errors.ts';
import { Dict, Tuple, ValueSet } from '../values/collections.ts';
import type { Value } from '../values/kind.ts';
import { floatText, numberText } from '../values/number-text.ts';
import { Float } from '../values/numbers.ts';
import { DateTime } from '../values/time.ts';

/** JSON as Python's `json.dumps` lays it out: `", "` and `": "`, ASCII only, keys in their order. */
export function toJson(value: Value): string {
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
    case 'bigint':
      return numberText(value);
    default:
      return value === null ? 'null' : objectToJson(value);
  }
}

function objectToJson(value: object): string {
  if (value instanceof Float) return floatToJson(value.value);
  if (Array.isArray(value)) return `[${value.map(toJson).join(', ')}]`;
  if (value instanceof Tuple) return `[${value.items.map(toJson).join(', ')}]`;
  if (value instanceof ValueSet) return `[${[...value].map(toJson).join(', ')}]`;
  if (value instanceof Dict) {
    const entries: string[] = [];
    for (const [key, item] of value.entries()) entries.push(`${quote(keyText(key))}: ${toJson(item)}`);
    return `{${entries.join(', ')}}`;
  }
  if (value instanceof DateTime) return quote(timeText(value));
  throw valueError('Cannot convert the value to JSON');
}

function floatToJson(x: number): string {
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x < 0 ? '-Infinity' : 'Infinity';
  return floatText(x);
}

function keyText(key: Value): string {
  if (typeof key === 'string') return key;
  if (key === null) return 'null';
  if (typeof key === 'boolean') return key ? 'true' : 'false';
  if (typeof key === 'number' || typeof key === 'bigint') return numberText(key);
  if (key instanceof Float) return floatToJson(key.value);
  throw typeError('keys must be str, int, float, bool or None');
}

/** The clock without its zone, always with microseconds. */
function timeText(value: DateTime): string {
  const c = value.civil();
  const pad = (n: number, width: number): string => String(n).padStart(width, '0');
  const date = `${c.year}-${pad(c.month, 2)}-${pad(c.day, 2)}`;
  return `${date}T${pad(c.hour, 2)}:${pad(c.minute, 2)}:${pad(c.second, 2)}.${pad(c.microsecond, 6)}`;
}

const short: Record<string, string> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
};

const quote = (text: string): string =>
  `"${text.replace(/["\\]|[^ -~]/g, (c) => short[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
