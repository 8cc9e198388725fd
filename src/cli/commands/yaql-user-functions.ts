import type { FunctionDefinition, HelperModule } from '@sitewright/yaql';
import { importUserModule } from '../../platform/user-module.ts';
import { usageError } from '../shell/problem.ts';
import type { Session } from '../shell/session.ts';

/** The helper functions of the installation: those of the module in the setting `yaql.helpers`. */
export async function loadYaqlHelpers(session: Session): Promise<readonly FunctionDefinition[]> {
  const { helpers } = (await session.settings()).settings.yaql;
  if (helpers === undefined) return [];
  try {
    const { helpersOf } = await import('@sitewright/yaql');
    return helpersOf((await importUserModule(helpers)) as HelperModule);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw usageError(
      `the YAQL helpers in ${helpers} cannot be loaded: ${why}`,
      'Correct the module, or the setting yaql.helpers.',
    );
  }
}
