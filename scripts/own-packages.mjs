// Packages of this repository go into a bundle, unlike those from a registry: npm links them into node_modules, and an
// installation has no such links. So does zod/mini: a program uses a tenth of it, and loads all of it otherwise, in 60 ms.
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const { resolve } = createRequire(import.meta.url);

/** @type {import('esbuild').Plugin} */
export const ownPackages = {
  name: 'own-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^@sitewright\// }, ({ path }) => ({ path: resolve(path) }));
    onResolve({ filter: /^zod\/mini$/ }, ({ path }) => ({ path: fileURLToPath(import.meta.resolve(path)) }));
  },
};

/**
 * Before it, for what users run: the simulator of MAAS stays a package of its own, which only trials load. Its public keys are
 * in the programs too.
 *
 * @type {import('esbuild').Plugin}
 */
export const simulatorApart = {
  name: 'simulator-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^@sitewright\/maas-simulator(?:\/containers)?$/ }, ({ path }) => {
      const module = path.endsWith('/containers') ? 'containers' : 'index';
      return { path: `@sitewright/maas-simulator/dist/${module}.js`, external: true };
    });
  },
};
