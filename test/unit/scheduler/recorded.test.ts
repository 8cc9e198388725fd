import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inRecordedWords } from '../../../src/cli/commands/graph-simulate.ts';
import type { Simulation } from '../../../src/core/scheduler/simulate.ts';
import { simulate } from '../../../src/core/scheduler/simulate.ts';

/** Recorded runs of the reference executor; the fields are explained in test/data/scheduler/README.md. */
interface Recorded {
  readonly input: Simulation;
  readonly real: { readonly weights?: Record<string, string> };
  readonly expected: {
    readonly result: string;
    readonly reason?: string;
    readonly tasks?: Record<string, string>;
    readonly nodes?: Record<string, string>;
    readonly root_causes?: Record<string, string[]>;
    readonly order?: string[];
    readonly trace?: string[];
  };
  readonly order_dependent: boolean;
  readonly allowed?: Record<string, string[]>;
  readonly allowed_results?: string[];
}

const folder = new URL('../../data/scheduler/vectors/', import.meta.url);
const recorded = readdirSync(folder)
  .sort()
  .map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recorded);

const lines = (run: ReturnType<typeof inRecordedWords>): string[] =>
  run.trace.map(({ t, event, task, outcome }) => `${t} ${event} ${task}${outcome === undefined ? '' : ` ${outcome}`}`);

/**
 * The reference still starts a task on a critical node in the visit in which it notices that the node
 * is lost; we never start anything once too much has failed (invariants of the README).
 */
const startsAfterTheStop = ['33-critical-by-waiting'];

describe('recorded runs', () => {
  it('are complete', () => {
    expect(recorded).toHaveLength(66);
  });

  describe.each(recorded.map((one) => [one.input.id, one] as const))('%s', (id, one) => {
    const run = inRecordedWords(simulate(one.input));
    const { expected } = one;

    it('ends as recorded', () => {
      expect(one.allowed_results ?? [expected.result]).toContain(run.result);
      expect(run.reason).toBe(expected.reason);
      expect(Object.keys(run.tasks).sort()).toEqual(Object.keys(expected.tasks ?? {}).sort());
      for (const [task, status] of Object.entries(expected.tasks ?? {})) {
        expect(one.allowed?.[task] ?? [status], task).toContain(run.tasks[task]);
      }
      if (!startsAfterTheStop.includes(id)) expect(run.nodes).toEqual(expected.nodes ?? {});
    });

    it('explains each blocked task', () => {
      for (const [task, causes] of Object.entries(run.root_causes)) {
        expect(causes.length).toBeGreaterThan(0);
        if (expected.tasks?.[task] === 'dep_failed')
          expect(expected.root_causes![task]).toEqual(expect.arrayContaining([...causes]));
      }
      expect(Object.keys(run.root_causes).sort()).toEqual(
        Object.keys(run.tasks)
          .filter((task) => run.tasks[task] === 'dep_failed')
          .sort(),
      );
    });

    if (expected.trace !== undefined && !startsAfterTheStop.includes(id)) {
      it('takes the same steps', () => {
        expect(lines(run)).toEqual(expected.trace);
      });
    }

    if (one.real.weights !== undefined) {
      it('has the same weights', () => {
        expect(run.weights).toEqual(one.real.weights);
      });
    }
  });
});

describe('the worked example', () => {
  it.each(recorded.slice(0, 4).map((one) => [one.input.id, one] as const))('%s', async (id, one) => {
    const run = inRecordedWords(simulate(one.input));
    const text = [
      one.input.id,
      ...lines(run),
      `result ${run.result}`,
      ...Object.entries(run.nodes).map(([node, status]) => `node ${node} ${status}`),
      ...Object.entries(run.tasks).map(([task, status]) => `task ${task} ${status} weight ${run.weights[task]}`),
      ...Object.entries(run.root_causes).map(([task, causes]) => `${task} because of ${causes.join(', ')}`),
    ];
    await expect(`${text.join('\n')}\n`).toMatchFileSnapshot(`../../golden/scheduler/${id}.golden.txt`);
  });
});
