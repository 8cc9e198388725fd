/** A text without the run of this character at its end, in time in proportion: `x+$` tries the end from each `x`. */
export function withoutEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
