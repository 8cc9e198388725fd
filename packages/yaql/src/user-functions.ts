import type { Engine } from './engine.ts';
import { YaqlError } from './errors.ts';
import type { FunctionDefinition } from './runtime/context.ts';

/**
 * The export `helpers` of a module of helper functions (or by default): definitions made by `defineFunction`. Loading
 * the module named in the configuration is up to the program; this library does no I/O.
 */
export interface HelperModule {
  readonly helpers?: readonly FunctionDefinition[];
  readonly default?: readonly FunctionDefinition[];
}

/**
 * The functions of a loaded module. Throws YaqlError (ArgumentException) with the problems of a module that does not
 * match {@link HelperModule}.
 */
export function helpersOf(module: HelperModule): readonly FunctionDefinition[] {
  const helpers = module.helpers ?? module.default;
  if (!Array.isArray(helpers))
    throw new YaqlError(
      'ArgumentException',
      'A helper module exports `helpers`, an array of defineFunction(..) results',
    );
  const problems = helpers.flatMap((helper, i) => (isDefinition(helper) ? [] : [`helpers[${i}]`]));
  if (problems.length > 0)
    throw new YaqlError('ArgumentException', `Not made by defineFunction(..): ${problems.join(', ')}`);
  return helpers;
}

/** Adds the functions of a loaded module to an engine and gives their names. Throws as {@link helpersOf} does. */
export function registerHelpers(engine: Engine, module: HelperModule): string[] {
  const helpers = helpersOf(module);
  engine.registerDefinitions(helpers);
  return helpers.map(({ name }) => name);
}

function isDefinition(candidate: unknown): candidate is FunctionDefinition {
  if (typeof candidate !== 'object' || candidate === null) return false;
  const { name, parameters, implementation } = candidate as Partial<FunctionDefinition>;
  return typeof name === 'string' && Array.isArray(parameters) && typeof implementation === 'function';
}
