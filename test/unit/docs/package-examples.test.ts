import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url));

it.each(readdirSync(packages))(
  'the first example in the README of packages/%s prints the output shown there',
  async (name) => {
    const readme = readFileSync(`${packages}${name}/README.md`, 'utf8');
    const [, example, printed] = /```ts\n([\s\S]*?)```\n\nprints\n\n```\n([\s\S]*?)```/.exec(readme) ?? [];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module-typescript', '--eval', example!],
      {
        cwd: packages + name,
      },
    );
    expect(stdout).toBe(printed);
  },
);
