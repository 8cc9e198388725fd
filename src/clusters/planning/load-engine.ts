import { pathToFileURL } from 'node:url';
import { createTaskEngine, type Engine, type HelperModule, registerHelpers } from '../../yaql/index.js';

/** The engine for task fields, with the functions of the helper module at this path, if any. */
export async function loadTaskEngine(helpers?: string): Promise<Engine> {
  const engine = createTaskEngine({ cacheSize: 20_000 });
  if (helpers !== undefined) registerHelpers(engine, (await import(pathToFileURL(helpers).href)) as HelperModule);
  return engine;
}
