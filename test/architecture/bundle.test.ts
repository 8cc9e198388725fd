import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleWorkflows, type WorkflowBundleFile } from '../../worker/parts/workflow-bundle.ts';
import { WORKFLOWS } from '../../workflows/protocol.ts';
import { bundleProjectWorkflows } from '../rig/workflow-bundle.ts';

/**
 * The SDK alone takes 0.9 MiB (with the positions of its source map). Every worker compiles the bundle at its
 * start, and everything in it becomes part of replay: a jump means that a package slipped in.
 * Half of it is the source map with our sources; 0.1 MiB is zod/mini.
 */
const SIZE_BUDGET = 3.35 * 1024 * 1024;

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Fence 4 of the determinism line (CONTRIBUTING.md). */
describe('the workflow bundle', () => {
  let bundle: WorkflowBundleFile;
  let code: string;
  beforeAll(async () => {
    bundle = await bundleProjectWorkflows();
    code = readFileSync(bundle.codePath, 'utf8');
  });

  it('exports exactly the workflow types of the protocol, and one for all others', () => {
    expect(Object.keys(exportsOf(code)).sort()).toEqual([...Object.values(WORKFLOWS), 'default'].sort());
  });

  it('is the same wherever it was made', () => {
    const map = JSON.stringify(sourceMapOf(code).sources);
    for (const text of [code, map]) expect(text.includes(root)).toBe(false);
  });

  it(`is not larger than ${SIZE_BUDGET / 1024 / 1024} MiB`, () => {
    expect(bundle.bytes).toBeLessThan(SIZE_BUDGET);
  });

  it('contains only modules of the project’s deterministic folders and of the SDK', () => {
    expect(modulesOf(code).filter((path) => !mayBeInside(path))).toEqual([]);
    // The rule above would hold for a list that could not be read, too.
    expect(modulesOf(code)).toEqual(expect.arrayContaining(['workflows/site/site-workflows.ts']));
  });

  it('is not built when a workflow imports a nondeterministic module, and the error names it', async () => {
    const planted = join(root, 'test/architecture/planted/workflows/does-io.ts');
    const target = join(root, 'node_modules/.cache/sitewright/planted.js');
    await expect(bundleWorkflows({ entry: planted, sources: [planted], root, target })).rejects.toThrow(/'fs'|node:fs/);
  });
});

/** Evaluates the bundle as a worker does: in a context without Node's globals. */
function exportsOf(code: string): Record<string, unknown> {
  const context = createContext({
    AsyncLocalStorage,
    URL,
    URLSearchParams,
    TextEncoder,
    TextDecoder,
    AbortController,
    // As the SDK's workflow worker prepares it.
    __webpack_module_cache__: {},
    assert: () => {},
    console,
  });
  runInContext(code, context);
  return runInContext('__TEMPORAL__.importWorkflows()', context) as Record<string, unknown>;
}

function sourceMapOf(code: string): { readonly sources: readonly string[] } {
  const encoded = /sourceMappingURL=data:application\/json;charset=utf-8;base64,([\w+/=]+)\s*$/.exec(code)?.[1] ?? '';
  return JSON.parse(Buffer.from(encoded, 'base64').toString());
}

/** The modules inside, from the inline source map: project files relative to the root, packages by name. */
function modulesOf(code: string): string[] {
  return sourceMapOf(code).sources.map((source) =>
    source.includes('node_modules/') ? source.replace(/^.*node_modules\//, 'package ') : source,
  );
}

/** Our schema library, and what the SDK brings itself. */
const PACKAGES = ['zod', '@temporalio/common', '@temporalio/workflow', 'nexus-rpc', 'ms', 'long'];

function mayBeInside(module: string): boolean {
  if (module.startsWith('package ')) return PACKAGES.some((name) => module.startsWith(`package ${name}/`));
  if (/^activities\/((graph|notice)-)?contract\.ts$/.test(module)) return true;
  return /^(workflows|src\/core|src\/yaql)\//.test(module) || module.startsWith('webpack/');
}
