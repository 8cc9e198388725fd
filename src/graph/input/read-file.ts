import { Float } from '@sitewright/yaql';
import type { ValuePath } from '../../core/data/plain-value.ts';
import type { Diagnostic } from '../../core/problems/diagnostic.ts';
import { type DataNode, nearestPlace, type ScalarKind } from '../../documents/reader/data-node.ts';
import { nodeValue } from '../../documents/reader/node-value.ts';
import { type JsonReading, readJson, readJsonValue } from '../../documents/reader/read-json.ts';
import { locate, type Place, SourceText } from '../../documents/reader/source-text.ts';
import { Problems } from '../../packages/problems.ts';
import { readPackageYaml } from '../../packages/read-yaml.ts';
import type { PlanInput } from '../plan-graph.ts';
import type { GraphProblem } from '../problem.ts';
import { readPlanInput } from './read-input.ts';

/** The content of a file, with places. */
export interface GraphSource {
  readonly file: string;
  readonly value: unknown;
  /** Warnings about the text itself, such as duplicate keys. */
  readonly warnings: readonly Diagnostic[];
  /** The place of the value at a path, or of its key; of the nearest value above it. */
  place(path: ValuePath, part?: 'key' | 'value'): Pick<Place, 'line' | 'column' | 'text'>;
}

type ReadSource =
  | { readonly ok: true; readonly source: GraphSource }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/** Reads JSON or YAML: JSON when the text starts like JSON and the file is not named `.yaml` or `.yml`. */
export function readSource(text: string, file: string): ReadSource {
  const content = text.replace(/^\uFEFF/, '');
  return /^\s*[[{]/.test(content) && !/\.ya?ml$/i.test(file) ? fromJson(content, file) : fromYaml(content, file);
}

/** Deeper than any real data, but shallow enough for recursion. */
const MAX_JSON_DEPTH = 500;

function fromJson(content: string, file: string): ReadSource {
  const source = new SourceText(content, file);
  const options = { maxDepth: MAX_JSON_DEPTH, constants: false };
  const json = readJsonValue(source, options, exactNumber);
  if (json.ok) {
    // Most files have no problem to place.
    let tree: JsonReading<DataNode> | undefined;
    const place = (path: ValuePath, part?: 'key' | 'value') => {
      tree ??= readJson(source, options);
      return placeOf(tree.ok ? nearestPlace(tree.root, path, part) : locate(tree.at));
    };
    return { ok: true, source: { file, value: json.root, warnings: [], place } };
  }
  const [code, message, hint] = ['graph.bad-json', `not valid JSON: ${json.message}`, 'Check the JSON there.'];
  return { ok: false, problems: [{ severity: 'error', code, message, hint, file, ...placeOf(locate(json.at)) }] };
}

const placeOf = ({ line, column, text }: Place) => ({ line, column, text });

/**
 * One YAML document as Fuel users write graphs: scalars as PyYAML reads them, no tags. Keys become texts and
 * dates ISO text, as in the JSON upload of such a file.
 */
function fromYaml(content: string, file: string): ReadSource {
  const problems = new Problems();
  const root = readPackageYaml(content, file, problems);
  if (root === undefined) return { ok: false, problems: problems.list };
  return {
    ok: true,
    source: {
      file,
      value: nodeValue(root, ({ kind, value }) => (typeof value === 'number' ? exactNumber(kind, value) : value)),
      warnings: problems.list,
      place: (path, part) => placeOf(nearestPlace(root, path, part)),
    },
  };
}

/** Keeps numbers as exact as expressions need: `1.0` is a float, an integer beyond 2^53 in JSON a bigint. */
function exactNumber(kind: ScalarKind, value: number, written?: string): unknown {
  if (!Number.isInteger(value)) return value;
  if (kind === 'float') return new Float(value);
  return Number.isSafeInteger(value) || written === undefined ? value : BigInt(written);
}

type ReadText =
  | {
      readonly ok: true;
      readonly input: PlanInput;
      readonly problems: readonly Diagnostic[];
      readonly source: GraphSource;
    }
  | { readonly ok: false; readonly problems: readonly Diagnostic[] };

/** Reads an input from the text of a JSON or YAML file; problems carry file, line and column. */
export function readPlanText(text: string, file: string): ReadText {
  const read = readSource(text, file);
  if (!read.ok) return read;
  const { source } = read;
  const input = readPlanInput(source.value);
  const problems = [...source.warnings, ...placeInSource(input.problems, source)];
  return input.ok ? { ok: true, input: input.input, problems, source } : { ok: false, problems };
}

/** Adds the places in the text to problems. */
export function placeInSource(problems: readonly GraphProblem[], source: GraphSource): Diagnostic[] {
  return problems.map(({ at, ...problem }) => {
    const part = problem.code === 'graph.unknown-key' ? 'key' : 'value';
    return { ...problem, file: source.file, ...source.place(at, part) };
  });
}
