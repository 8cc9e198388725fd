// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const ESCAPE_SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** Length limit of a result's tail, in characters. */
const TAIL_CHARACTERS = 4000;

/** Decodes any bytes as text that is safe to show and store: no control characters, no broken UTF-8. */
export function readableText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(ESCAPE_SEQUENCES, '').replace(CONTROLS, '\uFFFD');
}

/** The same for the last bytes of a longer text, which may start in the middle of a character. */
export function readableTail(bytes: Uint8Array): string {
  let start = 0;
  while (start < Math.min(3, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start += 1;
  const text = readableText(bytes.subarray(start)).slice(-TAIL_CHARACTERS);
  // The cut may have split a surrogate pair.
  return /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
}
