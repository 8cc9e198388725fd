import { EXIT } from './exit-codes.ts';
import { CliError } from './problem.ts';

/** All of standard input. */
export async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** The text of a file, or of standard input for `-`. @throws CliError when it cannot be read */
export async function readInput(file: string): Promise<string> {
  if (file === '-') return readStandardInput();
  const { readFile } = await import('node:fs/promises');
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const missing = code === 'ENOENT';
    const why = missing
      ? 'there is no such file'
      : code === 'EISDIR'
        ? 'it is a folder'
        : `it cannot be read (${code})`;
    throw new CliError(
      { code: 'file', message: `${file}: ${why}`, hint: 'Name a readable file, or - for standard input.' },
      missing ? EXIT.notFound : EXIT.invalid,
    );
  }
}
