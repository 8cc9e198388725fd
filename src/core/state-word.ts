import { STATE_WORDS } from './words.ts';

/** A state in words for people: the same word wherever it is shown. */
export const stateWord = (state: string): string => STATE_WORDS[state] ?? state.replaceAll('_', ' ');
