import { describe, expect, it } from 'vitest';
import { checkGraph, diffGraphs, drawGraph, normaliseTask, readTasks, taskGraph } from '../../../src/graph/index.ts';
import { type Json, recorded } from './recorded.ts';

const stage = (id: string, requires?: string): Json => ({
  id,
  type: 'stage',
  ...(requires ? { requires: [requires] } : {}),
});

/** The graph whose drawings the recorded session holds, merged: cluster and plugin first, then the release. */
const session = [
  { id: 'plug-a', type: 'shell', role: ['compute'] },
  stage('pre_deployment_start'),
  stage('pre_deployment_end', 'pre_deployment_start'),
  stage('deploy_start', 'pre_deployment_end'),
  stage('deploy_end', 'deploy_start'),
  stage('post_deployment_start', 'deploy_end'),
  stage('post_deployment_end', 'post_deployment_start'),
  { id: 'controller', type: 'group', role: ['controller'], requires: ['deploy_start'], required_for: ['deploy_end'] },
  { id: 'rel-a', type: 'puppet', groups: ['controller'], requires: ['deploy_start'], required_for: ['deploy_end'] },
  { id: 'rel-b', type: 'skipped', role: '*', requires: ['rel-a'] },
].map(normaliseTask);

const entries = recorded('rest-transcript.json') as Json[];
const drawn = (query: string): string =>
  entries.find(({ url }) => url === `/clusters/1/deploy_tasks/graph.gv${query}`)!.response;
/** The content of a drawing: the order of lines is the drawer's. */
const lines = (text: string): string[] => text.split('\n').sort();

describe('drawing for Graphviz', () => {
  it.each([
    ['', {}],
    ['?tasks=rel-a', { tasks: ['rel-a'] }],
    ['?parents_for=rel-a', { parentsFor: 'rel-a' }],
    ['?remove=stage', { remove: ['stage'] }],
    ['?tasks=rel-a&remove=stage,group', { tasks: ['rel-a'], remove: ['stage', 'group'] }],
  ])('is the recorded one for %j', (query, options) => {
    expect(lines(drawGraph(session, options))).toEqual(lines(drawn(query)));
  });

  it('a cycle is drawn, a loop makes the graph not strict', () => {
    const tasks = [
      normaliseTask({ id: 'x', type: 'shell', requires: ['y'] }),
      normaliseTask({ id: 'y', type: 'shell', requires: ['x'] }),
    ];
    expect(lines(drawGraph(tasks))).toEqual(lines(drawn('?graph_type=cyc')));
    expect(drawGraph([normaliseTask({ id: 'x', type: 'shell', requires: ['x'] })])).toMatch(/^digraph G/);
  });

  it('dependencies between nodes are dashed, patterns lead to their matches, names are quoted', () => {
    const tasks = [
      normaliseTask({ id: 'a"b', type: 'shell', 'cross-depends': [{ name: '/node/' }] }),
      normaliseTask({ id: 'node', type: 'shell' }),
    ];
    expect(drawGraph(tasks)).toContain('"node" -> "a\\"b" [style=dashed];');
    expect(drawGraph(tasks)).not.toContain('class');
    expect(drawGraph(tasks, { classes: true })).toContain('"node" [color=yellowgreen, style=filled, class=task];');
  });

  it('the whole library can be drawn with selected tasks', () => {
    const { tasks } = readTasks(recorded('tasks.raw.json'));
    const all = tasks.map(({ task }) => task);
    const drawing = drawGraph(all, { tasks: ['netconfig'], cross: false });
    expect(drawing).toContain('netconfig [color=yellowgreen, style=filled];');
    expect(drawing).toContain('globals [color=gray95];');
    expect(taskGraph(all).order).toBeGreaterThanOrEqual(204);
  });
});

describe('graphs without nodes', () => {
  it('the recorded graphs have no problems', () => {
    const { tasks, problems } = readTasks(recorded('tasks.raw.json'));
    const errors = [...problems, ...checkGraph(tasks)].filter(({ severity }) => severity === 'error');
    expect(errors).toEqual([]);
  });

  it('every other graph of the library can be read', () => {
    for (const graph of Object.values(recorded('graphs.extra.json') as Record<string, Json>)) {
      const { tasks, problems } = readTasks(graph);
      expect(problems).toEqual([]);
      expect(tasks.length).toBe((graph.tasks as unknown[]).length);
    }
  });

  it('the stored form of a graph equals the uploaded one', () => {
    const [raw, stored] = ['raw', 'normalized'].map((form) =>
      readTasks(recorded(`tasks.${form}.json`)).tasks.map(({ task }) => task),
    );
    expect(diffGraphs(raw!, stored!)).toEqual({ added: [], removed: [], changed: [] });
  });
});
