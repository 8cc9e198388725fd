import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { builtFile } from './installation.ts';

/** The name by which modules of users import the language. */
const LANGUAGE = 'sitewright/yaql';

let isRegistered = false;

/**
 * Loads a module of a user, wherever it lies. It imports `sitewright/yaql` from this installation, from the copy that this program runs:
 * values of another copy are no values here.
 */
export async function importUserModule(path: string): Promise<unknown> {
  if (!isRegistered) {
    registerHooks({
      resolve: (specifier, context, next) =>
        specifier === LANGUAGE ? { url: languageUrl(), shortCircuit: true } : next(specifier, context),
    });
    isRegistered = true;
  }
  return import(pathToFileURL(path).href);
}

/** All programs and their shared code are bundled into one folder. */
const languageUrl = (): string =>
  import.meta.url.endsWith('.ts')
    ? pathToFileURL(builtFile('programs/yaql.js')).href
    : new URL('yaql.js', import.meta.url).href;
