// Names where there is little room.
import { together } from '../../core/data/together.ts';

/**
 * Names cut to at most so many characters, by name. Both ends stay, as the end often tells names apart; names that differ
 * are cut to texts that differ.
 */
export function shortNames(names: Iterable<string>, most: number): ReadonlyMap<string, string> {
  const short = new Map<string, string>();
  const used = new Set<string>();
  const keep = (name: string, text: string): void => {
    let own = text;
    for (let n = 2; used.has(own); n++) own = `${text.slice(0, most - String(n).length - 1)}~${n}`;
    used.add(own);
    short.set(name, own);
  };
  const shorten = (alike: readonly string[], cut: (name: string) => string): void => {
    for (const [text, own] of together(alike, cut)) {
      const [only] = own;
      if (own.length === 1 && only !== undefined) keep(only, text);
      else if (own.length === alike.length && cut !== bothEnds) for (const name of own) keep(name, text);
      else shorten(own, around(sharedLength(own), most));
    }
  };
  const bothEnds = (name: string): string => {
    const head = Math.ceil((most - 1) / 2);
    return `${name.slice(0, head)}…${name.slice(head + 1 - most)}`;
  };
  const all = [...new Set(names)];
  for (const name of all) if (name.length <= most) keep(name, name);
  shorten(
    all.filter(({ length }) => length > most),
    bothEnds,
  );
  return short;
}

/** Keeps the ends short, and the place where names begin to differ. */
function around(place: number, most: number): (name: string) => string {
  const [head, tail] = [Math.floor(most / 4), Math.floor(most / 5)];
  const middle = most - head - tail - 2;
  return (name) => `${name.slice(0, head)}…${name.slice(place, place + middle)}…${name.slice(-tail)}`;
}

/** With how many characters all of them begin. */
function sharedLength([first = '', ...others]: readonly string[]): number {
  let length = 0;
  while (length < first.length && others.every((one) => one[length] === first[length])) length += 1;
  return length;
}
