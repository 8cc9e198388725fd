import { expect, it } from 'vitest';
import { OUTCOMES, STATES } from '../../../src/core/outcomes.ts';
import { stateWord } from '../../../src/core/state-word.ts';

it('a state is shown to people in its own word; only an ignored failure needs another to be understood', () => {
  const other = [...OUTCOMES, ...STATES].filter((state) => stateWord(state) !== state.replaceAll('_', ' '));
  expect(other.map((state) => [state, stateWord(state)])).toEqual([['ignored', 'failure ignored']]);
});
