import { describe, expect, it } from 'vitest';
import { renderSvg } from '../../../../src/graph/pictures/render-svg.ts';

describe('renderSvg', () => {
  it('draws every node under its name, and every edge', async () => {
    const svg = await renderSvg('digraph G { "a-b" [style=filled]; c; "a-b" -> c; }');
    expect(svg.startsWith('<svg')).toBe(true);
    expect([...svg.matchAll(/<g [^>]*class="node">\s*<title>([^<]*)</g)].map(([, name]) => name)).toEqual([
      'a&#45;b',
      'c',
    ]);
    expect(svg.match(/class="edge"/g)).toHaveLength(1);
  });

  it('escapes names', async () => {
    const svg = await renderSvg('digraph G { "<script>alert(1)</script>"; }');
    expect(svg).not.toContain('<script');
  });

  it('refuses invalid DOT, with a message', async () => {
    await expect(renderSvg('digraph {')).rejects.toThrow(/Graphviz cannot draw this: syntax error/);
  });
});
