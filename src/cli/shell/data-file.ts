import { relative, resolve } from 'node:path';
import type { GraphSource } from '../../graph/index.ts';
import { EXIT } from './exit-codes.ts';
import { CliError } from './problem.ts';
import { inputName, readInput } from './read-input.ts';
import type { Terminal } from './terminal.ts';

/** Reads a file of JSON or YAML with the places of its values; `-` is standard input. @throws CliError */
export async function readSourceFile(file: string, terminal: Terminal): Promise<GraphSource> {
  const { readSource } = await import('../../graph/index.ts');
  const path = file === '-' ? file : resolve(terminal.cwd, file);
  const name = path === '-' ? inputName(path) : relative(terminal.cwd, path) || file;
  const text = await readInput(path, { name });
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
  return (await import('../../graph/index.ts')).plainNumbers(value ?? null);
}
