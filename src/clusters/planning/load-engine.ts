import { createTaskEngine, type Engine, type HelperModule, registerHelpers } from '@sitewright/yaql';
import { SetupError } from '../../core/problems/refusal.ts';
import { importUserModule } from '../../platform/user-module.ts';

/**
 * The engine for task fields, with the functions of the helper module at this path, if any.
 *
 * @throws SetupError if the module cannot be loaded
 */
export async function loadTaskEngine(helpers?: string): Promise<Engine> {
  const engine = createTaskEngine({ cacheSize: 20_000 });
  if (helpers === undefined) return engine;
  try {
    registerHelpers(engine, (await importUserModule(helpers)) as HelperModule);
  } catch (error) {
    throw new SetupError(
      'module',
      `the module of yaql.helpers, ${helpers}, cannot be used: ${(error as Error).message}`,
      { cause: error },
    );
  }
  return engine;
}
