/**
 * YAQL: an expression language over data, complete and exact to yaql 3.2.0, in plain TypeScript. No dependencies, no
 * built-ins of Node, no clock, no randomness: usable in a Temporal workflow and in a browser.
 *
 * **One-off use.** Make an engine once and keep it; it remembers the expressions it has parsed.
 *
 * ```ts
 * const engine = createEngine();
 * engine.parse('$.nodes.where($.status = ready).name').evaluateToHost({ nodes }); // string[]
 * ```
 *
 * **Task fields, many (task, node) pairs.** The state of a node is `$` (the cluster's data with the node's on top),
 * `$node` and `$common`; `old(..)`, `changed(..)` … compare it with the state at the task's last successful run.
 * Data is converted once, states are cheap, and expressions are parsed once for the engine:
 *
 * ```ts
 * const engine = createTaskEngine();                       // one for the process
 * const common = prepareData(clusterData);                 // once for the cluster
 * for (const node of nodes) {
 *   const now = nodeState(common, prepareData(node.data)); // once for the node
 *   for (const task of tasks) {
 *     const old = lastRun(task, node);                     // a NodeState, or null: never run
 *     const scope = new TaskScope(engine, now, old);       // once for the pair
 *     scope.evaluateToHost('changed($.storage)');          // any number of expressions
 *   }
 * }
 * ```
 *
 * `engine.parse(text)` alone checks the syntax. Everything that goes wrong is a {@link YaqlError} with a class name, a
 * place and `describe()`.
 *
 * **Helper functions.** `engine.register({ name, call, parameters: [p.string('name')], documentation, implementation })`
 * adds a function; the types of the implementation's arguments follow from the parameters. `docs/reference/yaql.md` has examples.
 */
export {
  createEngine,
  Engine,
  type EngineOptions,
  type EvaluateOptions,
  Expression,
} from './engine.ts';
export { placeOf, type SourcePlace, YaqlError, type YaqlErrorClass } from './errors.ts';
export { decodeValue, type Encoded, encodeValue } from './interchange.ts';
export {
  insertOperator,
  legacyOperators,
  type Operator,
  type OperatorGroups,
  type OperatorInsertion,
  standardOperators,
} from './language/operators.ts';
export { maxNodeDepth } from './language/parser.ts';
export type { Argument, Node, Span } from './language/syntax-tree.ts';
export { type ContextOptions, createStandardContext, libraryFunctions } from './library/standard-context.ts';
export {
  changeFunctions,
  nailgunFunctions,
  newVariable,
  oldVariable,
  serializerFunctions,
} from './nailgun/functions.ts';
export {
  createTaskEngine,
  type NodeState,
  nodeState,
  optionsFor,
  type PreparedData,
  prepareData,
  TaskScope,
  taskEngineOptions,
} from './nailgun/task-evaluation.ts';
export { type EvaluationRecord, RecordEvaluator, type RecordOutcome } from './record.ts';
export { compileRegex, Regex, type RegexOptions } from './regex/regex.ts';
export type { RegexMatch } from './regex/template.ts';
export { Context, type FunctionDefinition } from './runtime/context.ts';
export { defineFunction, type FunctionSpec } from './runtime/function-definition.ts';
export { Lambda } from './runtime/lambda.ts';
export { defaultOptions, type EvaluationOptions, Runtime, type StepBudget } from './runtime/limits.ts';
export type { Parameter } from './runtime/parameter.ts';
export { keywords, nullable, optional, p, rest } from './runtime/parameters.ts';
export { type HelperModule, helpersOf, registerHelpers } from './user-functions.ts';
export { AnyOf, BackedDict, Dict, DictView, Tuple, ValueSet } from './values/collections.ts';
export { fromHost, toHost } from './values/conversion.ts';
export { equals } from './values/equality.ts';
export { iterate, LazyIterator, sequenceItems } from './values/iterators.ts';
export { Kind, kindName, kindOf, type Value } from './values/kind.ts';
export { Float, type Integer, type Numeric } from './values/numbers.ts';
export { toText } from './values/repr.ts';
export { DateTime, isoText, TimeSpan } from './values/time.ts';
export { isUndefinedMarker, undefinedMarker } from './values/undefined-marker.ts';
