import { describe, expect, it } from 'vitest';
import { stepsOf, type WorkerBuild } from '../../../src/core/worker-versions.ts';

const build = (version: string | null, change: Partial<WorkerBuild> = {}): WorkerBuild => ({
  version,
  createdAt: Number(version),
  wasCurrent: true,
  isServed: true,
  ...change,
});
const without = build(null);
const unserved = { isServed: false };
const fresh = { wasCurrent: false };
const nothing = { takeOver: false, adopt: [], waiting: [] };

describe('the build of the workers for new runs', () => {
  it('is the first one', () => {
    expect(stepsOf(build('1', fresh), null, [build(null, unserved)])).toMatchObject({ takeOver: true });
    expect(stepsOf(build('1', fresh), null, [build(null, unserved)], true)).toMatchObject({ takeOver: true });
  });

  it('is a new one from its first start on, unless an operator decides', () => {
    expect(stepsOf(build('2', fresh), '1', [build('1'), without])).toMatchObject({ takeOver: true });
    expect(stepsOf(build('2', fresh), '1', [build('1'), without], true)).toEqual(nothing);
    expect(stepsOf(build('2', fresh), null, [without])).toMatchObject({ takeOver: true });
    expect(stepsOf(build('2', fresh), null, [without], true)).toEqual(nothing);
  });

  it('stays the earlier one after a step back, while it has workers', () => {
    expect(stepsOf(build('2'), '1', [build('1'), without])).toEqual(nothing);
    expect(stepsOf(build('2'), '1', [build('1', unserved), without])).toMatchObject({ takeOver: true, adopt: ['1'] });
  });

  it('is an earlier one again when the later one has no workers', () => {
    expect(stepsOf(build('1'), '2', [build('2', unserved)])).toEqual({ takeOver: true, adopt: [], waiting: ['2'] });
  });

  it('is none once workers have no versions', () => {
    expect(stepsOf(without, '2', [build('2')])).toEqual(nothing);
    const left = [build('2', unserved), build('1', unserved)];
    expect(stepsOf(without, '2', left)).toEqual({ takeOver: true, adopt: ['2', '1'], waiting: [] });
  });
});

describe('runs of builds without workers', () => {
  it('continue with the current build, if it is later', () => {
    const others = [build('1', unserved), build('2'), build('4', unserved), without];
    expect(stepsOf(build('3'), '3', others)).toEqual({ takeOver: false, adopt: ['1'], waiting: ['4'] });
  });

  it('are not taken over by builds that are not current', () => {
    expect(stepsOf(build('2'), '3', [build('3'), build('1', unserved)])).toEqual(nothing);
  });
});
