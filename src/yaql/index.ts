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
 * adds a function; the types of the implementation's arguments follow from the parameters. `docs/yaql.md` has examples.
 */
export {
  createEngine,
  Engine,
  type EngineOptions,
  type EvaluateOptions,
  Expression,
} from './engine.js';
export { placeOf, type SourcePlace, YaqlError, type YaqlErrorClass } from './errors.js';
export { decodeValue, type Encoded, encodeValue } from './interchange.js';
export {
  insertOperator,
  legacyOperators,
  type Operator,
  type OperatorGroups,
  type OperatorInsertion,
  standardOperators,
} from './language/operators.js';
export { maxNodeDepth } from './language/parser.js';
export type { Argument, Node, Span } from './language/syntax-tree.js';
export { type ContextOptions, createStandardContext, libraryFunctions } from './library/standard-context.js';
export { changeFunctions, nailgunFunctions, serializerFunctions } from './nailgun/functions.js';
export {
  createTaskEngine,
  type NodeState,
  nodeState,
  type PreparedData,
  prepareData,
  TaskScope,
  taskEngineOptions,
} from './nailgun/task-evaluation.js';
export { type EvaluationRecord, RecordEvaluator, type RecordOutcome } from './record.js';
export { compileRegex, Regex, type RegexMatch, type RegexOptions } from './regex/regex.js';
export { Context } from './runtime/context.js';
export { defineFunction, type FunctionDefinition, type FunctionSpec } from './runtime/function-definition.js';
export { Lambda } from './runtime/lambda.js';
export { defaultOptions, type EvaluationOptions } from './runtime/limits.js';
export { keywords, nullable, optional, type Parameter, p, rest } from './runtime/parameters.js';
export { type HelperModule, registerHelpers } from './user-functions.js';
export { AnyOf, BackedDict, Dict, DictView, Tuple, ValueSet } from './values/collections.js';
export { fromHost, toHost } from './values/conversion.js';
export { equals } from './values/equality.js';
export { iterate, LazyIterator, sequenceItems } from './values/iterators.js';
export { Kind, kindName, kindOf, type Value } from './values/kind.js';
export { Float, type Integer, type Numeric } from './values/numbers.js';
export { toText } from './values/repr.js';
export { DateTime, isoText, TimeSpan } from './values/time.js';
export { isUndefinedMarker, undefinedMarker } from './values/undefined-marker.js';
