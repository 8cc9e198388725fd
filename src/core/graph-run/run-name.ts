/**
 * The name of a graph's run that agents keep journals by. Numbers of transactions start again in a new or restored store,
 * so the name has the run id of the workflow, which the run keeps for good, also over resets.
 */
export const graphRunName = (graph: number, execution: string): string => `${graph}.${execution}`;

interface GraphRunName {
  readonly graph: number;
  readonly execution: string;
}

export function readGraphRunName(name: string): GraphRunName | undefined {
  const [, graph, execution] = /^([1-9]\d{0,14})\.([\w-]{1,200})$/.exec(name) ?? [];
  return graph === undefined || execution === undefined ? undefined : { graph: Number(graph), execution };
}
