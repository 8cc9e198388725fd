import type { Engine } from './engine.ts';
import { YaqlError } from './errors.ts';
import type { FunctionDefinition } from './runtime/function-definition.ts';

/**
 * What a module of helper functions exports as `helpers` (or by default): definitions made by `defineFunction`. Loading
 * the module named in the configuration is up to the program; this library does no I/O.
 */
export interface HelperModule {
  readonly helpers?: readonly FunctionDefinition[];
  readonly default?: readonly FunctionDefinition[];
}

/**
 * Adds the functions of a loaded module to an engine and gives their names. Throws YaqlError (ArgumentException) that
 * says what is wrong with a module that does not fit {@link HelperModule}.
 */
export function registerHelpers(engine: Engine, module: HelperModule): string[] {
  const helpers = module.helpers ?? module.default;
  if (!Array.isArray(helpers))
    throw new YaqlError(
      'ArgumentException',
      'A helper module exports `helpers`, an array of defineFunction(..) results',
    );
  const problems = helpers.flatMap((helper, i) => (isDefinition(helper) ? [] : [`helpers[${i}]`]));
  if (problems.length > 0)
    throw new YaqlError('ArgumentException', `Not made by defineFunction(..): ${problems.join(', ')}`);
  engine.registerDefinitions(helpers);
  return helpers.map((helper: FunctionDefinition) => helper.name);
}

function isDefinition(candidate: unknown): candidate is FunctionDefinition {
  if (typeof candidate !== 'object' || candidate === null) return false;
  const { name, parameters, implementation } = candidate as Partial<FunctionDefinition>;
  return typeof name === 'string' && Array.isArray(parameters) && typeof implementation === 'function';
}
