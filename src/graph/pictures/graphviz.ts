import type { RenderResult, Viz } from '@viz-js/viz';

let engine: Promise<Viz> | undefined;

/**
 * Graphviz, compiled to WebAssembly, so that nothing needs to be installed. The first use loads it, in about 0.2 s. It
 * lays out all graphs that are drawn, also those on the page: 2,000 tasks in two seconds, where JavaScript took minutes.
 */
export async function graphviz(dot: string, format: 'svg' | 'json0'): Promise<RenderResult> {
  return (await loadGraphviz()).render(dot, { format, engine: 'dot', graphAttributes: effort(dot) });
}

/** Before it is first used, where its loading should count for no drawing. */
export function loadGraphviz(): Promise<Viz> {
  engine ??= import('@viz-js/viz').then(({ instance }) => instance());
  return engine;
}

export const refused = (errors: readonly { readonly message: string }[]): Error =>
  new Error(`Graphviz cannot draw this: ${errors.map(({ message }) => message).join('; ')}`);

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
