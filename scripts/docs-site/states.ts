/** A line of a drawing that nothing here can draw. */
export class DrawingError extends Error {}

/**
 * The states of a `stateDiagram-v2`, as Graphviz draws them. Readers of the repository see Mermaid draw it; Mermaid itself
 * would be larger than the whole site, and needs a policy that permits styles in the page.
 */
export function dotOfStates(drawing: string): string {
  const [kind, ...lines] = drawing.trim().split('\n');
  if (kind !== 'stateDiagram-v2') throw new DrawingError(`only state diagrams are drawn, not '${kind}'`);
  const arrows = lines.map((line) => {
    const [, from, to, label = ''] = /^\s*(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: (.+))?$/.exec(line) ?? [];
    if (from === undefined || to === undefined)
      throw new DrawingError(`this line of a drawing is not understood: ${line}`);
    const name = (state: string, end: string) => (state === '[*]' ? end : state);
    return `"${name(from, 'begin')}" -> "${name(to, 'end')}" [label=${JSON.stringify(wrapped(label))}]`;
  });
  const dot = 'shape=circle width=0.15 fixedsize=true label="" style=filled fillcolor=currentColor';
  return `digraph { bgcolor=transparent color=currentColor fontcolor=currentColor rankdir=TB
node [shape=box style=rounded color=currentColor fontcolor=currentColor fontname="system-ui" fontsize=12]
edge [color=currentColor fontcolor=currentColor fontname="system-ui" fontsize=10]
begin [${dot}] end [${dot} shape=doublecircle]
${arrows.join('\n')} }`;
}

const wrapped = (label: string): string => label.replace(/(.{16,}?) /g, '$1\n');
