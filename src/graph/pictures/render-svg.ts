import { graphviz, refused } from './graphviz.ts';

/**
 * Draws a graph in the DOT language as one SVG element. Nodes are `<g class="node">` with their name in `<title>`, where
 * a page finds it.
 *
 * @throws Error with Graphviz' message when the text is not valid DOT
 */
export async function renderSvg(dot: string): Promise<string> {
  const result = await graphviz(dot, 'svg');
  if (result.status !== 'success') throw refused(result.errors);
  // Without the XML declaration and document type: pages embed it unchanged.
  return result.output.slice(result.output.indexOf('<svg'));
}
