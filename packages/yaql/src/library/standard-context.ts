import { Context, type FunctionDefinition } from '../runtime/context.ts';
import { aggregationFunctions, groupByFunction } from './aggregation.ts';
import { arrangingFunctions } from './arranging.ts';
import { comparisonFunctions } from './comparison.ts';
import { datetimeFunctions } from './datetime.ts';
import { dictFunctions } from './dicts.ts';
import { filteringFunctions } from './filtering.ts';
import { calledBothWays, exclusiveLegacyFunctions, legacyFunctions } from './legacy.ts';
import { listFunctions } from './lists.ts';
import { booleanFunctions, branchingFunctions } from './logic.ts';
import { mathFunctions } from './math.ts';
import { regexFunctions } from './regex.ts';
import { setFunctions } from './sets.ts';
import { stringFunctions } from './strings.ts';
import { delegateFunctions, fallbacks, systemFunctions } from './system.ts';

/** The parts of the library that a context offers; default: all but delegates and legacy. */
export interface ContextOptions {
  /** `lambda(..)` and calls of function values. */
  readonly delegates?: boolean;
  /** Leaves sets out. */
  readonly noSets?: boolean;
  /** Lets aggregators of `groupBy` be of the form of before 1.1.1. On by default. */
  readonly groupByAggregatorFallback?: boolean;
  /** The functions of the 0.2 language on top. */
  readonly legacy?: boolean;
}

/** The standard library by chapters, for documentation. */
export const libraryFunctions: readonly FunctionDefinition[] = [
  ...fallbacks,
  ...systemFunctions,
  ...delegateFunctions,
  ...comparisonFunctions,
  ...booleanFunctions,
  ...branchingFunctions,
  ...mathFunctions,
  ...stringFunctions,
  ...regexFunctions,
  ...listFunctions,
  ...dictFunctions,
  ...setFunctions,
  ...filteringFunctions,
  ...aggregationFunctions,
  groupByFunction(true),
  ...arrangingFunctions,
  ...datetimeFunctions,
];

/** A context with the standard library. Make it once; give each evaluation a child of it. */
export function createStandardContext(options: ContextOptions = {}): Context {
  const base = new Context(null);
  for (const definition of fallbacks) base.register(definition);
  const context = new Context(base);
  const parts = [
    systemFunctions,
    comparisonFunctions,
    booleanFunctions,
    branchingFunctions,
    mathFunctions,
    stringFunctions,
    regexFunctions,
    listFunctions,
    dictFunctions,
    filteringFunctions,
    aggregationFunctions,
    [groupByFunction(options.groupByAggregatorFallback ?? true)],
    arrangingFunctions,
    datetimeFunctions,
  ];
  if (options.delegates === true) parts.push(delegateFunctions);
  if (options.noSets !== true) parts.push(setFunctions);
  for (const definition of parts.flat()) context.register(definition);
  return options.legacy === true ? withLegacy(context) : context;
}

function withLegacy(standard: Context): Context {
  const context = new Context(standard);
  for (const definition of legacyFunctions) context.register(definition);
  for (const definition of exclusiveLegacyFunctions) context.register(definition, true);
  for (const definition of standard.allFunctions())
    if (calledBothWays.includes(definition.name) && !(definition.isFunction && definition.isMethod))
      context.register({
        ...definition,
        isFunction: true,
        isMethod: definition.parameters.length > 0 || definition.rest !== null,
      });
  return context;
}
