import { MAX } from '../run/description.ts';
import { counted } from '../text/text.ts';
import { DEFAULT_GRAPHS, type GraphRunInput } from './input.ts';

/** Names in a title; of more, it has the number. */
const NAMES = 3;

const MODES = { dry_run: 'dry run', noop_run: 'no-op', apply: undefined, check: undefined } as const;

/**
 * The title of a graph run that nobody gave one: what runs where, and what makes it another run than the usual one, such
 * as its nodes and tasks. Runs of a cluster are told apart by it in lists, on the page and in Temporal.
 *
 * @param cluster its name
 * @param types the graphs that it runs; default: those that it asks for
 * @param nameOf the name of a node; default: its id
 */
export function titleOfGraphRun(
  input: GraphRunInput,
  cluster: string,
  { types, nameOf = String }: { readonly types?: readonly string[]; readonly nameOf?: (node: number) => string } = {},
): string {
  const graphs = input.graphs ?? [];
  const { checks } = input;
  const what = checks === undefined ? (types?.join(', ') ?? asked(input)) : `checks ${checks.names.join(', ')}`;
  const differences = [
    MODES[input.mode ?? 'apply'],
    input.from === undefined ? undefined : `the rest of run ${input.from}`,
    input.force ? 'forced' : undefined,
    some('node', [...new Set(graphs.flatMap(({ nodes }) => nodes ?? []))].map(nameOf)),
    some('task', [...new Set(graphs.flatMap(({ tasks }) => tasks ?? []))]),
    input.subgraphs === undefined ? undefined : counted(input.subgraphs.length, 'part'),
  ].filter((one) => one !== undefined);
  const title = `${what} on cluster ${cluster}${differences.length === 0 ? '' : `: ${differences.join(', ')}`}`;
  return title.length <= MAX.title ? title : `${title.slice(0, MAX.title - 1)}…`;
}

function asked({ graphs, sequence, from }: GraphRunInput): string {
  if (sequence !== undefined) return `sequence ${sequence}`;
  if (from !== undefined) return 'graphs';
  return (graphs ?? DEFAULT_GRAPHS).map(({ type }) => type).join(', ');
}

function some(kind: 'node' | 'task', names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return names.length > NAMES
    ? `only ${counted(names.length, kind)}`
    : `only ${names.length === 1 ? kind : `${kind}s`} ${names.join(' and ')}`;
}

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
