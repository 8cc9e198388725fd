import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { simulateFile } from '../../../src/cli/commands/graph-simulate.ts';

describe('sitewright graph simulate', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simulate-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const run = async (content: string) => {
    const file = join(folder, 'plans.json');
    await writeFile(file, content);
    let out = '';
    let err = '';
    const code = await simulateFile(file, (text) => (out += text), { err: (text) => void (err += text) });
    return { code, out, err: err.replaceAll(file, 'plans.json') };
  };

  const plan = (id: string) => ({ id, nodes: [{ id: '1', kind: 'node' }], tasks: [{ id: 'a', node: '1' }], edges: [] });

  it('prints one line for each line of input', async () => {
    const { code, out } = await run(`${JSON.stringify(plan('x'))}\n\n${JSON.stringify(plan('y'))}\n`);
    expect(code).toBe(0);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(
      ['x', 'y'].map((id) => ({
        id,
        result: 'success',
        tasks: { 'a@1': 'successful' },
        nodes: { '1': 'successful' },
        root_causes: {},
        weights: { 'a@1': '0' },
        trace: [
          { t: 1, event: 'start', task: 'a@1' },
          { t: 2, event: 'end', task: 'a@1', outcome: 'successful' },
        ],
      })),
    );
  });

  it('reads one value over several lines, and null as absent', async () => {
    const { code, out } = await run(JSON.stringify({ ...plan('x'), limits: null, stop_after: 0 }, null, 2));
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      result: 'stopped',
      tasks: { 'a@1': 'skipped' },
      nodes: { '1': 'skipped' },
    });
  });

  it('names every problem with its place, and still runs the other lines', async () => {
    const bad = { id: 1, nodes: [{ id: '1', kind: 'disk' }], tasks: [{ id: 'a' }], edges: [['a@1']], stop_after: -1 };
    const { code, out, err } = await run(`${JSON.stringify(bad)}\n${JSON.stringify(plan('y'))}\n{"id":\n`);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ id: 'y', result: 'success' });
    expect(err.split('\n').filter((line) => line.startsWith('plans.json'))).toEqual([
      'plans.json:1: error[simulation.bad-input]: id: must be text, is a number',
      'plans.json:1: error[simulation.bad-input]: nodes[0].kind: must be one of node, sync, is "disk"',
      'plans.json:1: error[simulation.bad-input]: tasks[0].node: must be text, is missing',
      'plans.json:1: error[simulation.bad-input]: edges[0]: an edge is a pair of tasks',
      'plans.json:1: error[simulation.bad-input]: stop_after: must be a whole number of 0 or more, is -1',
      'plans.json:3:7: error[simulation.bad-json]: not valid JSON: a value is missing here',
    ]);
  });

  it('refuses undefined names, all of them together', async () => {
    const { code, out } = await run(
      JSON.stringify({
        ...plan('x'),
        edges: [
          ['a@1', 'b@1'],
          ['c@2', 'a@1'],
        ],
      }),
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      result: 'refused',
      reason: 'bad_reference',
      refusal: { problems: ["edges[0][1]: there is no task 'b@1'", "edges[1][0]: there is no task 'c@2'"] },
    });
  });

  it.each(['', 'nonsense', '[]]', '3', 'null', '"x"'])('refuses %j without crashing', async (content) => {
    const { code, out, err } = await run(content);
    expect(code).toBe(1);
    expect(out).toBe('');
    expect(err).toContain('plans.json');
  });

  it('reports a missing file', async () => {
    const simulated = simulateFile(join(folder, 'none'), () => undefined, { err: () => undefined });
    await expect(simulated).rejects.toMatchObject({
      exitCode: 3,
      problem: { hint: expect.stringContaining('Name a readable file') },
    });
  });
});
