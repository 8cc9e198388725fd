// What a dialog does, as a command to type.
import type { Given } from './ask.tsx';

type Word = string | number | boolean | undefined;

/** The command of these words; those that are not there, or false, are left out. The reason of a filled form comes last. */
export function commandOf(words: readonly Word[], given?: Given): string {
  const reason = given?.note.reason;
  const all = [...words, ...(reason === undefined ? [] : ['--reason', reason])];
  return ['sitewright', ...all.filter((word) => word !== undefined && word !== false).map(quoted)].join(' ');
}

/** An option for each of its values. */
export const eachOption = (option: string, values: readonly string[] = []): string[] =>
  values.flatMap((value) => [option, value]);

/** As shells read it. */
function quoted(word: Word): string {
  const text = String(word);
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
