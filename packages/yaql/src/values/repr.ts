import { YaqlError } from '../errors.ts';
import { Regex } from '../regex/regex.ts';
import { Dict, DictView, Tuple, ValueSet } from './collections.ts';
import { LazyIterator } from './iterators.ts';
import type { Value } from './kind.ts';
import { kindName, kindOf, ValueObject } from './kind.ts';
import { numberText } from './number-text.ts';
import { Float } from './numbers.ts';
import { DateTime, isoText, TimeSpan, timeSpanFields, timeSpanText } from './time.ts';
import { work } from './work.ts';

/** The language's `str(..)`: null, true and false in lower case at the top, Python's `str` for all else. */
export function toText(value: Value): string {
  if (typeof value === 'string') return value;
  if (value === null) return 'null';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value instanceof DateTime) return isoText(value, ' ');
  if (value instanceof TimeSpan) return timeSpanText(value);
  return repr(value);
}

/** Python's `repr`, as nested values have it in `str(..)`. MemoryQuotaExceededException for over 20 million characters. */
export function repr(value: Value): string {
  written = 0;
  return represent(value);
}

/** Characters of the parts written so far: values that share parts can be far larger than the memory they take. */
let written = 0;
const maxWritten = 20_000_000;

function represent(value: Value): string {
  work.elements += 2;
  if (++written > maxWritten) throw new YaqlError('MemoryQuotaExceededException', 'The text of the value is too long');
  switch (typeof value) {
    case 'string':
      written += value.length;
      work.elements += value.length >> 3;
      return reprString(value);
    case 'number':
    case 'bigint':
      return numberText(value);
    case 'boolean':
      return value ? 'True' : 'False';
    default:
      return value === null ? 'None' : reprObject(value);
  }
}

function reprObject(value: object): string {
  if (value instanceof Float) return numberText(value);
  if (Array.isArray(value)) return `[${value.map(represent).join(', ')}]`;
  if (value instanceof Tuple) {
    const items = value.items.map(represent);
    return items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;
  }
  if (value instanceof Dict) return reprDict(value);
  if (value instanceof ValueSet) {
    const name = value.frozen ? 'frozenset' : 'set';
    if (value.size === 0) return `${name}()`;
    const items = `{${[...value].map(represent).join(', ')}}`;
    return value.frozen ? `frozenset(${items})` : items;
  }
  if (value instanceof DictView) return reprView(value);
  if (value instanceof DateTime) return reprDateTime(value);
  if (value instanceof TimeSpan) return reprTimeSpan(value);
  if (value instanceof Regex) return `re.compile(${reprString(value.pattern)}${value.flagText})`;
  if (value instanceof LazyIterator && value.shown !== null) return value.shown();
  return `<${value instanceof ValueObject ? kindName(kindOf(value)) : 'object'}>`;
}

function reprDict(value: Dict): string {
  const entries: string[] = [];
  for (const [key, item] of value.entries()) entries.push(`${represent(key)}: ${represent(item)}`);
  return `{${entries.join(', ')}}`;
}

function reprView(view: DictView): string {
  if (view.dict.frozen) {
    const names = { keys: 'KeysView', values: 'ValuesView', items: 'ItemsView' };
    return `${names[view.part]}(${reprDict(view.dict)})`;
  }
  return `dict_${view.part}([${[...view].map(represent).join(', ')}])`;
}

function reprDateTime(value: DateTime): string {
  const c = value.civil();
  const fields = [c.year, c.month, c.day, c.hour, c.minute];
  if (c.second !== 0 || c.microsecond !== 0) fields.push(c.second);
  if (c.microsecond !== 0) fields.push(c.microsecond);
  const zone = value.zone === 0n ? 'tzutc()' : `tzoffset(None, ${Number(value.zone / 1_000_000n)})`;
  return `datetime.datetime(${fields.join(', ')}, tzinfo=${zone})`;
}

function reprTimeSpan(span: TimeSpan): string {
  const { days, seconds, microseconds } = timeSpanFields(span);
  const fields: string[] = [];
  if (days !== 0n) fields.push(`days=${days}`);
  if (seconds !== 0) fields.push(`seconds=${seconds}`);
  if (microseconds !== 0) fields.push(`microseconds=${microseconds}`);
  return `datetime.timedelta(${fields.length === 0 ? '0' : fields.join(', ')})`;
}

const unprintable = /[\p{C}\p{Z}]/u;
const named: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\' };

/** Single quotes unless the text has some and no double ones. */
function reprString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let out = quote;
  for (const c of text) {
    const short = named[c];
    if (short !== undefined) out += short;
    else if (c === quote) out += `\\${c}`;
    else if (c === ' ' || !unprintable.test(c)) out += c;
    else out += escapeCodePoint(c.codePointAt(0) as number);
  }
  return out + quote;
}

function escapeCodePoint(code: number): string {
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, '0')}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`;
  return `\\U${code.toString(16).padStart(8, '0')}`;
}
