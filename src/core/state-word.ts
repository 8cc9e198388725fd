/** Words for people where a state's own name would mislead: an ignored failure is not a task that was passed over. */
export const STATE_WORDS: Readonly<Record<string, string>> = { ignored: 'failure ignored' };

/** A state in words for people: the same word wherever it is shown. */
export const stateWord = (state: string): string => STATE_WORDS[state] ?? state.replaceAll('_', ' ');
