import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NODE_STATES } from '../../src/core/words.ts';
import type { RunNodeWrite, RunWrite } from '../../src/store/index.ts';
import { InputCheck } from '../../src/store/input.ts';
import { givenColumns, mergedRow } from '../../src/store/queries/conversion.ts';
import type { Row } from '../../src/store/tables.ts';

const word = fc.constantFrom('a', 'b', 'c');
const count = fc.nat({ max: 3 });
const time = fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z');
const clearable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const runFields = fc.record(
  {
    temporalRunId: word,
    site: word,
    startedBy: word,
    reason: word,
    title: word,
    labels: fc.dictionary(word, word),
    parameters: fc.json().map((text) => JSON.parse(text)),
    revision: count,
    outcome: clearable(word),
    endedAt: clearable(time),
    failedNodes: clearable(count),
    failedTasks: clearable(count),
    done: clearable(count),
    total: clearable(count),
    failure: clearable(word),
  },
  { requiredKeys: [] },
);
const runWrite = fc.tuple(runFields, word).map(
  ([fields, phase]): Omit<RunWrite, 'sequence'> => ({
    ...fields,
    id: 'r',
    workflowId: 'w',
    kind: 'k',
    startedAt: '2026-01-01T00:00:00Z',
    phase,
  }),
);

const nodeReport = fc.record(
  { name: word, state: fc.constantFrom(...NODE_STATES), attempts: count, reason: word },
  { requiredKeys: ['name', 'state', 'attempts'] },
);
const nodeFields = fc.record({ position: clearable(count), released: clearable(nodeReport) }, { requiredKeys: [] });
const nodeWrite = fc
  .tuple(nodeFields, nodeReport)
  .map(([fields, report]): Omit<RunNodeWrite, 'sequence'> => ({ ...fields, node: 'n', report }));

const applyRun = (stored: Row<'run'> | undefined, write: RunWrite) =>
  mergedRow('run', stored, givenColumns('run', new InputCheck(), write, {}));
const applyNode = (stored: Row<'runNode'> | undefined, write: RunNodeWrite) =>
  mergedRow('runNode', stored, givenColumns('runNode', new InputCheck(), write, { runId: 'r' }));

/** Writes in their order, each followed by repeats of any earlier ones, as from retried activities. */
const withRepeats = <T>(write: fc.Arbitrary<T>) =>
  fc.array(fc.tuple(write, fc.array(fc.nat(), { maxLength: 3 })), { minLength: 1, maxLength: 8 }).map((steps) => {
    const plain = steps.map(([fields], index) => ({ ...fields, sequence: index + 1 }));
    const repeated = steps.flatMap(([, again], index) => [
      plain[index]!,
      ...again.map((earlier) => plain[earlier % (index + 1)]!),
    ]);
    return { plain, repeated };
  });

const fold = <R, W>(writes: readonly W[], apply: (stored: R | undefined, write: W) => R) =>
  writes.reduce<R | undefined>((stored, write) => apply(stored, write), undefined);

it('repeats of writes of a run, however late, change nothing', () => {
  fc.assert(
    fc.property(withRepeats(runWrite), ({ plain, repeated }) => {
      expect(fold(repeated, applyRun)).toEqual(fold(plain, applyRun));
    }),
  );
});

it('repeats of writes of a node, however late, change nothing', () => {
  fc.assert(
    fc.property(withRepeats(nodeWrite), ({ plain, repeated }) => {
      expect(fold(repeated, applyNode)).toEqual(fold(plain, applyNode));
    }),
  );
});

it('phase and state are those of the newest write, in any order of arrival', () => {
  fc.assert(
    fc.property(withRepeats(runWrite), fc.infiniteStream(fc.nat()), ({ plain }, random) => {
      const shuffled = plain.map((write) => ({ write, key: random.next().value as number }));
      shuffled.sort((one, other) => one.key - other.key);
      const result = fold(
        shuffled.map(({ write }) => write),
        applyRun,
      );
      expect(result).toMatchObject({ phase: plain.at(-1)!.phase, sequence: plain.length });
    }),
  );
});
