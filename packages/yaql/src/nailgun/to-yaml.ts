import { YaqlError } from '../errors.ts';
import { Dict, Tuple, ValueSet } from '../values/collections.ts';
import type { Value } from '../values/kind.ts';
import { floatText, numberText } from '../values/number-text.ts';
import { compareNumbers, Float, type Numeric } from '../values/numbers.ts';
import { compareText } from '../values/text.ts';
import { DateTime, isoText } from '../values/time.ts';
import { isMultiline, type ScalarStyle, scalarStyle, timestampText, writeScalar } from './yaml-scalar.ts';

/**
 * One YAML document in the block style of PyYAML's safe dumper over libyaml: keys sorted, items of a list not indented
 * under their key, lines folded after column 80, ASCII only.
 */
export function toYaml(value: Value): string {
  const writer = new DocumentWriter();
  writer.countIdentities(value);
  writer.node(value, -1, 'root');
  return `${writer.text}\n`;
}

type Place = 'root' | 'item' | 'value' | 'key';

interface Scalar {
  readonly text: string;
  readonly style: ScalarStyle;
  readonly tag: string;
}

class DocumentWriter {
  /** Finished output, kept separately: reading the end of one long text repeatedly would copy it each time. */
  readonly #finished: string[] = [];
  /** From the line being written on. */
  #out = '';
  readonly #seen = new Map<object, { count: number; anchor: string | null }>();
  #anchors = 0;

  /** Times that occur more than once are written once and then referred to. */
  countIdentities(value: Value): void {
    if (value instanceof DateTime) {
      const entry = this.#seen.get(value);
      if (entry === undefined) this.#seen.set(value, { count: 1, anchor: null });
      else entry.count++;
    } else if (Array.isArray(value)) for (const item of value) this.countIdentities(item);
    else if (value instanceof Dict)
      for (const [key, item] of value.entries()) {
        this.countIdentities(key);
        this.countIdentities(item);
      }
  }

  get text(): string {
    return this.#finished.join('') + this.#out;
  }

  get #column(): number {
    return this.#out.length - (this.#out.lastIndexOf('\n') + 1);
  }

  #space(): void {
    if (this.#out !== '' && !this.#out.endsWith(' ') && !this.#out.endsWith('\n')) this.#out += ' ';
  }

  #newLine(indent: number): void {
    if (this.#column > 0) this.#out += '\n';
    this.#finished.push(this.#out);
    this.#out = ' '.repeat(indent);
  }

  /** Writes a node; `indent` is that of the collection it is in, -1 at the root. */
  node(value: Value, indent: number, place: Place): void {
    if (Array.isArray(value) || value instanceof Tuple)
      this.#sequence(Array.isArray(value) ? value : value.items, indent, place);
    else if (value instanceof Dict) this.#mapping([...value.entries()], indent, place);
    else if (value instanceof ValueSet) this.#set(value, indent, place);
    else this.#scalar(value, indent, place);
  }

  #set(value: ValueSet, indent: number, place: Place): void {
    this.#space();
    this.#out += '!!set';
    this.#mapping(
      [...value].map((member) => [member, null]),
      indent,
      place,
    );
  }

  #sequence(items: readonly Value[], indent: number, place: Place): void {
    if (items.length === 0) {
      this.#space();
      this.#out += '[]';
      return;
    }
    const own = place === 'value' ? indent : indent + (indent < 0 ? 1 : 2);
    items.forEach((item, i) => {
      if (!(i === 0 && place === 'item')) this.#newLine(own);
      else this.#space();
      this.#out += '-';
      this.node(item, own, 'item');
    });
  }

  #mapping(entries: [Value, Value][], indent: number, place: Place): void {
    if (entries.length === 0) {
      this.#space();
      this.#out += '{}';
      return;
    }
    const own = indent + (indent < 0 ? 1 : 2);
    sortKeys(entries).forEach(([key, value], i) => {
      if (!(i === 0 && place === 'item') || this.#out.endsWith('!!set')) this.#newLine(own);
      else this.#space();
      if (this.#isSimpleKey(key)) {
        this.node(key, own, 'key');
        this.#out += ':';
      } else {
        this.#out += '?';
        this.node(key, own, 'item');
        this.#newLine(own);
        this.#out += ':';
        if (Array.isArray(value) || value instanceof Dict) {
          this.node(value, own, 'item');
          return;
        }
      }
      this.node(value, own, 'value');
    });
  }

  /** Keys stay on one line of at most 128 bytes; longer ones take the form with a question mark. */
  #isSimpleKey(key: Value): boolean {
    if (typeof key !== 'string') return true;
    return !isMultiline(key) && utf8Length(key) <= 128;
  }

  #scalar(value: Value, indent: number, place: Place): void {
    const scalar = scalarOf(value, place === 'key');
    this.#space();
    const entry = typeof value === 'object' && value !== null ? this.#seen.get(value) : undefined;
    if (entry !== undefined && entry.count > 1) {
      if (entry.anchor !== null) {
        this.#out += `*${entry.anchor}${place === 'key' ? ' ' : ''}`;
        return;
      }
      entry.anchor = `id${String(++this.#anchors).padStart(3, '0')}`;
      this.#out += `&${entry.anchor} `;
    }
    if (scalar.tag !== '') this.#out += `${scalar.tag} `;
    this.#out += writeScalar(
      scalar.text,
      scalar.style,
      this.#column,
      indent + 2 + (indent < 0 ? 1 : 0),
      place !== 'key',
    );
  }
}

function scalarOf(value: Value, inKey: boolean): Scalar {
  const plain = (text: string): Scalar => ({ text, style: 'plain', tag: '' });
  if (value === null) return plain('null');
  if (typeof value === 'boolean') return plain(value ? 'true' : 'false');
  if (typeof value === 'string') return { text: value, style: scalarStyle(value, inKey), tag: '' };
  if (value instanceof Float || (typeof value === 'number' && !Number.isInteger(value)))
    return plain(yamlFloat(value instanceof Float ? value.value : value));
  if (typeof value === 'number' || typeof value === 'bigint') return plain(numberText(value));
  if (value instanceof DateTime) {
    const text = isoText(value, ' ');
    return timestampText.test(text) ? plain(text) : { text, style: 'single', tag: '!!timestamp' };
  }
  throw new YaqlError('RepresenterError', 'cannot represent the value in YAML');
}

function yamlFloat(x: number): string {
  if (Number.isNaN(x)) return '.nan';
  if (!Number.isFinite(x)) return x < 0 ? '-.inf' : '.inf';
  const text = floatText(x);
  return text.includes('.') ? text : text.replace('e', '.0e');
}

/** Sorted when all keys can be compared with one another, else as they come. */
function sortKeys(entries: [Value, Value][]): [Value, Value][] {
  const keys = entries.map(([key]) => key);
  if (keys.every((key) => typeof key === 'string'))
    return entries.sort(([a], [b]) => compareText(a as string, b as string));
  if (keys.every(isNumeric)) return entries.sort(([a], [b]) => compareNumbers(a as Numeric, b as Numeric));
  if (keys.every((key) => key instanceof DateTime))
    return entries.sort(([a], [b]) => ((a as DateTime).utc < (b as DateTime).utc ? -1 : 1));
  return entries;
}

const isNumeric = (key: Value): boolean =>
  typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean' || key instanceof Float;

function utf8Length(text: string): number {
  let n = 0;
  for (const c of text) {
    const code = c.codePointAt(0) as number;
    n += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return n;
}
