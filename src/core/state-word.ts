import { STATE_WORDS } from './words.js';

/** A state in words for people: the same word wherever it is shown. */
export const stateWord = (state: string): string => STATE_WORDS[state] ?? state.replaceAll('_', ' ');
