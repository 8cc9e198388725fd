/**
 * A text without what it ends with of these characters, in time in proportion to its length: an expression such as `x+$` looks
 * for the end from each `x` of a long run of them.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}
