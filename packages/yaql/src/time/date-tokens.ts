import { asciiDigits } from '../values/number-text.ts';
import { isBlank } from '../values/text.ts';

const letter = /^\p{L}$/u;
const digit = /^[0-9]$/;

type State = 'word' | 'number' | 'dotted word' | 'dotted number';

/**
 * Splits a text into runs of letters, numbers and single other characters, the way `dateutil` does. A dot or comma
 * stays in a number when it can only be its decimal point (`30.5`) and is a separator of its own otherwise
 * (`Sep.20.2009`). Any white space is a blank, and digits of any script are those of ASCII.
 */
export function dateTokens(text: string): string[] {
  const characters = Array.from(asciiDigits(text.replaceAll('\0', '')));
  const tokens: string[] = [];
  let at = 0;
  while (at < characters.length) {
    const first = characters[at++] as string;
    let state: State;
    if (letter.test(first)) state = 'word';
    else if (digit.test(first)) state = 'number';
    else {
      tokens.push(isBlank(first) ? ' ' : first);
      continue;
    }
    let token = first;
    // Whether a character was looked at from within a word, be it the one that ends it: the reference asks just that.
    let letters = false;
    for (; at < characters.length; at++) {
      letters ||= state === 'word' || state === 'dotted word';
      const next = following(state, token, characters[at] as string);
      if (next === null) break;
      state = next;
      token += characters[at];
    }
    tokens.push(...separated(token, state, letters));
  }
  return tokens;
}

/** The state after one more character, null when the token ends before it. */
function following(state: State, token: string, c: string): State | null {
  const afterDot = token.endsWith('.');
  switch (state) {
    case 'word':
      return letter.test(c) ? state : c === '.' ? 'dotted word' : null;
    case 'number':
      if (digit.test(c)) return state;
      return c === '.' || (c === ',' && token.length >= 2) ? 'dotted number' : null;
    case 'dotted word':
      if (c === '.' || letter.test(c)) return state;
      return afterDot && digit.test(c) ? 'dotted number' : null;
    case 'dotted number':
      if (c === '.' || digit.test(c)) return state;
      return afterDot && letter.test(c) ? 'dotted word' : null;
  }
}

function separated(token: string, state: State, letters: boolean): string[] {
  if (state === 'word' || state === 'number') return [token];
  const dots = token.split('.').length - 1;
  let parts = [token];
  if (letters || dots > 1 || /[.,]$/.test(token)) parts = token.split(/([.,])/).filter((part) => part !== '');
  const [first = '', ...more] = parts;
  return [state === 'dotted number' && !first.includes('.') ? first.replaceAll(',', '.') : first, ...more];
}
