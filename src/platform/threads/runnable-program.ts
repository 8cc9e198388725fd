import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { builtFile } from '../installation.ts';

/**
 * The file to run one of our programs in its own thread or process: its bundle, which starts in a tenth of the time of its
 * modules. Programs that are not built (those of tests) run as they are.
 *
 * @param source the program, e.g. `new URL('./drawing-main.ts', import.meta.url)`
 */
export function runnableProgram(source: URL): URL {
  const name = `${basename(source.pathname, '.ts')}.js`;
  // All programs and their shared code are bundled into one folder.
  if (!import.meta.url.endsWith('.ts')) return new URL(name, import.meta.url);
  const built = pathToFileURL(builtFile(`programs/${name}`));
  return existsSync(built) ? built : source;
}
