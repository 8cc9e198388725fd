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
