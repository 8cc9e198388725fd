import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/** Fence 2 of the determinism line; `npm run typecheck` runs it over the real folders. */
it('nondeterministic code does not compile under tsconfig.deterministic.json', async () => {
  // Inside the project, so that packages are found; deleted afterwards.
  await mkdir(join(root, 'node_modules/.cache'), { recursive: true });
  const folder = await mkdtemp(join(root, 'node_modules/.cache/determinism-'));
  try {
    const names = ['process', 'Buffer', 'fetch', 'setTimeout', 'console', 'document', 'require'];
    await writeFile(
      join(folder, 'planted.ts'),
      names.map((name) => `export const use_${name}: unknown = ${name};\n`).join(''),
    );
    await writeFile(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ extends: join(root, 'tsconfig.deterministic.json'), include: ['planted.ts'] }),
    );
    const output = await new Promise<string>((done) => {
      execFile(process.execPath, [tsc, '-p', join(folder, 'tsconfig.json')], (_, stdout) => done(stdout));
    });
    for (const name of names) expect(output).toMatch(new RegExp(`Cannot find name '${name}'`));
  } finally {
    await rm(folder, { recursive: true });
  }
});
