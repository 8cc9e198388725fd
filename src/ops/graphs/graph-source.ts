import { printPath } from '../../core/data/plain-value.ts';
import { type Diagnostic, isError } from '../../core/problems/diagnostic.ts';
import { parseYaml, type YamlDocument } from '../../documents/index.ts';
import { checkGraphUpload, checkTaskList, type GraphSurroundings, type GraphUpload } from '../../graph/index.ts';
import { problem } from '../problem.ts';

/** A graph from a user: parsed JSON, or a text of YAML, whose problems are reported by line. */
export type GraphSource = { readonly body: unknown } | { readonly yaml: string };

export interface GraphReading {
  readonly source: GraphSource;
  /** `either`: a list is a list of tasks, all else a graph. */
  readonly as: 'graph' | 'tasks' | 'either';
  readonly surroundings: GraphSurroundings;
}

export interface ReadGraph {
  readonly upload: GraphUpload;
  /** Findings with their path, and their position in the text if it is YAML. */
  readonly diagnostics: readonly Diagnostic[];
}

/** @throws ProblemError `invalid` for a text that is not one document of YAML */
export function readGraph({ source, as, surroundings }: GraphReading): ReadGraph {
  const document = 'yaml' in source ? documentOf(source.yaml) : undefined;
  const body = 'yaml' in source ? document?.value : source.body;
  const isTasks = as === 'tasks' || (as === 'either' && Array.isArray(body));
  const { upload, problems } = isTasks ? checkTaskList(body, surroundings) : checkGraphUpload(body, surroundings);
  const diagnostics = problems.map(({ at, ...one }) => ({
    ...one,
    ...(at.length === 0 ? {} : { path: printPath(at) }),
    ...document?.place([...at]),
  }));
  return { upload, diagnostics };
}

function documentOf(text: string): YamlDocument {
  const { documents, diagnostics } = parseYaml(text);
  const errors = diagnostics.filter(isError);
  if (errors.length > 0) throw notAGraph(errors[0]!.message, errors);
  const [document, ...more] = documents.filter(({ empty }) => !empty);
  if (more.length > 0) throw notAGraph(`the body has ${more.length + 1} YAML documents`, []);
  if (document === undefined) throw emptyRequest();
  return document;
}

/** Nothing sent is not an empty graph. */
const emptyRequest = () => problem('invalid', 'Empty request received', { hint: 'Send a body, at least {}.' });

const notAGraph = (message: string, errors: readonly Diagnostic[]) =>
  problem('invalid', `the body is not a graph: ${message}`, {
    hint: errors[0]?.hint ?? 'Send one graph in one YAML document.',
    ...(errors.length === 0 ? {} : { errors }),
  });
