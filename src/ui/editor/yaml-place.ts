/** Where a cursor is in a document of YAML that is being written, by its indentation: the text before it may not be valid. */
export interface YamlPlace {
  /** The value of `schema:` of its document. */
  readonly schema: string | undefined;
  /** The keys that lead to the mapping that the cursor is in; `[]` for an item of a list. */
  readonly path: readonly string[];
  /** The key whose value is being written; undefined where a key is. */
  readonly key: string | undefined;
  /** What is written of the key or value so far, and where that begins. */
  readonly typed: string;
  readonly from: number;
}

/** A step into a list. */
export const ITEM = '[]';

interface Line {
  readonly indent: number;
  /** `- ` for each list that the line begins an item of. */
  readonly items: string;
  readonly key: string | undefined;
  /** Of the key, or all that is written where there is none. */
  readonly text: string;
}

/** A line of block style; undefined for any other. */
function lineOf(line: string): Line | undefined {
  const indent = /^ */.exec(line)![0].length;
  let start = indent;
  while (line.startsWith('- ', start)) start += /^- +/.exec(line.slice(start))![0].length;
  const items = line.slice(indent, start);
  const rest = line.slice(start);
  const colon = rest.indexOf(':');
  if (colon < 0) return { indent, items, key: undefined, text: rest };
  const key = rest.slice(0, colon).trimEnd();
  const value = rest.slice(colon + 1);
  const isKey = /^[\w.-]+$/.test(key) && (value === '' || value.startsWith(' '));
  return isKey ? { indent, items, key, text: value.trimStart() } : undefined;
}

interface Level {
  readonly indent: number;
  readonly step: string;
}

export function yamlPlace(text: string, offset: number): YamlPlace | undefined {
  const before = text.slice(0, offset).split('\n');
  const start = Math.max(...before.map((line, at) => (/^---( |$)/.test(line) ? at : -1)));
  const document = before.slice(start + 1);
  const last = document.pop() ?? '';
  // Not in comments, nor in mappings in one line.
  if (/[#{[]/.test(last)) return undefined;
  const here = lineOf(last);
  if (here === undefined) return undefined;
  const levels: Level[] = [];
  for (const line of document) {
    const found = lineOf(line);
    if (found === undefined || /^\s*(#|$)/.test(line)) continue;
    enter(levels, found.indent, found.items);
    if (found.key !== undefined) levels.push({ indent: found.indent + found.items.length, step: found.key });
  }
  enter(levels, here.indent, here.items);
  return {
    schema: schemaOf(text, offset),
    path: levels.map(({ step }) => step),
    key: here.key,
    typed: here.text,
    from: offset - here.text.length,
  };
}

/** Leaves the mappings that a line is not in any more, and goes into its items. */
function enter(levels: Level[], indent: number, items: string): void {
  const isItem = items !== '';
  while (levels.length > 0) {
    const { indent: above, step } = levels.at(-1)!;
    // An item may stand below its key without being indented.
    if (above < indent || (isItem && above === indent && step !== ITEM)) break;
    levels.pop();
  }
  for (let at = indent; at < indent + items.length; at += 2) levels.push({ indent: at, step: ITEM });
}

/** Also where it stands below the cursor. */
function schemaOf(text: string, offset: number): string | undefined {
  const start = text.lastIndexOf('\n---', Math.max(0, offset - 1));
  const end = text.indexOf('\n---', offset);
  return /^schema: *(\S+)/m.exec(text.slice(Math.max(0, start), end < 0 ? text.length : end))?.[1];
}
