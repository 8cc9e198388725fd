const TOKEN =
  /[ \t\n\r]*(?:("(?:[ !#-[\]-\uffff]|\\["\\/bfnrt]|\\u[\da-fA-F]{4})*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|([{}[\],:]))/y;

/** Line and column, both from 1. */
interface Place {
  readonly line: number;
  readonly column: number;
}

/** Where a text stops being JSON: the engine's own message names the place for some mistakes only. */
export function placeOfMistake(text: string): Place {
  const before = text.slice(0, offsetOfMistake(text));
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 };
}

/** What may come next. */
type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end';

function offsetOfMistake(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: Expected | 'nothing' = 'value';
  const closed = (): typeof expected => (open.length > 0 ? 'comma or end' : 'nothing');
  TOKEN.lastIndex = 0;
  for (;;) {
    const from = TOKEN.lastIndex;
    const [whole, string, scalar, sign] = TOKEN.exec(text) ?? [];
    const at = whole === undefined ? from + blanksAt(text, from) : from + blanksAt(whole, 0);
    const isValue = expected === 'value' || expected === 'value or end';
    const isName = expected === 'name' || expected === 'name or end';
    if (string !== undefined && isName) expected = 'colon';
    else if ((string ?? scalar) !== undefined && isValue) expected = closed();
    else if ((sign === '{' || sign === '[') && isValue) {
      open.push(sign);
      expected = sign === '{' ? 'name or end' : 'value or end';
    } else if (sign === ':' && expected === 'colon') expected = 'value';
    else if (sign === ',' && expected === 'comma or end') expected = open.at(-1) === '{' ? 'name' : 'value';
    else if (endsAs(sign, expected, open.at(-1))) {
      open.pop();
      expected = closed();
    } else return at;
  }
}

const endsAs = (sign: string | undefined, expected: string, open: string | undefined): boolean =>
  (sign === '}' && open === '{' && (expected === 'name or end' || expected === 'comma or end')) ||
  (sign === ']' && open === '[' && (expected === 'value or end' || expected === 'comma or end'));

/** Number of blanks there. */
function blanksAt(text: string, from: number): number {
  let at = from;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at += 1;
  return at - from;
}
