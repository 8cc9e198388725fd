import { describe, expect, it } from 'vitest';
import { type ListedGraph, mapGraph } from '../../../src/graph/index.ts';

const task = (name: string, type = 'shell', ...tags: string[]) => ({ name, type, tags });

/** Two stages, with tasks before, between and after them. */
const STAGED: ListedGraph = {
  tasks: [
    task('early', 'shell', 'base'),
    task('pre', 'stage'),
    task('middle', 'shell', 'base', 'web'),
    task('late', 'shell', 'web'),
    task('post', 'stage'),
    task('last'),
  ],
  edges: [
    ['early', 'pre', false],
    ['pre', 'middle', false],
    ['pre', 'late', false],
    ['middle', 'late', true],
    ['late', 'post', false],
    ['early', 'post', false],
    ['post', 'last', false],
  ],
};
const groupsIn = (by: 'stage' | 'tag') =>
  Object.fromEntries(mapGraph(STAGED, { by }).boxes.map(({ name, tasks }) => [name, tasks]));

describe('a map of a graph', () => {
  it('groups tasks by the next stage', () => {
    expect(groupsIn('stage')).toEqual({
      pre: ['early', 'pre'],
      post: ['middle', 'late', 'post'],
      'after the last stage': ['last'],
    });
  });

  it('groups tasks by their tags', () => {
    expect(groupsIn('tag')).toEqual({
      base: ['early'],
      'base, web': ['middle'],
      web: ['late'],
      'without a tag': ['pre', 'post', 'last'],
    });
  });

  it('shows few tasks without groups, and many by stage where there are stages', () => {
    expect(mapGraph(STAGED)).toMatchObject({ by: 'none', groupings: ['none', 'stage', 'tag'] });
    const more = Array.from({ length: 40 }, (_, at) => task(`more-${at}`));
    expect(mapGraph({ ...STAGED, tasks: [...STAGED.tasks, ...more] }).by).toBe('stage');
    expect(mapGraph({ tasks: [...more, task('one'), task('two')], edges: [] })).toMatchObject({
      by: 'tag',
      groupings: ['none', 'tag'],
    });
  });

  it('opens groups; one edge joins two boxes, between nodes only if all of it is', () => {
    const { boxes, edges, frames } = mapGraph(STAGED, { by: 'stage', open: ['post'] });
    const named = edges.map(({ from, to, cross }) => [boxes[from]!.name, boxes[to]!.name, cross]);
    expect(frames).toEqual(['post']);
    expect(boxes.map(({ name, parent }) => [name, parent])).toEqual([
      ['pre', undefined],
      ['middle', 'post'],
      ['late', 'post'],
      ['post', 'post'],
      ['after the last stage', undefined],
    ]);
    expect(named).toEqual([
      ['pre', 'middle', false],
      ['pre', 'late', false],
      ['middle', 'late', true],
      ['late', 'post', false],
      ['pre', 'post', false],
      ['post', 'after the last stage', false],
    ]);
    expect(mapGraph(STAGED, { by: 'stage', open: ['*'] }).boxes).toHaveLength(6);
  });
});
