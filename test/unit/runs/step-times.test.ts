import { expect, it } from 'vitest';
import type { NodeReport } from '../../../src/core/contracts/site-run-report.ts';
import { StepTimes } from '../../../src/runs/step-times.ts';

const NOON = Date.parse('2026-11-20T12:00:00Z');
const at = (seconds: number): string => new Date(NOON + seconds * 1000).toISOString();
const [DELL, HP] = ['Dell R640', 'HP DL360'];

/** A node that was prepared in so many seconds, and deployed in so many. */
const deployed = (name: string, prepare: number, deploy: number, model?: string): NodeReport => ({
  ...{ name, state: 'success', attempts: 1, ...(model !== undefined && { model }) },
  ...{ started_at: at(0), prepared_at: at(prepare), deploying_at: at(prepare), ended_at: at(prepare + deploy) },
});

/** Step times over one ended run of ten machines a model, whose deployments took 100, 101 … seconds; and an open run with these nodes. */
function learned(open: readonly NodeReport[], ended?: readonly NodeReport[], now = at(1000)) {
  const ten = Array.from({ length: 10 }, (_, index) => index);
  const usual = ten.flatMap((index) => [
    deployed(`d${index}`, 60, 100 + index, DELL),
    deployed(`h${index}`, 60, 300 + index, HP),
    deployed(`u${index}`, 60, 500),
  ]);
  const runs = {
    list: async () => ({ items: [{ id: 'ended', site: 'dc1' }], next: null }),
    listNodes: async () => (ended ?? usual).map((report) => ({ report })),
    getReport: async () => ({ baremetal: { nodes: open } }),
  };
  return new StepTimes({ runs: runs as never }, () => Date.parse(now));
}

const running = (name: string, since: number, model?: string): NodeReport => ({
  ...{ name, state: 'prepared', attempts: 1, running: 'deploy', ...(model !== undefined && { model }) },
  ...{ started_at: at(0), prepared_at: at(0), deploying_at: at(1000 - since) },
});

it('knows the median and the 99th of a hundred, by model and step', async () => {
  const times = await learned([]).of('dc1', ['d1', 'h1']);
  expect(times).toEqual([
    { model: DELL, step: 'prepare', median: 60, p99: 60, count: 10 },
    { model: DELL, step: 'deploy', median: 104, p99: 109, count: 10 },
    { model: HP, step: 'prepare', median: 60, p99: 60, count: 10 },
    { model: HP, step: 'deploy', median: 304, p99: 309, count: 10 },
  ]);
});

it('counts a node that no run has deployed as one of unknown hardware', async () => {
  const times = await learned([]).of('dc1', ['new']);
  expect(times.map(({ model, step, median }) => [model, step, median])).toEqual([
    [undefined, 'prepare', 60],
    [undefined, 'deploy', 500],
  ]);
});

it.each([
  { seconds: 109, pace: undefined },
  { seconds: 110, pace: 'slow' },
  { seconds: 218, pace: 'slow' },
  { seconds: 219, pace: 'stuck' },
])('a deployment on such hardware that has taken $seconds s is $pace', async ({ seconds, pace }) => {
  const [late] = await learned([running('d1', seconds, DELL), running('h1', seconds, HP)]).late({
    id: 'open',
    site: 'dc1',
  });
  expect(late?.pace).toBe(pace);
  if (pace !== undefined) expect(late).toMatchObject({ node: 'd1', model: DELL, step: 'deploy', p99: 109 });
});

it('names the one that is longest over its time first, and knows the model of a node from earlier runs', async () => {
  const late = await learned([running('h1', 320), running('d1', 200)]).late({ id: 'open', site: 'dc1' });
  expect(late.map(({ node, model }) => [node, model])).toEqual([
    ['d1', DELL],
    ['h1', HP],
  ]);
});

it('gives short steps a minute more before they are stuck', async () => {
  const quick = Array.from({ length: 10 }, (_, index) => deployed(`q${index}`, 1, 2, DELL));
  const paces = [61, 63].map(async (seconds) => {
    const [late] = await learned([running('q1', seconds, DELL)], quick).late({ id: 'open', site: 'dc1' });
    return late?.pace;
  });
  expect(await Promise.all(paces)).toEqual(['slow', 'stuck']);
});

it('says nothing after fewer than ten, nor of failed deployments', async () => {
  const few = Array.from({ length: 9 }, (_, index) => deployed(`q${index}`, 1, 2, DELL));
  const failed = { ...deployed('q9', 1, 2, DELL), state: 'failed' as const };
  const times = learned([running('q1', 900, DELL)], [...few, failed]);
  expect(await times.late({ id: 'open', site: 'dc1' })).toEqual([]);
  expect((await times.of('dc1', ['q1'])).map(({ step }) => step)).toEqual(['prepare']);
});
