import { expect, it } from 'vitest';
import { loadedAtStart } from '../../bench/loaded-at-start.ts';

it('the command line loads one package to start', async () => {
  expect((await loadedAtStart()).packages).toEqual(['commander']);
});
