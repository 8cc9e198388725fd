// Packages of this repository go into a bundle, unlike those from a registry: npm links them into node_modules, and an
// installation has no such links.
import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);

/** @type {import('esbuild').Plugin} */
export const ownPackages = {
  name: 'own-packages',
  setup({ onResolve }) {
    onResolve({ filter: /^@sitewright\// }, ({ path }) => ({ path: resolve(path) }));
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
