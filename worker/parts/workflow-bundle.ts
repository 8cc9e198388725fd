import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, resolve, sep } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import type { WorkerOptions } from '@temporalio/worker';
import { given } from '../../src/core/data/given.ts';
import { installationFile, isCheckout, programVersion } from '../../src/platform/installation.ts';
import { withLock } from '../../src/platform/processes/lock.ts';
import { contentKey } from './content-key.ts';

/** Syntax of the bundle. The SDK's own is ES2017, where each `...` becomes function calls. */
const SYNTAX = 'es2022';

/** Leaves out what nobody uses, which each workflow would evaluate again: of zod, nine tenths. Names and positions stay. */
const ONLY_USED = { usedExports: true, sideEffects: true, innerGraph: true, concatenateModules: true };

/** Ours, in a checkout; a package brings bundles of them instead. */
const SOURCES = ['workflows', 'src/core', 'activities/contract.ts', 'activities/graph-contract.ts'];
const FAILURES = 'src/platform/codec/encoded-failures.ts';

export interface WorkflowBundleFile {
  /** For a worker's option `workflowBundle`. */
  readonly codePath: string;
  /** Hash of the sources and of the SDK's version. */
  readonly key: string;
  readonly bytes: number;
  /** Whether it has just been made. */
  readonly fresh: boolean;
}

/**
 * The workflow code of a worker. With encryption it differs: workflows create their failures inside the bundle, with the
 * converter that was bundled.
 *
 * The payload converter of workflows is only in the bundle: activities and clients must fail on an unreadable payload.
 *
 * @param codePath takes the place of ours
 */
export async function workflowCode(
  codePath?: string,
  dataConverter?: DataConverter,
): Promise<NonNullable<WorkerOptions['workflowBundle']> & { readonly codePath: string }> {
  if (codePath !== undefined && dataConverter === undefined) return { codePath };
  return { codePath: await ourBundle(dataConverter?.failureConverterPath !== undefined) };
}

/**
 * Names the build of a worker: version of the program and content of the workflows, so that builds between two releases differ
 * too. The same on each machine, and with encryption as without.
 */
export async function buildOf(codePath?: string): Promise<string> {
  const content = await readFile(codePath ?? (await ourBundle(false)));
  return `${programVersion()}+${createHash('sha256').update(content).digest('hex').slice(0, 8)}`;
}

async function ourBundle(encrypted: boolean): Promise<string> {
  return isCheckout() ? (await bundleOurWorkflows({ encrypted })).codePath : targetOf(encrypted);
}

const targetOf = (encrypted: boolean): string =>
  installationFile(`dist/workflow-bundle${encrypted ? '-encrypted' : ''}.js`);

interface OurBundle {
  readonly encrypted?: boolean;
  readonly target?: string;
  /** Interceptors and sources besides ours. */
  readonly more?: readonly string[];
}

/** Bundles the workflows of this checkout, unless it is done. */
export const bundleOurWorkflows = ({
  encrypted = false,
  target = targetOf(encrypted),
  more = [],
}: OurBundle): Promise<WorkflowBundleFile> =>
  bundleWorkflows({
    entry: installationFile('workflows/index.ts'),
    sources: [...SOURCES, ...(encrypted ? [FAILURES] : []), ...more].map(installationFile),
    root: installationFile('.'),
    target,
    payloadConverter: installationFile('workflows/run/payload-converter.ts'),
    ...(encrypted ? { failureConverter: installationFile(FAILURES) } : {}),
    interceptors: ['workflows/run/interceptors.ts', ...more].map(installationFile),
  });

interface BundleOptions {
  /** The module whose named exports are the workflow types. */
  readonly entry: string;
  /** Folders and files whose content the bundle depends on. */
  readonly sources: readonly string[];
  /** Base folder of the sources' names, so that a moved checkout keeps its key. */
  readonly root: string;
  /** File to write; its key is stored next to it. */
  readonly target: string;
  /** Module with the export `payloadConverter`; default: the SDK's. */
  readonly payloadConverter?: string;
  /** Module with the export `failureConverter`; default: the SDK's. */
  readonly failureConverter?: string;
  /** Modules with the export `interceptors`. */
  readonly interceptors?: readonly string[];
}

/**
 * Bundles workflow code once, so that a worker starts in a second instead of ten: writes the bundle of `entry` to `target`,
 * unless it is up to date. With concurrent callers, one bundles and the others wait for it. Needs the development packages.
 *
 * @throws if the bundle contains a forbidden module or does not compile; the message names it
 */
export async function bundleWorkflows(options: BundleOptions): Promise<WorkflowBundleFile> {
  const { sources, root, target, interceptors = [] } = options;
  const sdk = createRequire(import.meta.url)('@temporalio/worker/package.json').version;
  const own = (['payloadConverter', 'failureConverter'] as const).filter((name) => options[name] !== undefined);
  const key = await contentKey({
    sources,
    root,
    salt: [sdk, SYNTAX, 'only what is used', 'named from the root', ...own, `${interceptors.length} interceptors`].join(
      ' ',
    ),
  });
  const made = await current(target, key);
  if (made !== undefined) return made;
  return withLock(`${target}.lock`, async () => (await current(target, key)) ?? (await make(options, key)));
}

async function make(options: BundleOptions, key: string): Promise<WorkflowBundleFile> {
  const { entry, root, target, payloadConverter, failureConverter, interceptors = [] } = options;
  // Only here: an installed package has bundles, and its worker starts without a compiler.
  const { bundleWorkflowCode } = await import('@temporalio/worker');
  const said: string[] = [];
  const log = (message: string): void => void said.push(message);
  let code: string;
  try {
    ({ code } = await bundleWorkflowCode({
      workflowsPath: entry,
      ...given({ payloadConverterPath: payloadConverter, failureConverterPath: failureConverter }),
      workflowInterceptorModules: [...interceptors],
      logger: { log: (_level, m) => log(m), trace() {}, debug() {}, info: log, warn: log, error: log },
      webpackConfigHook: withOurSyntax,
    }));
  } catch (error) {
    throw new Error([error instanceof Error ? error.message : String(error), ...said.slice(-5)].join('\n'));
  }
  code = withSmallMap(code, root);
  await mkdir(dirname(target), { recursive: true });
  const aside = `${target}.${process.pid}`;
  await writeFile(aside, code);
  // A key must never be next to the wrong bundle, not even after a crash between the two writes.
  await rm(keyFile(target), { force: true });
  await rename(aside, target);
  await writeFile(keyFile(target), JSON.stringify({ key, bytes: Buffer.byteLength(code) }));
  return { codePath: target, key, bytes: Buffer.byteLength(code), fresh: true };
}

type WebpackConfig = Parameters<NonNullable<NonNullable<WorkerOptions['bundlerOptions']>['webpackConfigHook']>>[0];

function withOurSyntax(config: WebpackConfig): WebpackConfig {
  for (const rule of config.module?.rules ?? []) {
    if (typeof rule !== 'object' || rule === null || typeof rule.use !== 'object' || rule.use === null) continue;
    const { options } = rule.use as { options?: { jsc?: { target?: string } } };
    if (options?.jsc) options.jsc.target = SYNTAX;
  }
  config.optimization = ONLY_USED;
  return config;
}

/**
 * The SDK puts the text of all sources into the source map, its own as well: a quarter of the bundle, which every worker
 * loads. Stack traces need the positions only. Sources are named from the root, so that a build is the same wherever it was made.
 */
const withSmallMap = (code: string, root: string): string =>
  code.replace(/(?<=\bsourceMappingURL=data:application\/json;charset=utf-8;base64,)[\w+/=]+(?=\s*$)/, (encoded) => {
    const map = JSON.parse(Buffer.from(encoded, 'base64').toString());
    map.sourcesContent = map.sourcesContent.map((text: string, at: number) =>
      map.sources[at].includes('/node_modules/') ? null : text,
    );
    map.sources = map.sources.map((source: string) => source.replaceAll(`${resolve(root)}${sep}`, ''));
    return Buffer.from(JSON.stringify(map)).toString('base64');
  });

const keyFile = (target: string): string => `${target}.key.json`;

async function current(target: string, key: string): Promise<WorkflowBundleFile | undefined> {
  try {
    await access(target);
    const made = JSON.parse(await readFile(keyFile(target), 'utf8'));
    return made.key === key ? { codePath: target, key, bytes: made.bytes, fresh: false } : undefined;
  } catch {
    return undefined;
  }
}
