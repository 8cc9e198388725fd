// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ESCAPE_SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

/** The longest tail a result carries, in characters. */
const TAIL_CHARACTERS = 4000;

/** Bytes of any kind as text that is safe to show and to store: no control characters, no broken UTF-8. */
export function readableText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(ESCAPE_SEQUENCES, '').replace(CONTROLS, '\uFFFD');
}

/** The same for the last bytes of something longer, which may begin in the middle of a character. */
export function readableTail(bytes: Uint8Array): string {
  let start = 0;
  while (start < Math.min(3, bytes.length) && (bytes[start]! & 0xc0) === 0x80) start += 1;
  const text = readableText(bytes.subarray(start)).slice(-TAIL_CHARACTERS);
  // The cut may have parted a pair of surrogates.
  return /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
}
