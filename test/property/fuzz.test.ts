import { expect, it } from 'vitest';
import { seededRandom } from '../../packages/yaql/test/mutations.ts';
import { type FuzzTarget, fuzz } from '../rig/fuzz/guided.ts';
import { TARGETS } from '../rig/fuzz/targets.ts';

/** How many inputs for each; an hour of them: `node bench/fuzz-parsers.ts --seconds 3600`. */
const INPUTS = Number(process.env.FUZZ_INPUTS ?? 1_500);

it.each(TARGETS)('$name quickly accepts or refuses any input', (target) => {
  const { inputs, findings } = fuzz(target, { random: seededRandom(7), more: (done) => done < INPUTS, guided: false });
  expect(findings).toEqual([]);
  expect(inputs).toBeGreaterThanOrEqual(INPUTS);
});

it('the fuzzer finds slow and crashing inputs, and coverage reaches code that blind mutation does not', () => {
  const wanted = 'fuzzing';
  // A lock that opens letter by letter: each is a separate block.
  const lock = (text: string): void => {
    if (text[0] !== wanted[0]) return;
    if (text[1] !== wanted[1]) return;
    if (text[2] !== wanted[2]) return;
    if (text[3] !== wanted[3]) return;
    if (text[4] !== wanted[4]) return;
    if (text[5] !== wanted[5]) return;
    throw new RangeError('open');
  };
  const target: FuzzTarget = { name: 'lock', seeds: ['------'], words: [...wanted], code: '/fuzz.test.ts', run: lock };
  const more = (done: number): boolean => done < 20_000;
  const guided = fuzz(target, { random: seededRandom(1), more, guided: true });
  expect(guided.findings[0]).toMatchObject({ target: 'lock', what: expect.stringContaining('RangeError: open') });
  expect(guided.discovered.length).toBeGreaterThan(2);
  const blind = fuzz(target, { random: seededRandom(1), more: (done) => done < guided.inputs, guided: false });
  expect(blind.findings).toEqual([]);
});
