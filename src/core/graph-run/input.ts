import { checkRunDescription, type RunDescription } from '../run-description.js';

/** One graph of a run: all tasks of a type, for all nodes that its filter takes, unless it says otherwise. */
export interface GraphRequest {
  readonly type: string;
  /** Ids of nodes; switches the graph's node filter off. */
  readonly nodes?: readonly number[];
  /** Tasks that may run; the others keep their places in the order. */
  readonly tasks?: readonly string[];
}

export type GraphRunMode = 'apply' | 'dry_run' | 'noop_run';

/** Input of `execute_graph`: one JSON object (design §5). Give `graphs`, or `sequence`, or `from`; none of them: the graph of type `default`. */
export interface GraphRunInput extends RunDescription {
  readonly cluster: number;
  readonly graphs?: readonly GraphRequest[];
  /** Id of a sequence of the cluster's release. */
  readonly sequence?: number;
  /** Id of an earlier transaction: only what failed there, was left undone, and everything after it. */
  readonly from?: number;
  readonly mode?: GraphRunMode;
  /** Ignores earlier states: every condition sees everything as changed. */
  readonly force?: boolean;
  /** Asks task runners for more detail. */
  readonly debug?: boolean;
  readonly subgraphs?: readonly { readonly start?: readonly string[]; readonly end?: readonly string[] }[];
  /** Most nodes busy at once; 0 or absent: no limit. */
  readonly max_nodes?: number;
  /**
   * true: a graph with failed tasks is not ended when all is quiet. It stays open until an operator retried or skipped
   * what failed (`retry_task`, `skip_task`), or ends it with `stop`. Default false.
   */
  readonly hold_on_failure?: boolean;
  /** The transaction that was made for this run by the API; absent when started from Temporal's CLI. */
  readonly transaction?: number;
  readonly started_by?: string;
  readonly reason?: string;
}

export type ParsedGraphRunInput =
  | { readonly ok: true; readonly input: GraphRunInput }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Problems of a value, each as the end of a sentence that begins with its place. */
type Check = (value: unknown) => readonly (readonly [place: string, problem: string])[];

const simple =
  (ok: (value: unknown) => boolean, problem: string): Check =>
  (value) =>
    ok(value) ? [] : [['', problem]];

const described =
  (field: keyof RunDescription): Check =>
  (value) => {
    const problem = checkRunDescription[field](value);
    return problem === null ? [] : [['', problem]];
  };

const isId = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

const id = simple(isId, 'must be a whole number above 0');
const text = simple(isText, 'must be a non-empty text');
const flag = simple((value) => typeof value === 'boolean', 'must be true or false');
const limit = simple(
  (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0,
  'must be a whole number, 0 for no limit',
);
const mode = simple(
  (value) => value === 'apply' || value === 'dry_run' || value === 'noop_run',
  'must be "apply", "dry_run" or "noop_run"',
);

/** A list of which every item is checked; `least` is how many it must hold. */
const list =
  (item: Check, least = 0): Check =>
  (value) => {
    if (!Array.isArray(value)) return [['', 'must be a list']];
    if (value.length < least) return [['', `must hold at least ${least}`]];
    return value.flatMap((one, at) => item(one).map(([place, problem]) => [`[${at}]${place}`, problem] as const));
  };

const object =
  (fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [['', 'must be an object']];
    return [
      ...required.filter((name) => !Object.hasOwn(value, name)).map((name) => [`.${name}`, 'is missing'] as const),
      ...Object.entries(value).flatMap(([name, one]) => {
        const check = Object.hasOwn(fields, name) ? fields[name] : undefined;
        if (check === undefined) {
          return [[`.${name}`, `is unknown (known: ${Object.keys(fields).join(', ')})`] as const];
        }
        return check(one).map(([place, problem]) => [`.${name}${place}`, problem] as const);
      }),
    ];
  };

const graphs: Check = (value) => {
  const found = list(object({ type: text, nodes: list(id, 1), tasks: list(text, 1) }, ['type']), 1)(value);
  if (found.length > 0) return found;
  const types = (value as readonly GraphRequest[]).map((graph) => graph.type);
  const twice = types.filter((type, at) => types.indexOf(type) !== at);
  return twice.length > 0 ? [['', `names ${twice[0]} twice: a run executes a type once`]] : [];
};

const FIELDS: Readonly<Record<keyof GraphRunInput, Check>> = {
  cluster: id,
  graphs,
  sequence: id,
  from: id,
  mode,
  force: flag,
  debug: flag,
  subgraphs: list(object({ start: list(text), end: list(text) })),
  max_nodes: limit,
  hold_on_failure: flag,
  transaction: id,
  started_by: text,
  reason: text,
  title: described('title'),
  description: described('description'),
  labels: described('labels'),
};

/** What chooses the graphs of a run; at most one of them can. */
const CHOICES = ['graphs', 'sequence', 'from'] as const;

/** Checks the workflow's arguments by hand (no schema library runs in a workflow); names every bad field. */
export function parseGraphRunInput(args: readonly unknown[]): ParsedGraphRunInput {
  const [raw] = args;
  if (args.length !== 1 || typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { ok: false, problems: ['input must be one JSON object, e.g. {"cluster":1,"graphs":[{"type":"default"}]}'] };
  }
  const problems = object(FIELDS, ['cluster'])(raw).map(([place, problem]) => {
    const name = place.slice(1);
    if (problem === 'is missing') return `missing field '${name}'`;
    return problem.startsWith('is unknown')
      ? `unknown field '${name}' ${problem.slice(11)}`
      : `field '${name}' ${problem}`;
  });
  const chosen = CHOICES.filter((name) => Object.hasOwn(raw, name));
  if (chosen.length > 1) {
    problems.push(`fields ${chosen.map((name) => `'${name}'`).join(' and ')} exclude each other: give one of them`);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, input: raw as GraphRunInput };
}
