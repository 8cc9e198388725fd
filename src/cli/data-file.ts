import { readFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { GraphSource } from '../graph/index.ts';
import { EXIT } from './exit-codes.ts';
import { CliError, usageError } from './problem.ts';
import { readStandardInput } from './read-input.ts';
import type { Terminal } from './terminal.ts';

/** Reads a file of JSON or YAML with the places of its values; `-` is standard input. @throws CliError */
export async function readSourceFile(file: string, terminal: Terminal): Promise<GraphSource> {
  const { readSource } = await import('../graph/index.ts');
  const path = resolve(terminal.cwd, file);
  const name = file === '-' ? 'standard input' : relative(terminal.cwd, path) || file;
  const text = file === '-' ? await readStandardInput() : await textOf(path, name);
  const read = readSource(text, name);
  if (read.ok) return read.source;
  throw new CliError(
    {
      code: 'invalid',
      message: `${name} cannot be read`,
      hint: 'Correct it at the given place.',
      errors: read.problems,
    },
    EXIT.invalid,
  );
}

/** The value in a file of JSON or YAML, as plain JSON. @throws CliError */
export async function readDataFile(file: string, terminal: Terminal): Promise<unknown> {
  const { value } = await readSourceFile(file, terminal);
  return (await import('../graph/index.ts')).plainNumbers(value ?? null);
}

async function textOf(path: string, name: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    const hint = 'Name a readable file, or - for standard input.';
    throw usageError(`cannot read ${name}: ${(error as Error).message}`, hint);
  });
}
