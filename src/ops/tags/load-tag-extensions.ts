import { importUserModule } from '../../platform/user-module.ts';
import { problem } from '../problem.ts';
import { readTagExtensions, type TagExtension } from './tag-extension.ts';

/** Loads the module in the setting `tags.extensions` once. A broken module refuses assignments. */
export function tagExtensionsOf(path: string | undefined): () => Promise<readonly TagExtension[]> {
  let loaded: Promise<readonly TagExtension[]> | undefined;
  return () => {
    if (path === undefined) return Promise.resolve([]);
    loaded ??= importUserModule(path).then((module) => readTagExtensions(module, path));
    return loaded.catch((error: unknown) => {
      loaded = undefined;
      const why = error instanceof Error ? error.message : String(error);
      throw problem('invalid', `the tag extensions in ${path} cannot be loaded: ${why}`, {
        hint: 'Correct the module, or the setting tags.extensions.',
      });
    });
  };
}
