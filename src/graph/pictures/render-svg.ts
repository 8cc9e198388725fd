import type { Viz } from '@viz-js/viz';

let engine: Promise<Viz> | undefined;

/**
 * Draws a graph in the DOT language as one SVG element, laid out by Graphviz (compiled to WebAssembly, so that nothing
 * needs to be installed). The first picture loads the engine, in about 0.2 s. Nodes are
 * `<g class="node">` with their name in `<title>`, where a page finds it.
 *
 * @throws Error with Graphviz' message when the text is not valid DOT
 */
export async function renderSvg(dot: string): Promise<string> {
  engine ??= import('@viz-js/viz').then(({ instance }) => instance());
  const result = (await engine).render(dot, { format: 'svg', engine: 'dot', graphAttributes: effort(dot) });
  if (result.status !== 'success')
    throw new Error(`Graphviz cannot draw this: ${result.errors.map(({ message }) => message).join('; ')}`);
  // Without the XML declaration and document type: pages embed it unchanged.
  return result.output.slice(result.output.indexOf('<svg'));
}

/**
 * Limits of Graphviz' effort. With its defaults, the 1,100 edges of a real release's graph take 12 s; with these
 * 2 s, and the picture is a fifth larger.
 */
function effort(dot: string): Record<string, string | number> {
  const edges = dot.split(' -> ').length - 1;
  if (edges <= 300) return {};
  if (edges <= 2000) return { nslimit: 2, nslimit1: 2, mclimit: 0.5 };
  return { splines: 'line', nslimit: 1, nslimit1: 1, mclimit: 0.3 };
}
