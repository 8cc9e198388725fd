/**
 * `\N{NAME}` in quoted strings. The full table of Unicode names is over a megabyte, so only the names that follow a
 * rule or are in everyday use are here; any other name is an error, as an unknown name is.
 */
const asciiNames =
  'SPACE|EXCLAMATION MARK|QUOTATION MARK|NUMBER SIGN|DOLLAR SIGN|PERCENT SIGN|AMPERSAND|APOSTROPHE|LEFT PARENTHESIS|RIGHT PARENTHESIS|ASTERISK|PLUS SIGN|COMMA|HYPHEN-MINUS|FULL STOP|SOLIDUS'.split(
    '|',
  );
const digitNames = 'ZERO|ONE|TWO|THREE|FOUR|FIVE|SIX|SEVEN|EIGHT|NINE'.split('|');
const greek =
  'ALPHA|BETA|GAMMA|DELTA|EPSILON|ZETA|ETA|THETA|IOTA|KAPPA|LAMDA|MU|NU|XI|OMICRON|PI|RHO|FINAL SIGMA|SIGMA|TAU|UPSILON|PHI|CHI|PSI|OMEGA'.split(
    '|',
  );
const others: Record<string, number> = {
  COLON: 0x3a,
  SEMICOLON: 0x3b,
  'LESS-THAN SIGN': 0x3c,
  'EQUALS SIGN': 0x3d,
  'GREATER-THAN SIGN': 0x3e,
  'QUESTION MARK': 0x3f,
  'COMMERCIAL AT': 0x40,
  'LEFT SQUARE BRACKET': 0x5b,
  'REVERSE SOLIDUS': 0x5c,
  'RIGHT SQUARE BRACKET': 0x5d,
  'CIRCUMFLEX ACCENT': 0x5e,
  'LOW LINE': 0x5f,
  'GRAVE ACCENT': 0x60,
  'LEFT CURLY BRACKET': 0x7b,
  'VERTICAL LINE': 0x7c,
  'RIGHT CURLY BRACKET': 0x7d,
  TILDE: 0x7e,
  'NO-BREAK SPACE': 0xa0,
  'CENT SIGN': 0xa2,
  'POUND SIGN': 0xa3,
  'YEN SIGN': 0xa5,
  'SECTION SIGN': 0xa7,
  'COPYRIGHT SIGN': 0xa9,
  'REGISTERED SIGN': 0xae,
  'DEGREE SIGN': 0xb0,
  'PLUS-MINUS SIGN': 0xb1,
  'MICRO SIGN': 0xb5,
  'LATIN SMALL LETTER SHARP S': 0xdf,
  'MULTIPLICATION SIGN': 0xd7,
  'DIVISION SIGN': 0xf7,
  'EN DASH': 0x2013,
  'EM DASH': 0x2014,
  'LEFT SINGLE QUOTATION MARK': 0x2018,
  'RIGHT SINGLE QUOTATION MARK': 0x2019,
  'LEFT DOUBLE QUOTATION MARK': 0x201c,
  'RIGHT DOUBLE QUOTATION MARK': 0x201d,
  BULLET: 0x2022,
  'HORIZONTAL ELLIPSIS': 0x2026,
  'EURO SIGN': 0x20ac,
  SNOWMAN: 0x2603,
  'RIGHTWARDS ARROW': 0x2192,
  'LEFTWARDS ARROW': 0x2190,
};
const marks: Record<string, string> = {
  GRAVE: '\u0300',
  ACUTE: '\u0301',
  CIRCUMFLEX: '\u0302',
  TILDE: '\u0303',
  DIAERESIS: '\u0308',
  'RING ABOVE': '\u030a',
  CARON: '\u030c',
  CEDILLA: '\u0327',
};

/** The character, or null when the name is not known here. Case does not matter. */
export function characterByName(name: string): string | null {
  const upper = name.toUpperCase();
  const ascii = asciiNames.indexOf(upper);
  if (ascii >= 0) return String.fromCharCode(0x20 + ascii);
  const code = Object.hasOwn(others, upper) ? others[upper] : undefined;
  if (code !== undefined) return String.fromCharCode(code);
  const digit = /^DIGIT (.+)$/.exec(upper);
  if (digit !== null) {
    const value = digitNames.indexOf(digit[1] as string);
    return value < 0 ? null : String(value);
  }
  const latin = /^LATIN (SMALL|CAPITAL) LETTER ([A-Z])(?: WITH (.+))?$/.exec(upper);
  if (latin !== null) {
    const letter = latin[1] === 'SMALL' ? (latin[2] as string).toLowerCase() : (latin[2] as string);
    if (latin[3] === undefined) return letter;
    const mark = Object.hasOwn(marks, latin[3]) ? marks[latin[3]] : undefined;
    const composed = mark === undefined ? '' : `${letter}${mark}`.normalize('NFC');
    return composed.length === 1 ? composed : null;
  }
  const letter = /^GREEK (SMALL|CAPITAL) LETTER (.+)$/.exec(upper);
  if (letter !== null) {
    const index = greek.indexOf(letter[2] as string);
    if (index < 0 || (letter[1] === 'CAPITAL' && letter[2] === 'FINAL SIGMA')) return null;
    return String.fromCharCode((letter[1] === 'SMALL' ? 0x3b1 : 0x391) + index);
  }
  const unified = /^CJK UNIFIED IDEOGRAPH-([0-9A-F]{4,5})$/.exec(upper);
  return unified === null ? null : String.fromCodePoint(Number.parseInt(unified[1] as string, 16));
}
