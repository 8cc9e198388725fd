// Bundles the workflow code once, so that a worker starts in a second instead of ten. The bundle is keyed by the
// content of its sources: unchanged sources are not bundled again.
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { contentKey } from './content-key.mjs';
import { withLock } from './lock.mjs';

/** Syntax of the bundle; Node.js 20 supports all of it. */
const SYNTAX = 'es2022';

/**
 * @typedef {object} WorkflowBundleFile
 * @property {string} codePath file to pass to `Worker.create({ workflowBundle: { codePath } })`
 * @property {string} key hash of the sources and of the SDK's version
 * @property {number} bytes size of the bundle
 * @property {boolean} fresh whether it has just been made
 */

/**
 * Writes the bundle of `entry` to `target`, unless it is up to date. With concurrent callers, one bundles and the
 * others wait for it. Needs the installed packages.
 *
 * @param {object} options
 * @param {string} options.entry the module whose named exports are the workflow types
 * @param {readonly string[]} options.sources folders and files whose content the bundle depends on
 * @param {string} options.root base folder of the sources' names, so that a moved checkout keeps its key
 * @param {string} options.target file to write; its key is stored beside it
 * @param {string} [options.payloadConverter] module with the export `payloadConverter`; default: the SDK's
 * @param {readonly string[]} [options.interceptors] modules with the export `interceptors`
 * @returns {Promise<WorkflowBundleFile>}
 * @throws if the bundle contains a forbidden module or does not compile; the message names it
 */
export async function bundleWorkflows({ entry, sources, root, target, payloadConverter, interceptors = [] }) {
  const sdk = createRequire(import.meta.url)('@temporalio/worker/package.json').version;
  const key = await contentKey({
    sources,
    root,
    salt: `${sdk} ${SYNTAX} own sources ${payloadConverter === undefined ? '' : 'own converter'} ${interceptors.length} interceptors`,
  });
  return (
    (await current(target, key)) ??
    (await withLock(`${target}.lock`, async () => (await current(target, key)) ?? (await make())))
  );

  async function make() {
    const { bundleWorkflowCode } = await import('@temporalio/worker');
    /** @type {string[]} */
    const said = [];
    const log = (/** @type {string} */ message) => said.push(message);
    const logger = {
      log: (/** @type {string} */ _level, /** @type {string} */ m) => log(m),
      trace() {},
      debug() {},
      info: log,
      warn: log,
      error: log,
    };
    let code;
    try {
      ({ code } = await bundleWorkflowCode({
        workflowsPath: entry,
        ...(payloadConverter === undefined ? {} : { payloadConverterPath: payloadConverter }),
        workflowInterceptorModules: [...interceptors],
        logger,
        webpackConfigHook: forThisNode,
      }));
      code = withoutSourcesOfPackages(code);
    } catch (error) {
      throw new Error([error instanceof Error ? error.message : String(error), ...said.slice(-5)].join('\n'));
    }
    await mkdir(dirname(target), { recursive: true });
    const aside = `${target}.${process.pid}`;
    await writeFile(aside, code);
    // A key must never be beside the wrong bundle, not even after a crash between the two writes.
    await rm(keyFile(target), { force: true });
    await rename(aside, target);
    await writeFile(keyFile(target), JSON.stringify({ key, bytes: Buffer.byteLength(code) }));
    return { codePath: target, key, bytes: Buffer.byteLength(code), fresh: true };
  }
}

/**
 * The SDK compiles to ES2017, where each `...` becomes function calls, although every supported Node.js has it natively.
 *
 * @param {import('webpack').Configuration} config
 */
function forThisNode(config) {
  for (const rule of config.module?.rules ?? []) {
    if (typeof rule !== 'object' || rule === null || typeof rule.use !== 'object' || rule.use === null) continue;
    const { options } = /** @type {{ options?: { jsc?: { target?: string } } }} */ (rule.use);
    if (options?.jsc) options.jsc.target = SYNTAX;
  }
  return config;
}

/**
 * The SDK puts the text of all sources into the source map, its own as well: a quarter of the bundle, which every worker
 * loads. Stack traces need the positions only.
 *
 * @param {string} code
 */
const withoutSourcesOfPackages = (code) =>
  code.replace(/(?<=\bsourceMappingURL=data:application\/json;charset=utf-8;base64,)[\w+/=]+(?=\s*$)/, (encoded) => {
    const map = JSON.parse(Buffer.from(encoded, 'base64').toString());
    map.sourcesContent = map.sourcesContent.map((/** @type {string} */ text, /** @type {number} */ at) =>
      map.sources[at].includes('/node_modules/') ? null : text,
    );
    return Buffer.from(JSON.stringify(map)).toString('base64');
  });

/** @param {string} target */
const keyFile = (target) => `${target}.key.json`;

/**
 * @param {string} target
 * @param {string} key
 * @returns {Promise<WorkflowBundleFile | undefined>}
 */
async function current(target, key) {
  try {
    await access(target);
    const made = JSON.parse(await readFile(keyFile(target), 'utf8'));
    return made.key === key ? { codePath: target, key, bytes: made.bytes, fresh: false } : undefined;
  } catch {
    return undefined;
  }
}
