import { createReadStream } from 'node:fs';
import { EXIT } from './exit-codes.ts';
import { CliError } from './problem.ts';

interface InputName {
  /** As messages call the file: the path as the user typed it. */
  readonly name?: string;
  /** What to do when it cannot be read. */
  readonly hint?: string;
}

/** The name of a file in messages. */
export const inputName = (file: string): string => (file === '-' ? 'standard input' : file);

/** The text of a file, or of standard input for `-`: every file that a user names is read here. @throws CliError */
export async function readInput(file: string, names: InputName = {}): Promise<string> {
  let text = '';
  for await (const piece of readPieces(file, names)) text += piece;
  return text;
}

/** The same, as it comes. */
export async function* readPieces(file: string, names: InputName = {}): AsyncGenerator<string, void, void> {
  // Text in another encoding would be stored and run with other letters.
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    const input = file === '-' ? process.stdin : createReadStream(file);
    for await (const bytes of input as AsyncIterable<Buffer>) yield decoder.decode(bytes, { stream: true });
    yield decoder.decode();
  } catch (error) {
    throw unreadable(error, file, names);
  }
}

function unreadable(
  error: unknown,
  file: string,
  { name = inputName(file), hint = 'Name a readable file, or - for standard input.' }: InputName,
): CliError {
  const { code } = error as NodeJS.ErrnoException;
  const refusal = (why: string, next: string, exitCode: 2 | 3 = EXIT.invalid) =>
    new CliError({ code: 'file', message: `${name}: ${why}`, hint: next }, exitCode);
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return refusal(`${file === '-' ? 'it' : 'the file'} is not UTF-8 text`, 'Save it as UTF-8.');
  if (code === 'ENOENT') return refusal('there is no such file', hint, EXIT.notFound);
  return refusal(code === 'EISDIR' ? 'it is a folder' : `it cannot be read (${code})`, hint);
}
