/** Words for people where a state's name is not the word itself; the same for one state wherever it is shown. */
export const STATE_WORDS: Readonly<Record<string, string>> = {
  not_reached: 'never reached',
  ignored: 'failure ignored',
  success_with_failures: 'success with failures',
  awaiting_approval: 'waiting for approval',
};

/** A state in words for people: the same word wherever it is shown. */
export const stateWord = (state: string): string => STATE_WORDS[state] ?? state.replaceAll('_', ' ');
