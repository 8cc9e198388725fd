import { expect, it } from 'vitest';
import { parseGraphRunInput } from '../../../src/core/graph-run/input.ts';
import { describedRun } from '../../../src/core/run/description.ts';
import { parseSiteRunInput } from '../../../src/core/site-run/input.ts';

const good = { title: 'Racks 1–4', description: '# Why\n\nMore room.', labels: { team: 'storage', 'a/b.c-d_e': '' } };

/** The problems of either kind of run with the same words. */
function problemsOf(said: object): readonly (readonly string[])[] {
  const answers = [
    parseSiteRunInput('deploy_site', [{ site: 'dc1', ...said }]),
    parseGraphRunInput([{ cluster: 1, ...said }]),
  ];
  return answers.map((answer) => (answer.ok ? [] : answer.problems));
}

it('runs of both kinds accept title, description and labels', () => expect(problemsOf(good)).toEqual([[], []]));

it.each([
  [{ title: '' }, 'title'],
  [{ title: 'two\nlines' }, 'title'],
  [{ title: 'x'.repeat(201) }, 'title'],
  [{ title: 7 }, 'title'],
  [{ description: 'x'.repeat(10_001) }, 'description'],
  [{ description: ' ' }, 'description'],
  [{ labels: [] }, 'labels'],
  [{ labels: { team: 7 } }, 'labels'],
  [{ labels: { 'a:b': 'x' } }, 'labels'],
  [{ labels: { '': 'x' } }, 'labels'],
  [{ labels: { team: 'x'.repeat(201) } }, 'labels'],
  [{ labels: { cluster: '1' } }, 'labels'],
  [{ labels: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`l${at}`, ''])) }, 'labels'],
])('runs of both kinds refuse %j', (said, field) => {
  for (const problems of problemsOf(said)) {
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^field '${field}' (must|has|cannot)`));
  }
});

it('all problems of labels are reported together', () => {
  const [[problem = ''] = []] = problemsOf({ labels: { cluster: '1', 'a b': 'x', c: 1 } });
  for (const name of ["'cluster'", '"a b"', "'c'"]) expect(problem).toContain(name);
});

it('reserved labels cannot be set', () => {
  const own = { title: 'default on cluster lab', labels: { cluster: '1' } };
  expect(describedRun({}, own)).toEqual(own);
  expect(describedRun(good, own)).toEqual({ title: good.title, labels: { ...good.labels, cluster: '1' } });
  expect(describedRun({})).toEqual({});
});
