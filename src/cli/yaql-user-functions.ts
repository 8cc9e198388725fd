import { pathToFileURL } from 'node:url';
import { usageError } from './problem.ts';
import type { Session } from './session.ts';

/** The module of helper functions from the setting `yaql.helpers`; null without one. */
export async function loadYaqlHelpers(session: Session): Promise<unknown> {
  const { helpers } = (await session.settings()).settings.yaql;
  if (helpers === undefined) return null;
  try {
    return await import(pathToFileURL(helpers).href);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageError(
      `the YAQL helpers in ${helpers} cannot be loaded: ${why}`,
      'Correct the module, or the setting yaql.helpers.',
    );
  }
}
